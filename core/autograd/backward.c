/* backward.c - tn_backward and tn_grad_of: what they are given is checked, becomes the roots and
 * captures of a pass, and the pass is run.
 *
 * A pass that fails leaves no gradient in its buffers; leaves that it has reached by then keep what
 * was added to them. */
#include <string.h>

#include "core/autograd/pass.h"

typedef struct request {
    const char *name; /* of the function */
    tn_tensors outputs, inputs;
    const tn_tensors *grads;
    const tn_backward_options *options;
    bool captures;
    tn_tensor **out;
    /* while it runs */
    tn__walk *walk;
    tn__step **roots;
    size_t n_roots; /* whose nodes are held */
    size_t n_held;  /* captures whose nodes are held */
} request;

/* ---- gradients of the outputs ---------------------------------------------------------------- */
static TN_COLD tn_status no_gradient(const request *q, const char *what, int64_t i,
                                     const tn_tensor *t)
{
    char shape[TN__SHAPE_CHARS];
    if (!t)
        return tn__fail(NULL, TN_ERR_ARGUMENT, "%s: %s %lld is missing", q->name, what,
                        (long long)i);
    return tn__fail(NULL, TN_ERR_AUTOGRAD,
                    "%s: %s %lld, of shape %s and dtype %s, does not require a gradient: it is no "
                    "leaf that requires one, and was not made from any while recording",
                    q->name, what, (long long)i, tn__shape_text(shape, t->ndim, t->sizes),
                    tn__dtype_name(t->dtype));
}

static TN_COLD tn_status needs_gradient(const request *q, int64_t i, const tn_tensor *t)
{
    char shape[TN__SHAPE_CHARS];
    return tn__fail(NULL, TN_ERR_AUTOGRAD,
                    "%s: output %lld has shape %s and dtype %s; a gradient is implied for one real "
                    "element alone, so one must be given",
                    q->name, (long long)i, tn__shape_text(shape, t->ndim, t->sizes),
                    tn__dtype_name(t->dtype));
}

static bool is_complex(const tn_tensor *t)
{
    return TN_DTYPE_BIT(t->dtype) & TN_DTYPES_COMPLEX;
}

static TN_COLD tn_status wrong_gradient(const request *q, int64_t i, const tn_tensor *t,
                                        const tn_tensor *grad)
{
    char expected[TN__SHAPE_CHARS], got[TN__SHAPE_CHARS], here[32], there[32];
    return tn__fail(NULL, TN_ERR_AUTOGRAD,
                    "%s: the gradient given for output %lld has shape %s and dtype %s, on device "
                    "%s; expected shape %s and a %s dtype, as %s is, on %s",
                    q->name, (long long)i, tn__shape_text(got, grad->ndim, grad->sizes),
                    tn__dtype_name(grad->dtype), tn__device_text(here, grad->device),
                    tn__shape_text(expected, t->ndim, t->sizes),
                    is_complex(t) ? "complex" : "floating", tn__dtype_name(t->dtype),
                    tn__device_text(there, t->device));
}

static bool fits(const tn_tensor *t, const tn_tensor *grad)
{
    tn_dtypes allowed = is_complex(t) ? TN_DTYPES_COMPLEX : TN_DTYPES_FLOATING;
    if (grad->ndim != t->ndim || !tn__same_device_as(grad->device, t->device) ||
        !(TN_DTYPE_BIT(grad->dtype) & allowed))
        return false;
    for (int d = 0; d < t->ndim; d++)
        if (grad->sizes[d] != t->sizes[d])
            return false;
    return true;
}

/* A reference to the gradient of output i. Without create_graph nothing of its history goes on. */
static tn_status gradient_of(const request *q, int64_t i, tn_tensor **out)
{
    tn_tensor *t = q->outputs.data[i];
    tn_tensor *given = q->grads ? q->grads->data[i] : NULL;
    bool is_real_number = t->numel == 1 && TN_DTYPE_BIT(t->dtype) & TN_DTYPES_FLOATING;
    if (!given)
        return is_real_number ? tn__op_ones_like(t, out) : needs_gradient(q, i, t);
    if (!fits(t, given))
        return wrong_gradient(q, i, t, given);
    if (!q->walk->options.create_graph && tn__requires_grad(given))
        return tn__tensor_detached(NULL, given, out);
    tn__tensor_retain(given);
    *out = given;
    return TN_OK;
}

/* ---- roots and captures ---------------------------------------------------------------------- */
static tn_status add_root(request *q, int64_t i)
{
    tn_tensor *t = q->outputs.data[i], *grad;
    tn__edge e = {NULL, 0};
    if (t)
        TN__TRY(tn__edge_of(t, &e));
    if (!e.node)
        return no_gradient(q, "output", i, t);
    tn__step *s;
    TN__TRY(tn__walk_step(q->walk, e.node, &s));
    tn__node_retain(e.node);
    q->roots[q->n_roots++] = s;
    TN__TRY(gradient_of(q, i, &grad));
    tn_status status = tn__bring_home(NULL, e.node, e.nr, &grad);
    if (status == TN_OK)
        return tn__buffer_add(q->walk, s, e.nr, grad);
    tn__tensor_release(grad);
    return status;
}

static tn_status add_capture(request *q, int32_t i)
{
    tn_tensor *t = q->inputs.data[i];
    tn__edge e = {NULL, 0};
    if (t)
        TN__TRY(tn__edge_of(t, &e));
    if (!e.node)
        return no_gradient(q, "input", i, t);
    tn__step *s;
    TN__TRY(tn__walk_step(q->walk, e.node, &s));
    tn__node_retain(e.node);
    q->walk->captures[i] = (tn__capture){.step = s, .nr = e.nr, .next = s->capture};
    s->capture = i;
    q->n_held++;
    return TN_OK;
}

static tn_status add_captures(request *q)
{
    size_t n = (size_t)q->inputs.len;
    q->walk->captures = tn__walk_alloc(q->walk, n * sizeof *q->walk->captures);
    if (!q->walk->captures)
        return TN_ERR_MEMORY;
    q->walk->n_captures = (int32_t)n;
    for (size_t i = 0; i < n; i++)
        TN__TRY(add_capture(q, (int32_t)i));
    return TN_OK;
}

static tn_status set_up(request *q)
{
    size_t n = (size_t)q->outputs.len;
    q->roots = tn__walk_alloc(q->walk, n * sizeof *q->roots);
    if (!q->roots)
        return TN_ERR_MEMORY;
    if (q->captures)
        TN__TRY(add_captures(q));
    for (size_t i = 0; i < n; i++)
        TN__TRY(add_root(q, (int64_t)i));
    for (size_t i = 0; i < n; i++)
        TN__TRY(tn__walk_discover(q->walk, q->roots[i]));
    return TN_OK;
}

/* ---- results --------------------------------------------------------------------------------- */
static TN_COLD tn_status unused(const request *q, int64_t i)
{
    const tn_tensor *t = q->inputs.data[i];
    char shape[TN__SHAPE_CHARS];
    return tn__fail(NULL, TN_ERR_AUTOGRAD,
                    "%s: no gradient flows from the outputs to input %lld, of shape %s; set "
                    "allow_unused to get NULL for it",
                    q->name, (long long)i, tn__shape_text(shape, t->ndim, t->sizes));
}

static tn_status check_used(const request *q)
{
    bool allowed = q->options && q->options->allow_unused;
    for (int64_t i = 0; !allowed && i < q->inputs.len; i++)
        if (!q->walk->captures[i].grad)
            return unused(q, i);
    return TN_OK;
}

static void tear_down(request *q, tn_status status)
{
    tn__walk *w = q->walk;
    for (size_t i = 0; i < q->n_held; i++) {
        if (status == TN_OK)
            q->out[i] = w->captures[i].grad;
        else
            tn__tensor_release(w->captures[i].grad);
    }
    if (status != TN_OK)
        tn__walk_drop_gradients(w);
    for (size_t i = 0; i < q->n_held; i++)
        tn__node_release(w->captures[i].step->node);
    for (size_t i = 0; i < q->n_roots; i++)
        tn__node_release(q->roots[i]->node);
    tn__walk_end(w);
}

/* ---- the pass -------------------------------------------------------------------------------- */
static tn_status run(void *arg)
{
    request *q = arg;
    tn__walk walk;
    q->walk = &walk;
    tn__walk_begin(&walk, q->options);
    tn_grad_mode mode =
        tn__mode_set(walk.options.create_graph ? TN_GRAD_ENABLED : TN_GRAD_DISABLED);
    tn__mode_tls.flags = 0; /* gradients are no inference tensors, wherever backward is called */
    uint64_t include = tn__keys_tls.include;
    tn__keys_tls.include &= ~TN__KEY(TN__BIT_AUTOCAST); /* the forward pass has chosen the dtypes */
    tn_status status = set_up(q);
    if (status == TN_OK)
        status = tn__walk_run(&walk, q->roots, q->n_roots);
    if (status == TN_OK && q->captures)
        status = check_used(q);
    tear_down(q, status);
    tn__keys_tls.include = include;
    tn__mode_restore(mode);
    return status;
}

static tn_status check_lists(const request *q)
{
    if (q->outputs.len < 0 || (q->outputs.len && !q->outputs.data))
        return tn__fail(NULL, TN_ERR_ARGUMENT, "%s: the list of outputs is missing", q->name);
    if (q->inputs.len < 0 || q->inputs.len > INT32_MAX || (q->inputs.len && !q->inputs.data))
        return tn__fail(NULL, TN_ERR_ARGUMENT, "%s: the list of inputs is missing", q->name);
    if (q->grads && q->grads->len != q->outputs.len)
        return tn__fail(NULL, TN_ERR_ARGUMENT,
                        "%s: %lld gradients are given for %lld outputs; expected one each, NULL "
                        "where it is implied",
                        q->name, (long long)q->grads->len, (long long)q->outputs.len);
    if (q->grads && q->grads->len && !q->grads->data)
        return tn__fail(NULL, TN_ERR_ARGUMENT, "%s: the list of gradients is missing", q->name);
    return TN_OK;
}

tn_status tn_backward(tn_tensors outputs, const tn_tensors *grads,
                      const tn_backward_options *options)
{
    request q = {.name = "backward", .outputs = outputs, .grads = grads, .options = options};
    TN__TRY(check_lists(&q));
    return tn__nested(run, &q);
}

tn_status tn_backward_from(tn_tensor *loss)
{
    if (!loss) {
        tn_status status = tn_error_last()->status;
        return status != TN_OK ? status
                               : tn__fail(NULL, TN_ERR_ARGUMENT, "backward: the loss is missing");
    }
    return tn_backward((tn_tensors){&loss, 1}, NULL, NULL);
}

tn_status tn_grad_of(tn_tensors outputs, const tn_tensors *grads, tn_tensors inputs,
                     const tn_backward_options *options, tn_tensor **out)
{
    request q = {.name = "grad_of",
                 .outputs = outputs,
                 .inputs = inputs,
                 .grads = grads,
                 .options = options,
                 .captures = true,
                 .out = out};
    TN__TRY(check_lists(&q));
    if (inputs.len && !out)
        return tn__fail(NULL, TN_ERR_ARGUMENT, "grad_of: no place is given for the gradients");
    if (inputs.len)
        memset(out, 0, (size_t)inputs.len * sizeof *out);
    return tn__nested(run, &q);
}

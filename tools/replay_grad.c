/* replay_grad.c - gradient cases: the call is made with some arguments requiring a gradient, the
 * recorded cotangents go into its results, and what comes out at the arguments is compared.
 *
 * An undefined gradient is zero: recorded as null or as zeros, either is right. */
#include "replay_impl.h"

#include <string.h>

#include <tenon/autograd.h>

/* ---- arguments and results by place ---------------------------------------------------------- */
/* ["self"] or ["tensors", 1]. */
static tn_tensor *argument_at(const replay_args *args, const json_t *path)
{
    const char *name = json_string_value(json_array_get(path, 0));
    const json_t *place = json_array_get(path, 1);
    for (int i = 0; name && i < args->n; i++) {
        const void *at = args->frame + args->fields[i].offset;
        if (strcmp(args->fields[i].name, name) != 0)
            continue;
        if (args->fields[i].kind == TN_FIELD_TENSOR && !place)
            return *(tn_tensor *const *)at;
        const tn_tensors *list = at;
        int64_t k = json_is_integer(place) ? json_integer_value(place) : -1;
        return args->fields[i].kind == TN_FIELD_TENSORS && k >= 0 && k < list->len ? list->data[k]
                                                                                   : NULL;
    }
    return NULL;
}

static bool malformed(replay_outcome *o, const char *what)
{
    return replay_malformed(o, what);
}

/* The flattened results. */
int replay_flat_results(const tn_field *fields, int n, const char *frame, tn_tensor **out, int most)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        const void *at = frame + fields[i].offset;
        const tn_tensors *list = at;
        if (fields[i].kind == TN_FIELD_TENSOR && count < most)
            out[count++] = *(tn_tensor *const *)at;
        for (int64_t k = 0; fields[i].kind == TN_FIELD_TENSORS && k < list->len && count < most;
             k++)
            out[count++] = list->data[k];
    }
    return count;
}

bool replay_require_gradients(const replay_args *args, const json_t *wrt, replay_outcome *o)
{
    size_t i;
    json_t *path;
    if (!json_is_array(wrt) || json_array_size(wrt) > REPLAY_GRADS)
        return malformed(o, "a gradient case needs wrt, a list of paths");
    json_array_foreach(wrt, i, path)
    {
        tn_tensor *t = argument_at(args, path);
        if (!t)
            return malformed(o, "a path of wrt leads to no tensor");
        if (tn_set_requires_grad(t, true) != TN_OK)
            return malformed(o, tn_error_last()->message);
    }
    return true;
}

/* ---- backward -------------------------------------------------------------------------------- */
static bool fill_cotangents(replay_build *b, replay_proof_case *c, const json_t *cotangents,
                            tn_tensor **results, tn_tensor **outputs)
{
    size_t i;
    json_t *value;
    if (!json_is_array(cotangents) || json_array_size(cotangents) > REPLAY_GRADS)
        return malformed(b->outcome, "a gradient case needs cotangents, a list");
    json_array_foreach(cotangents, i, value)
    {
        const json_t *output = json_object_get(value, "output");
        int64_t k = json_is_integer(output) ? json_integer_value(output) : -1;
        if (k < 0 || k >= c->n_outputs || !results[k])
            return malformed(b->outcome, "a cotangent names an output that is not there");
        if (!replay_fill_tensor(b, 0, value, &c->cotangents[i]))
            return false;
        c->fed[i] = (int)k;
        outputs[c->n_fed++] = results[k];
    }
    return true;
}

tn_status replay_backward(replay_build *b, replay_proof_case *c, const json_t *case_,
                          tn_tensor **grads)
{
    tn_tensor *results[REPLAY_GRADS], *outputs[REPLAY_GRADS];
    static const tn_backward_options options = {.allow_unused = true};
    const json_t *wrt = json_object_get(case_, "wrt");
    c->n_outputs =
        replay_flat_results(c->results, c->n_results, c->args.frame, results, REPLAY_GRADS);
    if (!fill_cotangents(b, c, json_object_get(case_, "cotangents"), results, outputs))
        return TN_ERR_INTERNAL;
    c->n_wanted = json_array_size(wrt);
    for (size_t i = 0; i < c->n_wanted; i++)
        c->wanted[i] = argument_at(&c->args, json_array_get(wrt, i));
    return tn_grad_of((tn_tensors){outputs, c->n_fed}, &(tn_tensors){c->cotangents, c->n_fed},
                      (tn_tensors){c->wanted, (int64_t)c->n_wanted}, &options, grads);
}

/* ---- comparing ------------------------------------------------------------------------------- */
static bool is_zero(const replay_array *a)
{
    double v[2];
    for (int64_t i = 0; i < a->numel; i++) {
        replay_number(a, i, v);
        if (!(v[0] == 0 && v[1] == 0))
            return false;
    }
    return true;
}

bool replay_gradient_same(const replay_build *b, const tn_tensor *grad, const json_t *recorded,
                          replay_tolerance t, replay_array *got, replay_array *want, char *why,
                          size_t n)
{
    st_entry storage;
    bool null = json_is_null(recorded);
    snprintf(why, n, "no gradient expected, got one that is not zero");
    if (grad)
        replay_array_of(grad, got);
    if (null)
        return !grad || is_zero(got);
    if (!replay_recorded(b->file, b->n, recorded, want, &storage, b->outcome))
        return false;
    snprintf(why, n, "a gradient expected, got none");
    return grad ? replay_same(got, want, t, why, n) : is_zero(want);
}

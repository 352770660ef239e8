/* function.c - functions of a program's or plugin's own: a forward and a backward with a context
 * between them, recorded as one node.
 *
 * forward runs without recording, on a grad_call whose place for held tensors is followed by the
 * call's own state, which grad_save finds there. The node owns the context from the first moment,
 * so that it is freed once, whatever happens. */
#include <string.h>

#include "core/autograd/autograd_impl.h"
#include "core/base/block_cache.h"

enum {
    MOST_INPUTS = 64, /* bits of tn_grad_call.wants */
    FEW_SAVED = 8,
    SMALL_BLOCK = 16384,
};

typedef struct function_node {
    tn__node node;
    const tn_function_decl *f;
    void *context;
    tn__saved *saved; /* of grad_save; NULL: nothing, or it was dropped */
    uint32_t n_saved;
    size_t bytes; /* of the block: this and the edges */
} function_node;

typedef struct call_state {
    tn__held held; /* first: what tn_grad_call.held points to */
    function_node *node;
    const tn__pass *pass; /* NULL in forward */
    tn_tensor **owned;    /* in backward: aliases of saved outputs, [n_saved] */
} call_state;

/* ---- the node -------------------------------------------------------------------------------- */
static tn_status function_run(tn__node *n, const tn__pass *pass, tn_tensor *const *grads,
                              const bool *wants, tn_tensor **out);

static void function_drop(tn__node *n)
{
    function_node *fn = (function_node *)n;
    if (!fn->saved)
        return;
    for (uint32_t i = 0; i < fn->n_saved; i++)
        tn__saved_drop(&fn->saved[i]);
    tn__free(fn->saved);
    fn->saved = NULL;
    n->dropped = fn->n_saved > 0;
}

static void function_free(tn__node *n)
{
    function_node *fn = (function_node *)n;
    function_drop(n);
    if (fn->f->free)
        fn->f->free(fn->context);
    if (fn->bytes <= SMALL_BLOCK)
        tn__small_free(fn, fn->bytes);
    else
        tn__block_free(fn, fn->bytes);
}

static tn_status function_spend(tn__node *n, const tn__storage *storage, uint32_t *found)
{
    function_node *fn = (function_node *)n;
    for (uint32_t i = 0; fn->saved && i < fn->n_saved; i++)
        TN__TRY(tn__saved_spend(&fn->saved[i], storage, found));
    return TN_OK;
}

static const tn__node_class function_class = {function_run, function_drop, function_spend,
                                              function_free};

static function_node *new_node(const tn_function_decl *f, void *context, size_t n_inputs,
                               size_t n_outputs)
{
    size_t bytes = sizeof(function_node) + n_inputs * sizeof(tn__edge);
    tn__outlook *outlooks = n_outputs > 1 ? tn__zalloc(n_outputs * sizeof *outlooks) : NULL;
    function_node *fn = bytes <= SMALL_BLOCK ? tn__small_alloc(bytes) : tn__block_alloc(bytes);
    if (!fn || (n_outputs > 1 && !outlooks)) {
        tn__fail_memory(NULL, bytes + n_outputs * sizeof *outlooks);
        tn__free(outlooks);
        tn__block_free(fn, bytes);
        return NULL;
    }
    memset(fn, 0, bytes);
    tn__node_init(&fn->node, &function_class, f->name);
    fn->f = f;
    fn->context = context;
    fn->bytes = bytes;
    fn->node.edges = (tn__edge *)(fn + 1);
    fn->node.n_edges = (uint32_t)n_inputs;
    if (outlooks)
        fn->node.outlooks = outlooks;
    return fn;
}

/* ---- saving ---------------------------------------------------------------------------------- */
static tn_status fail_call(tn_grad_call *g, tn_status status)
{
    if (g->status == TN_OK)
        g->status = status;
    return g->status;
}

static call_state *state_of(tn_grad_call *g)
{
    return g && !g->op && g->held ? g->held : NULL;
}

tn_status tn_function_save(tn_grad_call *g, tn_tensor *const *tensors, size_t n)
{
    call_state *c = state_of(g);
    if (!c || c->pass)
        return tn__fail(NULL, TN_ERR_ARGUMENT,
                        "grad_save may be called in a function's forward only");
    function_node *fn = c->node;
    if (fn->saved)
        return fail_call(g, tn__fail(NULL, TN_ERR_ARGUMENT,
                                     "%s: grad_save may be called once; give it all tensors",
                                     fn->node.name));
    fn->saved = tn__zalloc(n * sizeof *fn->saved);
    if (!fn->saved)
        return fail_call(g, tn__fail_memory(NULL, n * sizeof *fn->saved));
    for (; fn->n_saved < n; fn->n_saved++) {
        if (!tensors[fn->n_saved])
            continue;
        tn_status status = tn__save_input(&fn->saved[fn->n_saved], tensors[fn->n_saved]);
        if (status != TN_OK)
            return fail_call(g, status);
    }
    return TN_OK;
}

/* Of a saved tensor that turns out to be an output, an alias is kept: it must not hold its own
 * node. What is written between grad_save and the end of forward counts as a write. */
static tn_status tie_outputs(function_node *fn, tn_tensor *const *outputs, size_t n)
{
    for (uint32_t i = 0; i < fn->n_saved; i++)
        for (size_t j = 0; j < n; j++) {
            tn__saved *s = &fn->saved[i], output;
            if (!s->t || s->is_output || s->t != outputs[j])
                continue;
            TN__TRY(tn__save_output(&output, s->t, (uint32_t)j));
            output.version = s->version;
            tn__saved_drop(s);
            *s = output;
        }
    return TN_OK;
}

tn_tensor *tn_function_saved(tn_grad_call *g, size_t i)
{
    call_state *c = state_of(g);
    if (!c || !c->pass || g->status != TN_OK)
        return NULL;
    function_node *fn = c->node;
    if (i >= fn->n_saved) {
        g->status = tn__fail(NULL, TN_ERR_ARGUMENT,
                             "%s: saved tensor %zu is asked for, but %u were saved", fn->node.name,
                             i, fn->n_saved);
        return NULL;
    }
    tn_tensor *t = NULL;
    if (fn->saved[i].t && c->owned[i])
        return c->owned[i];
    if (fn->saved[i].t)
        g->status = tn__saved_get(&fn->saved[i], &fn->node, c->pass, &t, &c->owned[i]);
    return g->status == TN_OK ? t : NULL;
}

/* ---- running backward ------------------------------------------------------------------------ */
static void number(int32_t *first, size_t n)
{
    for (size_t i = 0; i <= n; i++)
        first[i] = (int32_t)i;
}

static void begin(tn_grad_call *g, call_state *c, function_node *fn, const tn__pass *pass)
{
    c->node = fn;
    c->pass = pass;
    c->owned = NULL;
    tn__grad_call_begin(g, &c->held);
    g->file = fn->node.file;
    g->line = fn->node.line;
    g->n_arguments = (int32_t)fn->node.n_edges;
    g->context = fn->context;
}

static void release_all(tn_tensor **tensors, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        tn__tensor_release(tensors[i]);
        tensors[i] = NULL;
    }
}

static tn_status call_backward(tn_grad_call *g, function_node *fn)
{
    tn_status status = fn->f->backward(g);
    if (status == TN_OK)
        status = g->status;
    tn__grad_call_end(g);
    if (status != TN_OK)
        release_all(g->out, fn->node.n_edges);
    return status;
}

static tn_status function_run(tn__node *n, const tn__pass *pass, tn_tensor *const *grads,
                              const bool *wants, tn_tensor **out)
{
    function_node *fn = (function_node *)n;
    call_state c;
    tn_grad_call g;
    int32_t first[MOST_INPUTS + 1];
    tn_tensor *few[FEW_SAVED];
    if (n->dropped)
        return tn__node_was_dropped(n);
    begin(&g, &c, fn, pass);
    number(first, n->n_edges);
    g.in = grads;
    g.out = out;
    g.first = first;
    for (uint32_t i = 0; i < n->n_edges; i++)
        g.wants |= (uint64_t)tn__wanted(n, wants, i) << i;
    c.owned = fn->n_saved <= FEW_SAVED ? few : tn__alloc(fn->n_saved * sizeof *c.owned);
    if (!c.owned)
        return tn__fail_memory(NULL, fn->n_saved * sizeof *c.owned);
    for (uint32_t i = 0; i < fn->n_saved; i++)
        c.owned[i] = NULL;
    tn_status status = call_backward(&g, fn);
    release_all(c.owned, fn->n_saved);
    if (c.owned != few)
        tn__free(c.owned);
    return status;
}

/* ---- applying -------------------------------------------------------------------------------- */
typedef struct application {
    function_node *node;
    tn_tensor *const *inputs;
    tn_tensor **outputs;
    size_t n_inputs, n_outputs;
} application;

static tn_status call_forward(application *a)
{
    call_state c;
    tn_grad_call g;
    int32_t first[MOST_INPUTS + 1];
    begin(&g, &c, a->node, NULL);
    number(first, a->n_inputs);
    g.in = a->inputs;
    g.out = a->outputs;
    g.first = first;
    g.wants = ~UINT64_C(0);
    tn_grad_mode mode = tn__mode_set(TN_GRAD_DISABLED);
    tn_status status = a->node->f->forward(&g);
    tn__mode_restore(mode);
    if (status == TN_OK)
        status = g.status;
    tn__grad_call_end(&g);
    for (size_t i = 0; i < a->n_outputs && status == TN_OK; i++)
        if (!a->outputs[i])
            status = tn__fail(NULL, TN_ERR_ARGUMENT, "%s: forward gave no output %zu",
                              a->node->f->name, i);
    return status;
}

/* An output that somebody has already: history set on it would be theirs too. */
static bool is_known(const application *a, size_t i)
{
    const tn_tensor *t = a->outputs[i];
    for (size_t j = 0; j < a->n_inputs; j++)
        if (a->inputs[j] == t)
            return true;
    for (size_t j = 0; j < i; j++)
        if (a->outputs[j] == t)
            return true;
    const tn__record *r = tn__record_of(t);
    return r && (r->grad_fn || r->requires_grad);
}

static tn_status give_history(application *a, size_t i)
{
    tn_tensor *t = a->outputs[i], *alias;
    tn__node *n = &a->node->node;
    TN__TRY(tn__outlook_set(&n->outlooks[i], t));
    bool differentiable = TN_DTYPE_BIT(t->dtype) & (TN_DTYPES_FLOATING | TN_DTYPES_COMPLEX);
    n->outlooks[i].differentiable = differentiable;
    n->n_outputs = (uint32_t)i + 1;
    if (!differentiable)
        return TN_OK;
    bool is_alias = is_known(a, i);
    if (is_alias) {
        TN__TRY(tn__tensor_detached(NULL, t, &alias));
        a->outputs[i] = alias;
        tn__tensor_release(t);
        t = alias;
    }
    TN__TRY(tn__set_history(t, n, (uint32_t)i));
    if (is_alias || tn__impl(t)->base)
        tn__record_of(t)->view_kind = TN__VIEW_OF_FUNCTION;
    return TN_OK;
}

static tn_status record(application *a)
{
    tn__node *n = &a->node->node;
    for (size_t i = 0; i < a->n_inputs; i++) {
        if (a->inputs[i])
            TN__TRY(tn__edge_of(a->inputs[i], &n->edges[i]));
        if (n->edges[i].node)
            tn__node_retain(n->edges[i].node);
    }
    if (a->node->n_saved)
        TN__TRY(tie_outputs(a->node, a->outputs, a->n_outputs));
    for (size_t i = 0; i < a->n_outputs; i++)
        TN__TRY(give_history(a, i));
    return TN_OK;
}

static tn_status check_inputs(const tn_function_decl *f, tn_tensor *const *inputs, size_t n_inputs,
                              size_t n_outputs)
{
    if (n_inputs > MOST_INPUTS)
        return tn__fail(NULL, TN_ERR_ARGUMENT, "%s: a function takes at most %d inputs, got %zu",
                        f->name, MOST_INPUTS, n_inputs);
    if (n_outputs == 0)
        return tn__fail(NULL, TN_ERR_ARGUMENT, "%s: a function has at least one output", f->name);
    for (size_t i = 0; i < n_inputs; i++) {
        if (inputs[i] && tn_tangent_of(inputs[i]))
            return tn__fail(NULL, TN_ERR_UNSUPPORTED,
                            "%s: input %zu carries a tangent, but a function of one's own has no "
                            "forward-mode derivative; write it as operators",
                            f->name, i);
    }
    return TN_OK;
}

static bool asks_for_gradients(const application *a)
{
    for (size_t i = 0; tn__recording() && i < a->n_inputs; i++)
        if (a->inputs[i] && tn__requires_grad(a->inputs[i]))
            return true;
    return false;
}

tn_status tn_function_apply(const tn_function_decl *f, void *context, tn_tensor *const *inputs,
                            size_t n_inputs, tn_tensor **outputs, size_t n_outputs)
{
    for (size_t i = 0; i < n_outputs; i++)
        outputs[i] = NULL;
    tn_status status = check_inputs(f, inputs, n_inputs, n_outputs);
    function_node *node = status == TN_OK ? new_node(f, context, n_inputs, n_outputs) : NULL;
    if (!node) {
        if (f->free)
            f->free(context);
        return status == TN_OK ? TN_ERR_MEMORY : status;
    }
    application a = {node, inputs, outputs, n_inputs, n_outputs};
    status = call_forward(&a);
    if (status == TN_OK && asks_for_gradients(&a))
        status = record(&a);
    if (status != TN_OK)
        release_all(outputs, n_outputs);
    tn__node_release(&node->node);
    return status;
}

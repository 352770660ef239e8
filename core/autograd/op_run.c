/* op_run.c - running the node of a recorded call: its saved tensors are checked, and the derivative
 * function is called on the frame that op_node.c kept.
 *
 * In a pass that creates a graph, saved outputs get their history back for the run. */
#include "core/autograd/op_node.h"

/* In a pass that creates a graph, saved outputs get their history back: put in the frame for the
 * run, and taken out again. */
static tn_status give_history(tn__op_node *o, const tn__pass *pass, tn_tensor **owned)
{
    for (uint32_t i = 0; i < o->n_saved; i++) {
        const tn__op_saved *k = &tn__op_kept(o)[i];
        tn_tensor *t;
        owned[i] = NULL;
        if (tn__is_shell(k->saved.t))
            continue;
        TN__TRY(tn__saved_get(&k->saved, &o->node, pass, &t, &owned[i]));
        *k->field = t;
    }
    return TN_OK;
}

static void put_back(tn__op_node *o, tn_tensor **owned)
{
    for (uint32_t i = 0; i < o->n_saved; i++) {
        if (!owned[i])
            continue;
        *tn__op_kept(o)[i].field = tn__op_kept(o)[i].saved.t;
        tn__tensor_release(owned[i]);
    }
}

/* Where each argument's entries begin, and which arguments are asked for. */
static TN_COLD uint64_t arguments_wanted(const tn__op_node *o, const bool *wants, int32_t *first)
{
    uint64_t mask = 0;
    int32_t at = 0;
    for (int i = 0; i < o->d->n_args; i++) {
        const tn__place *p = &o->d->args[i];
        int64_t len = p->is_list ? -1 : 1;
        first[i] = at;
        if (p->is_list) /* only one list: what the others leave */
            len = (int64_t)o->node.n_edges - (o->d->n_args - 1);
        for (int64_t j = 0; j < len; j++, at++)
            if (tn__wanted(&o->node, wants, (uint32_t)at))
                mask |= UINT64_C(1) << i;
    }
    first[o->d->n_args] = at;
    return mask;
}

/* The same where no argument is a list: an entry each. */
static const int32_t one_each[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
_Static_assert(sizeof one_each / sizeof *one_each == TN__MOST_DIFFERENTIABLE + 1, "one each");

static inline uint64_t edges_wanted(const tn__op_node *o, const bool *wants)
{
    uint64_t mask = 0;
    if (TN__LIKELY(!wants))
        return o->wants;
    for (uint32_t i = 0; i < o->node.n_edges; i++)
        mask |= (uint64_t)wants[i] << i;
    return mask;
}

static TN_COLD tn_status no_formula(const tn__op_node *o, int i)
{
    const tn_op *op = o->d->op;
    const char *name = "an argument";
    char site[TN__SITE_CHARS];
    for (int f = 0; f < op->layout->n_results + op->layout->n_args; f++)
        if (op->layout->fields[f].offset == o->d->args[i].offset)
            name = op->layout->fields[f].name;
    return tn__fail(&(tn_call){.op = op, .file = o->node.file, .line = o->node.line},
                    TN_ERR_UNSUPPORTED,
                    "the derivative of %s for '%s' is not implemented; the call is %s", op->name,
                    name, tn__site_text(site, o->node.file, o->node.line));
}

static TN_COLD tn_status without_formula(const tn__op_node *o, uint64_t mask)
{
    for (int i = 0; i < o->d->n_args && !o->d->decl.backward; i++)
        if (mask >> i & 1 && o->d->args[i].no_formula)
            return no_formula(o, i);
    return TN_OK;
}

static inline tn_status call_formula(const tn__op_node *o, tn_grad_call *g)
{
    tn_status status = o->d->decl.backward(g, o->frame);
    return TN__LIKELY(status == TN_OK) ? g->status : status;
}

static tn_status call_with_history(tn__op_node *o, const tn__pass *pass, tn_grad_call *g)
{
    tn_tensor *owned[TN__MOST_FIELDS], **own = owned;
    if (o->n_saved > TN__MOST_FIELDS && !(own = tn__alloc(o->n_saved * sizeof *own)))
        return tn__fail_memory(NULL, o->n_saved * sizeof *own);
    for (uint32_t i = 0; i < o->n_saved; i++)
        own[i] = NULL;
    tn_status status = give_history(o, pass, own);
    if (TN__LIKELY(status == TN_OK))
        status = call_formula(o, g);
    put_back(o, own);
    if (TN__UNLIKELY(own != owned))
        tn__free(own);
    return status;
}

static tn_status call_with_saved(tn__op_node *o, const tn__pass *pass, tn_grad_call *g)
{
    if (TN__UNLIKELY(pass->create_graph))
        return call_with_history(o, pass, g);
    for (const tn__op_saved *k = tn__op_kept(o), *end = k + o->n_saved; k < end; k++) {
        tn_tensor *same, *none;
        if (!tn__is_shell(k->saved.t))
            TN__TRY(tn__saved_get(&k->saved, &o->node, pass, &same, &none));
    }
    return call_formula(o, g);
}

static TN_COLD tn_status give_nothing(const tn__node *n, tn_tensor **out, tn_status status)
{
    for (uint32_t i = 0; i < n->n_edges; i++) {
        tn__tensor_release(out[i]);
        out[i] = NULL;
    }
    return status;
}

tn_status tn__op_run(tn__node *n, const tn__pass *pass, tn_tensor *const *grads, const bool *wants,
                     tn_tensor **out)
{
    tn__op_node *o = (tn__op_node *)n;
    const tn__derivative *d = o->d;
    int32_t begins[TN__MOST_DIFFERENTIABLE + 1];
    const int32_t *first = d->has_lists ? begins : one_each;
    uint64_t mask = d->has_lists ? arguments_wanted(o, wants, begins) : edges_wanted(o, wants);
    mask &= o->wants;
    if (TN__UNLIKELY(!d->decl.backward || !mask))
        return without_formula(o, mask);
    if (TN__UNLIKELY(n->dropped))
        return tn__node_was_dropped(n);
    tn__held held;
    tn_grad_call g = {.size = sizeof g,
                      .wants = mask,
                      .in = grads,
                      .out = out,
                      .first = first,
                      .op = d->op,
                      .file = n->file,
                      .line = n->line,
                      .n_arguments = d->n_args,
                      .held = tn__held_begin(&held)};
    uint64_t since = tn__sequence_tls;
    tn_status status = o->n_saved ? call_with_saved(o, pass, &g) : call_formula(o, &g);
    tn__grad_call_end(&g);
    if (TN__UNLIKELY(pass->create_graph) && status == TN_OK && o->n_saved)
        status = tn__op_tie(o, mask, first, since, out);
    return TN__LIKELY(status == TN_OK) ? TN_OK : give_nothing(n, out, status);
}

/* Shapes stay: a node that saved nothing else can run again. */
static __attribute__((noinline)) void drop_saved(tn__op_node *o)
{
    tn__op_saved *first = tn__op_kept(o);
    uint32_t left = 0;
    for (tn__op_saved *k = first, *end = first + o->n_saved; k < end; k++) {
        if (tn__is_shell(k->saved.t)) {
            first[left++] = *k;
            continue;
        }
        *k->field = NULL;
        tn__saved_drop(&k->saved);
        o->node.dropped = true;
    }
    o->n_saved = left;
}

void tn__op_drop(tn__node *n)
{
    tn__op_node *o = (tn__op_node *)n;
    if (o->n_saved)
        drop_saved(o);
}

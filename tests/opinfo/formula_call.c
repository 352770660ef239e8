/* formula_call.c - a formula calls an operator: every overload of the name is tried, the one whose
 * arguments need the least conversion is called, as derivatives do (docs/derivatives.md). */
#include "formula.h"

#include <string.h>

enum { NEVER = -1, ARGUMENTS = 64 };

/* ---- names ----------------------------------------------------------------------------------- */
static const char *bare_name(const tn_op *op)
{
    const char *ns = strstr(tn_op_name(op), "::");
    return ns ? ns + 2 : tn_op_name(op);
}

static bool is_of_namespace(const tn_op *op, const tn_op *like)
{
    size_t n = (size_t)(bare_name(like) - tn_op_name(like));
    return (size_t)(bare_name(op) - tn_op_name(op)) == n &&
           memcmp(tn_op_name(op), tn_op_name(like), n) == 0;
}

static bool writes(const tn_op *op)
{
    int n_results, n_args;
    const tn_field *f = tn_op_fields(op, &n_results, &n_args) + n_results;
    for (int k = 0; k < n_args; k++)
        if (f[k].flags & (TN_FIELD_WRITTEN | TN_FIELD_OUT))
            return true;
    return false;
}

static bool matches(const oi_formula *f, const tn_op *op, const char *name, const char *overload)
{
    const char *bare = bare_name(op);
    size_t n = strlen(name);
    if (strncmp(bare, name, n) != 0 || (bare[n] && bare[n] != '.'))
        return false;
    if (overload && strcmp(bare[n] ? bare + n + 1 : "", overload) != 0)
        return false;
    bool known = strncmp(tn_op_name(op), "aten::", 6) == 0 || is_of_namespace(op, f->op);
    return known && op != f->op && !writes(op);
}

bool oi_formula_can_call(const oi_formula *f, const char *name, const char *overload)
{
    const tn_op *op;
    for (size_t i = 0; (op = tn_op_at(i)); i++)
        if (matches(f, op, name, overload))
            return true;
    return false;
}

/* ---- one overload ---------------------------------------------------------------------------- */
typedef struct binding {
    const tn_op *op;
    int cost;          /* NEVER: it does not fit */
    int at[ARGUMENTS]; /* the argument of each operand */
} binding;

static int find(const tn_field *args, int n, const char *name)
{
    for (int k = 0; k < n; k++)
        if (strcmp(args[k].name, name) == 0)
            return k;
    return -1;
}

static void bind(binding *b, int n, const oi_value *operands, const char *const *keywords)
{
    int n_results, n_args;
    const tn_field *args = tn_op_fields(b->op, &n_results, &n_args) + n_results;
    bool given[ARGUMENTS] = {false};
    b->cost = n_args > ARGUMENTS ? NEVER : 0;
    for (int i = 0; i < n && b->cost >= 0; i++) {
        int at = keywords && keywords[i] ? find(args, n_args, keywords[i]) : i;
        bool fits = at >= 0 && at < n_args && !given[at] &&
                    ((keywords && keywords[i]) || !(args[at].flags & TN_FIELD_KWONLY));
        int added = fits ? oi_value_cost(&operands[i], &args[at]) : NEVER;
        b->cost = added == NEVER ? NEVER : b->cost + added;
        b->at[i] = at;
        if (fits)
            given[at] = true;
    }
    for (int k = 0; k < n_args && b->cost >= 0; k++)
        if (!given[k] && !(args[k].flags & TN_FIELD_DEFAULTED))
            b->cost = NEVER;
}

static bool choose(const oi_formula *f, const char *name, const char *overload, int n,
                   const oi_value *operands, const char *const *keywords, binding *best)
{
    const tn_op *op;
    *best = (binding){.cost = NEVER};
    for (size_t i = 0; (op = tn_op_at(i)); i++) {
        binding b = {.op = op};
        if (!matches(f, op, name, overload))
            continue;
        bind(&b, n, operands, keywords);
        bool better = best->cost == NEVER || b.cost < best->cost ||
                      (b.cost == best->cost && is_of_namespace(op, f->op) &&
                       !is_of_namespace(best->op, f->op));
        if (b.cost != NEVER && better)
            *best = b;
    }
    return best->cost != NEVER;
}

/* ---- the call -------------------------------------------------------------------------------- */
static oi_value owned(oi_formula *f, tn_tensor *t)
{
    if (!t)
        return oi_value_none();
    tn_retain(t);
    return oi_formula_own(f, t);
}

static oi_value list_of(oi_formula *f, const tn_tensors *list)
{
    oi_value *items = oi_alloc((size_t)(list->len + 1) * sizeof *items);
    for (int64_t i = 0; i < list->len; i++)
        items[i] = owned(f, list->data[i]);
    return (oi_value){.kind = OI_VALUE_LIST, .items = items, .n = list->len};
}

oi_value oi_formula_results(oi_formula *f, const tn_op *op, void *frame)
{
    int n_results, n_args;
    const tn_field *fields = tn_op_fields(op, &n_results, &n_args);
    oi_value *items = oi_alloc((size_t)(n_results + 1) * sizeof *items);
    for (int k = 0; k < n_results; k++) {
        void *at = (char *)frame + fields[k].offset;
        items[k] = fields[k].kind == TN_FIELD_TENSOR    ? owned(f, *(tn_tensor **)at)
                   : fields[k].kind == TN_FIELD_TENSORS ? list_of(f, at)
                                                        : oi_value_of_field(&fields[k], frame);
    }
    tn_op_frame_release(op, frame);
    return n_results == 1 ? items[0]
                          : (oi_value){.kind = OI_VALUE_LIST, .items = items, .n = n_results};
}

oi_value oi_formula_call(oi_formula *f, size_t offset, const char *name, const char *overload,
                         int n, const oi_value *operands, const char *const *keywords)
{
    binding b;
    int n_results, n_args;
    if (f->failed)
        return oi_value_none();
    if (!oi_formula_can_call(f, name, overload))
        return oi_formula_fail(f, offset, "there is no operator '%.60s%s%.60s' that it could call",
                               name, overload ? "." : "", overload ? overload : "");
    if (n > ARGUMENTS || !choose(f, name, overload, n, operands, keywords, &b))
        return oi_formula_fail(f, offset, "no overload of %.60s fits this call", name);
    void *frame = oi_alloc(tn_op_frame_size(b.op));
    const tn_field *args = tn_op_fields(b.op, &n_results, &n_args) + n_results;
    tn_op_frame_init(b.op, frame);
    for (int i = 0; i < n && !f->failed; i++) {
        const tn_field *to = &args[b.at[i]];
        oi_formula_pass(f, (char *)frame + to->offset, &operands[i], to, n, operands);
    }
    if (f->failed)
        return oi_value_none();
    if (tn_op_call(b.op, frame) != TN_OK)
        return oi_formula_fail(f, offset, "%.300s", tn_error_last()->message);
    return oi_formula_results(f, b.op, frame);
}

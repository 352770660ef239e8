/* formula_host.c - what a formula computes on the host: numbers, sizes, conditions. An operator with a
 * tensor on either side becomes a call of the operator with its name. */
#include "formula.h"

#include <stdlib.h>
#include <string.h>

static cg_type of_kind(int kind)
{
    return (cg_type){kind, false, 0};
}

static const cg_value *function(cg_scope *s, size_t offset, int kind, const char *name, int n,
                                const cg_value *const *operands)
{
    cg_value *v = cg_value_new(s, CG_VALUE_FUNCTION, of_kind(kind), offset, name);
    return cg_value_give(s, v, n, operands) ? v : NULL;
}

static const cg_value *infix(cg_scope *s, size_t offset, int kind, const char *token, int n,
                             const cg_value *const *operands)
{
    cg_value *v = cg_value_new(s, CG_VALUE_OPERATOR, of_kind(kind), offset, token);
    return cg_value_give(s, v, n, operands) ? v : NULL;
}

/* ---- operators with a tensor ----------------------------------------------------------------- */
static bool is_one_of(const char *token, const char *const *tokens)
{
    for (; *tokens; tokens++)
        if (strcmp(token, *tokens) == 0)
            return true;
    return false;
}

/* Two tensors, one of which may be undefined. */
static const cg_value *sum(cg_scope *s, const cg_syntax *x, const cg_value *const *operands)
{
    bool plus = x->token[0] == '+';
    if (!cg_formula_extra(s, x->offset, plus ? CG_EXTRA_PLUS : CG_EXTRA_MINUS))
        return NULL;
    cg_value *v = cg_value_new(s, CG_VALUE_FUNCTION, of_kind(TN_FIELD_TENSOR), x->offset,
                               plus ? "grad_plus" : "grad_minus");
    if (!cg_value_give(s, v, 2, operands))
        return NULL;
    v->takes_g = true;
    return v;
}

static const cg_value *times(cg_scope *s, const cg_syntax *x, const cg_value *tensor,
                             const cg_value *number)
{
    const tn_field scalar = {.kind = TN_FIELD_SCALAR};
    const cg_value *operands[] = {tensor, cg_convert(s, number, &scalar, NULL)};
    if (!cg_formula_extra(s, x->offset, CG_EXTRA_TIMES))
        return NULL;
    cg_value *v =
        cg_value_new(s, CG_VALUE_FUNCTION, of_kind(TN_FIELD_TENSOR), x->offset, "grad_times");
    if (!cg_value_give(s, v, 2, operands))
        return NULL;
    v->takes_g = true;
    return v;
}

/* A number before a tensor: operators take the tensor first. */
static const cg_value *swapped(cg_scope *s, const cg_syntax *x, const cg_value *const *operands)
{
    static const char *const turned[][2] = {{"==", "eq"}, {"!=", "ne"}, {"<", "gt"},
                                            {"<=", "ge"}, {">", "lt"},  {">=", "le"},
                                            {"+", "add"}, {"-", "rsub"}};
    const cg_value *turn[] = {operands[1], operands[0]};
    for (size_t i = 0; i < sizeof turned / sizeof *turned; i++)
        if (strcmp(turned[i][0], x->token) == 0)
            return cg_formula_call(s, x->offset, turned[i][1], NULL, 2, turn, NULL);
    if (x->token[0] == '*')
        return times(s, x, turn[0], turn[1]);
    if (x->token[0] != '/')
        return cg_formula_call(s, x->offset, x->text, NULL, 2, operands, NULL);
    const cg_value *inverse = cg_formula_call(s, x->offset, "reciprocal", NULL, 1, turn, NULL);
    return inverse ? times(s, x, inverse, turn[1]) : NULL;
}

static const cg_value *tensor_operator(cg_scope *s, const cg_syntax *x,
                                       const cg_value *const *operands)
{
    static const char *const sums[] = {"+", "-", NULL};
    if (x->n == 1)
        return cg_formula_call(s, x->offset, x->text, NULL, 1, operands, NULL);
    bool left = cg_is_tensor(operands[0]), right = cg_is_tensor(operands[1]);
    if (left && right && is_one_of(x->token, sums))
        return sum(s, x, operands);
    if (left && cg_is_number(operands[1]) && x->token[0] == '*')
        return times(s, x, operands[0], operands[1]);
    if (cg_is_number(operands[0]))
        return swapped(s, x, operands);
    return cg_formula_call(s, x->offset, x->text, NULL, 2, operands, NULL);
}

/* ---- operators of the host ------------------------------------------------------------------- */
static bool may_be_absent(const cg_value *v)
{
    int k = v->type.kind;
    return v->type.optional || k == TN_FIELD_OPT_INT || k == TN_FIELD_OPT_FLOAT ||
           k == TN_FIELD_OPT_BOOL;
}

static const cg_value *refuse(cg_scope *s, const cg_syntax *x, const cg_value *const *operands)
{
    char a[64], b[64];
    if (x->n == 1)
        return cg_formula_fail(s, x->offset, "'%s' cannot be applied to %s; %s", x->token,
                               cg_type_name(a, sizeof a, operands[0]->type),
                               x->token[0] == '!' ? "write a condition behind it, as !(a == 0)"
                                                  : "write a number or a Tensor behind it");
    return cg_formula_fail(s, x->offset, "'%s' cannot stand between %s and %s; %s", x->token,
                           cg_type_name(a, sizeof a, operands[0]->type),
                           cg_type_name(b, sizeof b, operands[1]->type),
                           may_be_absent(operands[0]) || may_be_absent(operands[1])
                               ? "write x.value of what is optional, behind a test of x.defined"
                               : "write numbers or Tensors on both sides");
}

static const cg_value *number_operator(cg_scope *s, const cg_syntax *x,
                                       const cg_value *const *operands, bool compares)
{
    static const char *const functions[][2] = {{"+", "tn_scalar_add"}, {"-", "tn_scalar_sub"},
                                               {"*", "tn_scalar_mul"}, {"/", "tn_scalar_div"},
                                               {"==", "tn_scalar_eq"}, {"!=", "tn_scalar_ne"},
                                               {"<", "tn_scalar_lt"},  {"<=", "tn_scalar_le"},
                                               {">", "tn_scalar_gt"},  {">=", "tn_scalar_ge"}};
    const tn_field scalar = {.kind = TN_FIELD_SCALAR};
    const cg_value *scalars[2] = {NULL};
    bool any_scalar = false, any_float = x->token[0] == '/';
    for (int i = 0; i < x->n; i++) {
        any_scalar |= operands[i]->type.kind == TN_FIELD_SCALAR;
        any_float |= operands[i]->type.kind == TN_FIELD_FLOAT;
    }
    int kind = compares     ? TN_FIELD_BOOL
               : any_scalar ? TN_FIELD_SCALAR
               : any_float  ? TN_FIELD_FLOAT
                            : TN_FIELD_INT;
    if (!any_scalar && x->token[0] == '/')
        return function(s, x->offset, kind, "tn_float_div", 2, operands);
    if (!any_scalar)
        return infix(s, x->offset, kind, x->token, x->n, operands);
    for (int i = 0; i < x->n; i++)
        scalars[i] = cg_convert(s, operands[i], &scalar, NULL);
    if (x->n == 1)
        return function(s, x->offset, kind, "tn_scalar_neg", 1, scalars);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i][0], x->token) == 0)
            return function(s, x->offset, kind, functions[i][1], 2, scalars);
    return NULL;
}

/* == and != of what is no number. */
static const cg_value *equality(cg_scope *s, const cg_syntax *x, const cg_value *const *operands)
{
    int kind = operands[0]->type.kind;
    const char *name = kind == TN_FIELD_STR    ? "tn_str_eq"
                       : kind == TN_FIELD_INTS ? "tn_ints_eq"
                                               : NULL;
    if (kind != operands[1]->type.kind)
        return NULL;
    if (kind == TN_FIELD_BOOL || kind == TN_FIELD_DTYPE || kind == TN_FIELD_LAYOUT ||
        kind == TN_FIELD_MEMORY_FORMAT)
        return infix(s, x->offset, TN_FIELD_BOOL, x->token, 2, operands);
    if (!name)
        return NULL;
    const cg_value *equal = function(s, x->offset, TN_FIELD_BOOL, name, 2, operands);
    return x->token[0] == '=' || !equal ? equal
                                        : infix(s, x->offset, TN_FIELD_BOOL, "!", 1, &equal);
}

const cg_value *cg_host_operator(cg_scope *s, const cg_syntax *x, const cg_value *const *operands)
{
    static const char *const logical[] = {"&&", "||", "!", NULL};
    static const char *const comparisons[] = {"==", "!=", "<", "<=", ">", ">=", NULL};
    static const char *const equalities[] = {"==", "!=", NULL};
    bool numbers = true, bools = true, tensors = false;
    for (int i = 0; i < x->n; i++) {
        numbers &= cg_is_number(operands[i]);
        bools &= operands[i]->type.kind == TN_FIELD_BOOL;
        tensors |= cg_is_tensor(operands[i]);
    }
    if (tensors)
        return tensor_operator(s, x, operands);
    if (is_one_of(x->token, logical))
        return bools ? infix(s, x->offset, TN_FIELD_BOOL, x->token, x->n, operands)
                     : refuse(s, x, operands);
    if (numbers)
        return number_operator(s, x, operands, is_one_of(x->token, comparisons));
    const cg_value *v = is_one_of(x->token, equalities) ? equality(s, x, operands) : NULL;
    return v || s->failed ? v : refuse(s, x, operands);
}

/* ---- conditions ------------------------------------------------------------------------------ */
/* The field that both sides can be passed to. */
static bool common(const cg_value *a, const cg_value *b, tn_field *out)
{
    static const int joined[] = {TN_FIELD_TENSOR,  TN_FIELD_SCALAR,    TN_FIELD_FLOAT,
                                 TN_FIELD_OPT_INT, TN_FIELD_OPT_FLOAT, TN_FIELD_OPT_BOOL};
    const cg_value *sides[] = {a, b};
    for (int i = 0; i < 2; i++) {
        *out = (tn_field){.kind = (tn_field_kind)sides[i]->type.kind, .flags = TN_FIELD_OPTIONAL};
        if (sides[i]->type.kind < TN_FIELD_UNSUPPORTED &&
            sides[i]->type.kind == sides[!i]->type.kind)
            return true;
        bool none = sides[!i]->type.kind == CG_TYPE_NONE || sides[!i]->type.kind == CG_TYPE_EMPTY;
        if (none && sides[i]->type.kind < TN_FIELD_UNSUPPORTED &&
            cg_convert_cost(sides[!i], out, NULL) >= 0)
            return true;
    }
    for (size_t i = sizeof joined / sizeof *joined; i-- > 0;) {
        *out = (tn_field){.kind = (tn_field_kind)joined[i], .flags = TN_FIELD_OPTIONAL};
        if (cg_convert_cost(a, out, NULL) >= 0 && cg_convert_cost(b, out, NULL) >= 0)
            return true;
    }
    return false;
}

const cg_value *cg_host_select(cg_scope *s, const cg_syntax *x, const cg_value *const *operands)
{
    char a[64], b[64];
    tn_field to;
    if (cg_is_tensor(operands[0]))
        return cg_formula_fail(s, x->operands[0]->offset,
                               "the condition of '?:' is a Tensor, and must be a bool of the host; "
                               "write where(condition, a, b) to choose element by element");
    if (operands[0]->type.kind != TN_FIELD_BOOL)
        return cg_formula_fail(s, x->operands[0]->offset,
                               "the condition of '?:' must be a bool, got %s; write a comparison",
                               cg_type_name(a, sizeof a, operands[0]->type));
    if (!common(operands[1], operands[2], &to))
        return cg_formula_fail(s, x->offset,
                               "the two sides of '?:' are %s and %s; make both the same",
                               cg_type_name(a, sizeof a, operands[1]->type),
                               cg_type_name(b, sizeof b, operands[2]->type));
    const cg_value *like = cg_is_tensor(operands[1])   ? operands[1]
                           : cg_is_tensor(operands[2]) ? operands[2]
                                                       : NULL;
    const cg_value *sides[] = {operands[0], cg_convert(s, operands[1], &to, like),
                               cg_convert(s, operands[2], &to, like)};
    cg_type type = cg_type_of_field(&to);
    type.optional = (sides[1] && sides[1]->type.optional) || (sides[2] && sides[2]->type.optional);
    cg_value *v = cg_value_new(s, CG_VALUE_SELECT, type, x->offset, NULL);
    return cg_value_give(s, v, 3, sides) ? v : NULL;
}

/* ---- members --------------------------------------------------------------------------------- */
typedef struct member {
    const char *name, *function;
    int kind;
    bool takes_index;
} member;

static const member of_tensor[] = {
    {"sizes", "tn_sizes_of", TN_FIELD_INTS, false},
    {"strides", "tn_strides_of", TN_FIELD_INTS, false},
    {"dim", "tn_dim_of", TN_FIELD_INT, false},
    {"numel", "tn_numel_of", TN_FIELD_INT, false},
    {"dtype", "tn_dtype_of", TN_FIELD_DTYPE, false},
    {"device", "tn_device_of", TN_FIELD_DEVICE, false},
    {"offset", "tn_offset_of", TN_FIELD_INT, false},
    {"is_complex", "tn_is_complex", TN_FIELD_BOOL, false},
    {"defined", "tn_is_defined", TN_FIELD_BOOL, false},
    {"size", "tn_size_of", TN_FIELD_INT, true},
    {"stride", "tn_stride_of", TN_FIELD_INT, true},
};

static const cg_value *geometry(cg_scope *s, const cg_syntax *x, const member *m,
                                const cg_value *of, const cg_value *argument)
{
    const cg_value *operands[] = {of, argument};
    if (argument && argument->type.kind != TN_FIELD_INT)
        return cg_formula_fail(s, argument->offset, "%s takes an int; write x.%s(0)", m->name,
                               m->name);
    cg_value *v = cg_value_new(s, CG_VALUE_FUNCTION, of_kind(m->kind), x->offset, m->function);
    if (!cg_value_give(s, v, argument ? 2 : 1, operands))
        return NULL;
    v->is_geometry = true;
    return v;
}

/* `defined` and `value` of an optional value that is no tensor. */
static const cg_value *optional_member(cg_scope *s, const cg_syntax *x, const cg_value *of)
{
    static const struct {
        int from, to;
        const char *defined;
    } kinds[] = {{TN_FIELD_OPT_INT, TN_FIELD_INT, "tn_has_int"},
                 {TN_FIELD_OPT_FLOAT, TN_FIELD_FLOAT, "tn_has_float"},
                 {TN_FIELD_OPT_BOOL, TN_FIELD_BOOL, "tn_has_bool"},
                 {TN_FIELD_SCALAR, TN_FIELD_SCALAR, "tn_has_scalar"},
                 {TN_FIELD_INTS, TN_FIELD_INTS, "tn_has_ints"},
                 {TN_FIELD_DTYPE, TN_FIELD_DTYPE, "tn_has_dtype"},
                 {TN_FIELD_STR, TN_FIELD_STR, "tn_has_str"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        bool is_pair = kinds[i].from != kinds[i].to;
        if (of->type.kind != kinds[i].from || !(is_pair || of->type.optional))
            continue;
        if (strcmp(x->text, "defined") == 0)
            return function(s, x->offset, TN_FIELD_BOOL, kinds[i].defined, 1, &of);
        if (strcmp(x->text, "value") != 0)
            return NULL;
        cg_value *v = cg_value_new(s, is_pair ? CG_VALUE_MEMBER : CG_VALUE_FIELD, of->type,
                                   of->offset, is_pair ? "value" : of->text);
        if (!v)
            return NULL;
        if (!is_pair || kinds[i].from == TN_FIELD_OPT_BOOL)
            *v = *of;
        else if (!cg_value_give(s, v, 1, &of))
            return NULL;
        v->type = of_kind(kinds[i].to);
        return v;
    }
    return NULL;
}

const cg_value *cg_host_member(cg_scope *s, const cg_syntax *x, const cg_value *of,
                               const cg_value *argument)
{
    bool is_call = x->kind == CG_SYNTAX_CALL;
    if (cg_is_tensor(of)) {
        for (size_t i = 0; i < sizeof of_tensor / sizeof *of_tensor; i++)
            if (strcmp(of_tensor[i].name, x->text) == 0 && of_tensor[i].takes_index == is_call &&
                !argument == !is_call)
                return geometry(s, x, &of_tensor[i], of, argument);
        return NULL;
    }
    if (is_call)
        return NULL;
    if (cg_is_list(of) && strcmp(x->text, "len") == 0) {
        cg_value *v = cg_value_new(s, CG_VALUE_MEMBER, of_kind(TN_FIELD_INT), x->offset, "len");
        if (!cg_value_give(s, v, 1, &of))
            return NULL;
        v->is_geometry = true;
        return v;
    }
    return optional_member(s, x, of);
}

/* ---- lists ----------------------------------------------------------------------------------- */
const cg_value *cg_host_index(cg_scope *s, const cg_syntax *x, const cg_value *of,
                              const cg_value *index)
{
    const cg_value *operands[] = {of, index};
    char type[64];
    if (index->type.kind != TN_FIELD_INT)
        return cg_formula_fail(s, index->offset, "an index must be an int, got %s; write x[0]",
                               cg_type_name(type, sizeof type, index->type));
    if (of->type.kind == TN_FIELD_INTS)
        return function(s, x->offset, TN_FIELD_INT, "tn_ints_at", 2, operands);
    if (of->type.kind == TN_FIELD_TENSORS)
        return function(s, x->offset, TN_FIELD_TENSOR, "tn_tensors_at", 2, operands);
    if (of->type.kind != CG_TYPE_RESULTS)
        return cg_formula_fail(s, x->offset,
                               "%s has no entries; an index is for lists and for calls "
                               "that give several results",
                               cg_type_name(type, sizeof type, of->type));
    if (index->kind != CG_VALUE_LEAF || atoi(index->text) >= of->type.n || of->callee->is_helper)
        return cg_formula_fail(s, index->offset,
                               "one of several results is taken by its number, 0 to %d, and of an "
                               "operator's; write a helper with one result for anything else",
                               of->type.n - 1);
    cg_value *v = cg_value_new(s, CG_VALUE_RESULT, of_kind(TN_FIELD_TENSOR), x->offset, NULL);
    if (!cg_value_give(s, v, 1, &of))
        return NULL;
    v->index = atoi(index->text);
    return v;
}

const cg_value *cg_host_list(cg_scope *s, const cg_syntax *x, int n,
                             const cg_value *const *operands)
{
    static const struct {
        int item, list;
        const char *type;
    } lists[] = {{TN_FIELD_TENSOR, TN_FIELD_TENSORS, "tn_tensors"},
                 {TN_FIELD_INT, TN_FIELD_INTS, "tn_ints"},
                 {TN_FIELD_FLOAT, TN_FIELD_FLOATS, "tn_floats"},
                 {TN_FIELD_BOOL, TN_FIELD_BOOLS, "tn_bools"},
                 {TN_FIELD_SCALAR, TN_FIELD_SCALARS, "tn_scalars"}};
    const cg_value *items[64];
    if (n == 0)
        return cg_value_new(s, CG_VALUE_LIST, of_kind(CG_TYPE_EMPTY), x->offset, "tn_ints");
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        const tn_field one = {.kind = (tn_field_kind)lists[k].item};
        int i = 0, exact = 0;
        for (; i < n && cg_convert_cost(operands[i], &one, NULL) >= 0; i++)
            exact += operands[i]->type.kind == lists[k].item;
        if (i < n || !exact)
            continue;
        for (i = 0; i < n; i++)
            items[i] = cg_convert(s, operands[i], &one, NULL);
        cg_value *v =
            cg_value_new(s, CG_VALUE_LIST, of_kind(lists[k].list), x->offset, lists[k].type);
        return cg_value_give(s, v, n, items) ? v : NULL;
    }
    return cg_formula_fail(s, x->offset,
                           "the items of this list are not of one type; write Tensors alone, or "
                           "numbers alone");
}

/* formula_host.c - what a formula computes without calling an operator: numbers, conditions, and
 * the members of tensors and lists. */
#include "formula.h"

#include <complex.h>
#include <string.h>

/* ---- numbers --------------------------------------------------------------------------------- */
static bool is_real_number(const oi_value *v)
{
    return v->kind == OI_VALUE_NUMBER && v->number.kind != TN_SCALAR_COMPLEX;
}

static _Complex double as_complex(const oi_value *v)
{
    oi_num x = oi_from_scalar(&v->number, TN_C128);
    return (double)x.re + (double)x.im * I;
}

static oi_value integers(oi_formula *f, const cg_syntax *x, int64_t a, int64_t b)
{
    int64_t r = 0;
    bool over = *x->token == '+'   ? __builtin_add_overflow(a, b, &r)
                : *x->token == '-' ? __builtin_sub_overflow(a, b, &r)
                                   : __builtin_mul_overflow(a, b, &r);
    return over ? oi_formula_fail(f, x->offset, "the number does not fit into 64 bits")
                : oi_value_int(r);
}

static oi_value arithmetic(oi_formula *f, const cg_syntax *x, const oi_value *a, const oi_value *b)
{
    bool integral = oi_value_is_int(a) && oi_value_is_int(b) && *x->token != '/';
    if (integral)
        return integers(f, x, a->number.v.i, b->number.v.i);
    _Complex double p = as_complex(a), q = as_complex(b);
    _Complex double r = *x->token == '+'   ? p + q
                        : *x->token == '-' ? p - q
                        : *x->token == '*' ? p * q
                                           : p / q;
    if (is_real_number(a) && is_real_number(b))
        return oi_value_number(tn_scalar_float(*x->token == '/' ? creal(p) / creal(q) : creal(r)));
    return oi_value_number(tn_scalar_complex(creal(r), cimag(r)));
}

static bool is_less(const oi_value *a, const oi_value *b)
{
    if (oi_value_is_int(a) && oi_value_is_int(b))
        return a->number.v.i < b->number.v.i;
    return creal(as_complex(a)) < creal(as_complex(b));
}

static bool is_equal(const oi_value *a, const oi_value *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case OI_VALUE_NUMBER:
        return oi_value_is_int(a) && oi_value_is_int(b) ? a->number.v.i == b->number.v.i
                                                        : as_complex(a) == as_complex(b);
    case OI_VALUE_TEXT:
        return strcmp(a->text, b->text) == 0;
    case OI_VALUE_TYPE:
        return a->dtype == b->dtype;
    case OI_VALUE_LIST:
        for (int64_t i = 0; a->n == b->n && i < a->n; i++)
            if (!is_equal(&a->items[i], &b->items[i]))
                return false;
        return a->n == b->n;
    default:
        return a->kind == OI_VALUE_NONE;
    }
}

bool oi_value_truth(const oi_value *v)
{
    return v->kind == OI_VALUE_NUMBER && as_complex(v) != 0;
}

oi_value oi_formula_host(oi_formula *f, const cg_syntax *x, const oi_value *v)
{
    const oi_value *a = &v[0], *b = &v[1], zero = oi_value_int(0);
    const char *t = x->token;
    if (strcmp(t, "==") == 0 || strcmp(t, "!=") == 0)
        return oi_value_bool(is_equal(a, b) == (*t == '='));
    if (a->kind != OI_VALUE_NUMBER || (x->n > 1 && b->kind != OI_VALUE_NUMBER))
        return oi_formula_fail(f, x->offset, "'%s' is for numbers and Tensors", t);
    if (strcmp(t, "!") == 0)
        return oi_value_bool(!oi_value_truth(a));
    if (strcmp(t, "&&") == 0 || strcmp(t, "||") == 0)
        return oi_value_bool(*t == '&' ? oi_value_truth(a) && oi_value_truth(b)
                                       : oi_value_truth(a) || oi_value_truth(b));
    if (x->n == 1)
        return arithmetic(f, x, &zero, a);
    if (*t == '<')
        return oi_value_bool(is_less(a, b) || (t[1] && is_equal(a, b)));
    if (*t == '>')
        return oi_value_bool(is_less(b, a) || (t[1] && is_equal(a, b)));
    return arithmetic(f, x, a, b);
}

/* ---- members --------------------------------------------------------------------------------- */
static oi_value at_dim(oi_formula *f, const cg_syntax *x, const tn_tensor *t, const int64_t *of)
{
    oi_value i = oi_formula_evaluate(f, x->operands[1]);
    int64_t k = oi_value_is_int(&i) ? i.number.v.i : INT64_MIN;
    k += k < 0 ? t->ndim : 0;
    return k < 0 || k >= t->ndim ? oi_formula_fail(f, x->offset, "there is no such dimension")
                                 : oi_value_int(of[k]);
}

/* x.sizes, x.size(0): true when it is one of them. */
bool oi_formula_member(oi_formula *f, const cg_syntax *x, const oi_value *of, oi_value *out)
{
    const tn_tensor *t = of->tensor;
    const char *word = x->text;
    bool tensor = of->kind == OI_VALUE_TENSOR, plain = x->kind == CG_SYNTAX_MEMBER,
         of_dim = tensor && !plain && x->n == 2;
    if (plain && strcmp(word, "defined") == 0)
        *out = oi_value_bool(of->kind != OI_VALUE_NONE);
    else if (plain && strcmp(word, "value") == 0)
        *out = *of;
    else if (plain && of->kind == OI_VALUE_LIST && strcmp(word, "len") == 0)
        *out = oi_value_int(of->n);
    else if (of_dim && strcmp(word, "size") == 0)
        *out = at_dim(f, x, t, t->sizes);
    else if (of_dim && strcmp(word, "stride") == 0)
        *out = at_dim(f, x, t, t->strides);
    else if (!tensor || !plain)
        return false;
    else if (strcmp(word, "sizes") == 0)
        *out = oi_value_ints(t->ndim, t->sizes);
    else if (strcmp(word, "strides") == 0)
        *out = oi_value_ints(t->ndim, t->strides);
    else if (strcmp(word, "dim") == 0)
        *out = oi_value_int(t->ndim);
    else if (strcmp(word, "numel") == 0)
        *out = oi_value_int(t->numel);
    else if (strcmp(word, "offset") == 0)
        *out = oi_value_int(tn_tensor_offset(t));
    else if (strcmp(word, "dtype") == 0)
        *out = (oi_value){.kind = OI_VALUE_TYPE, .dtype = t->dtype};
    else if (strcmp(word, "device") == 0)
        *out = (oi_value){.kind = OI_VALUE_RAW, .raw = &t->device, .field = TN_FIELD_DEVICE};
    else if (strcmp(word, "is_complex") == 0)
        *out = oi_value_bool(oi_is_complex(t->dtype));
    else
        return false;
    return true;
}

/* derivative.h - what derivative functions are made of, generated and hand-written ones alike.
 *
 *     static tn_status exp_backward(tn_grad_call *g, const void *args)
 *     {
 *         const struct tn_exp_args *a = args;
 *         tn_tensor *grad = g->in[0];
 *         if (tn_grad_wants(g, 0))
 *             tn_grad_give(g, 0, call_mul_Tensor(g, grad, grad_conj(g, a->result)));
 *         return g->status;
 *     }
 *
 * Every function here passes an undefined (NULL) tensor on, and does nothing once g->status is a
 * failure: a formula is checked once, at its end. Tensors that operators return are held by g until
 * the derivative returns; tn_grad_give takes a reference of its own. */
#ifndef TENON_DERIVATIVE_H
#define TENON_DERIVATIVE_H

#include <string.h>

#include <tenon/number.h>
#include <tenon/plugin.h>

TN_BEGIN_DECLS

static inline bool tn_grad_wants(const tn_grad_call *g, int i)
{
    return g->status == TN_OK && g->wants >> i & 1;
}

/* The gradient of the i-th differentiable argument, a tensor; backward only. NULL: undefined. */
static inline void tn_grad_give(tn_grad_call *g, int i, tn_tensor *t)
{
    if (!t || !tn_grad_wants(g, i))
        return;
    tn->tensor_retain(t);
    g->out[g->first[i]] = t;
}

/* The same for entry j of an argument that is a list. */
static inline void tn_grad_give_at(tn_grad_call *g, int i, int64_t j, tn_tensor *t)
{
    if (!t || !tn_grad_wants(g, i) || j >= g->first[i + 1] - g->first[i])
        return;
    tn->tensor_retain(t);
    g->out[g->first[i] + j] = t;
}

/* A list's gradients at once; an entry may be NULL. */
static inline void tn_grad_give_list(tn_grad_call *g, int i, tn_tensors list)
{
    for (int64_t j = 0; j < list.len; j++)
        tn_grad_give_at(g, i, j, list.data[j]);
}

/* The gradients of an operator's result that is a list. */
static inline tn_tensors tn_grad_list(const tn_grad_call *g, tn_tensors result)
{
    tn_tensors grads = {(tn_tensor **)(uintptr_t)g->in, result.len};
    return grads;
}

/* The tangent of the i-th differentiable argument; forward only. NULL: zero. */
static inline tn_tensor *tn_tangent(const tn_grad_call *g, int i)
{
    return g->in[g->first[i]];
}

/* The tangents of an argument that is a list. */
static inline tn_tensors tn_tangents(const tn_grad_call *g, int i)
{
    tn_tensors tangents = {(tn_tensor **)(uintptr_t)g->in + g->first[i],
                           g->first[i + 1] - g->first[i]};
    return tangents;
}

/* The tangent of result i; forward only. */
static inline void tn_tangent_give(tn_grad_call *g, int i, tn_tensor *t)
{
    if (!t || !tn_grad_wants(g, i))
        return;
    tn->tensor_retain(t);
    g->out[i] = t;
}

/* Records what is wrong and ends the evaluation. */
#define tn_grad_fail(g, ...)                                                                       \
    ((void)((g)->status == TN_OK && ((g)->status = tn->fail(NULL, __VA_ARGS__))))

/* ---- what a tensor is like; of an undefined one everything is zero --------------------------- */
static inline bool tn_is_defined(const tn_tensor *t)
{
    return t != NULL;
}
static inline tn_ints tn_sizes_of(const tn_tensor *t)
{
    tn_ints sizes = {NULL, 0};
    if (t) {
        sizes.data = t->sizes;
        sizes.len = t->ndim;
    }
    return sizes;
}
static inline tn_ints tn_strides_of(const tn_tensor *t)
{
    tn_ints strides = {NULL, 0};
    if (t) {
        strides.data = t->strides;
        strides.len = t->ndim;
    }
    return strides;
}
static inline int64_t tn_dim_of(const tn_tensor *t)
{
    return t ? t->ndim : 0;
}
static inline int64_t tn_numel_of(const tn_tensor *t)
{
    return t ? t->numel : 0;
}
static inline tn_dtype tn_dtype_of(const tn_tensor *t)
{
    return t ? (tn_dtype)t->dtype : (tn_dtype)TN_DTYPE_NONE;
}
static inline tn_device tn_device_of(const tn_tensor *t)
{
    tn_device none = {TN_DEVICE_NONE, -1};
    return t ? t->device : none;
}
static inline int64_t tn_offset_of(const tn_tensor *t)
{
    return t ? tn->tensor_offset(t) : 0;
}
static inline bool tn_is_complex(const tn_tensor *t)
{
    return t && (TN_DTYPE_BIT(t->dtype) & TN_DTYPES_COMPLEX) != 0;
}

/* Entry i of a list, counted from its end when negative; of what is not there 0 or NULL. */
static inline int64_t tn_ints_at(tn_ints list, int64_t i)
{
    i += i < 0 ? list.len : 0;
    return i >= 0 && i < list.len ? list.data[i] : 0;
}
static inline tn_tensor *tn_tensors_at(tn_tensors list, int64_t i)
{
    i += i < 0 ? list.len : 0;
    return i >= 0 && i < list.len ? list.data[i] : NULL;
}
static inline int64_t tn_size_of(const tn_tensor *t, int64_t dim)
{
    return tn_ints_at(tn_sizes_of(t), dim);
}
static inline int64_t tn_stride_of(const tn_tensor *t, int64_t dim)
{
    return tn_ints_at(tn_strides_of(t), dim);
}
static inline bool tn_ints_eq(tn_ints a, tn_ints b)
{
    bool same = a.len == b.len;
    for (int64_t i = 0; same && i < a.len; i++)
        same = a.data[i] == b.data[i];
    return same;
}
static inline bool tn_str_eq(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* ---- optional values ------------------------------------------------------------------------- */
static inline tn_opt_int tn_some_int(int64_t i)
{
    tn_opt_int some = {i, 1};
    return some;
}
static inline tn_opt_float tn_some_float(double f)
{
    tn_opt_float some = {f, 1};
    return some;
}
static inline bool tn_has_int(tn_opt_int i)
{
    return i.has != 0;
}
static inline bool tn_has_float(tn_opt_float f)
{
    return f.has != 0;
}
static inline bool tn_has_bool(tn_opt_bool b)
{
    return b >= 0;
}
static inline bool tn_has_scalar(tn_scalar s)
{
    return s.kind != TN_SCALAR_NONE;
}
static inline bool tn_has_ints(tn_ints list)
{
    return list.len >= 0;
}
static inline bool tn_has_dtype(tn_dtype dtype)
{
    return dtype >= 0;
}
static inline bool tn_has_str(const char *s)
{
    return s != NULL;
}
/* A struct's value in an expression, in C and C++ alike. */
#ifdef __cplusplus
#define TN_VALUE(type, ...) (type{__VA_ARGS__})
#else
#define TN_VALUE(type, ...) ((type){__VA_ARGS__})
#endif
#define TN_NO_INT TN_VALUE(tn_opt_int, 0, 0)
#define TN_NO_FLOAT TN_VALUE(tn_opt_float, 0, 0)
#define TN_NO_SCALAR TN_VALUE(tn_scalar, {0}, TN_SCALAR_NONE, 0)
#define TN_NO_DEVICE TN_VALUE(tn_device, TN_DEVICE_NONE, -1)
#define TN_NO_INTS TN_VALUE(tn_ints, NULL, -1)
#define TN_NO_FLOATS TN_VALUE(tn_floats, NULL, -1)
#define TN_NO_BOOLS TN_VALUE(tn_bools, NULL, -1)
#define TN_NO_SCALARS TN_VALUE(tn_scalars, NULL, -1)
#define TN_NO_TENSORS TN_VALUE(tn_tensors, NULL, -1)
#define TN_EMPTY_FLOATS TN_VALUE(tn_floats, NULL, 0)
#define TN_EMPTY_BOOLS TN_VALUE(tn_bools, NULL, 0)
#define TN_EMPTY_SCALARS TN_VALUE(tn_scalars, NULL, 0)
#define TN_EMPTY_TENSORS TN_VALUE(tn_tensors, NULL, 0)

/* ---- numbers --------------------------------------------------------------------------------- */
/* Both are integers (or bools): then integers are computed with, wrapping around. */
static inline bool tn_scalar_both_int(tn_scalar a, tn_scalar b)
{
    return (a.kind == TN_SCALAR_INT || a.kind == TN_SCALAR_BOOL) &&
           (b.kind == TN_SCALAR_INT || b.kind == TN_SCALAR_BOOL);
}
static inline bool tn_scalar_any_complex(tn_scalar a, tn_scalar b)
{
    return a.kind == TN_SCALAR_COMPLEX || b.kind == TN_SCALAR_COMPLEX;
}
static inline tn_scalar tn_scalar_add(tn_scalar a, tn_scalar b)
{
    double re = tn_scalar_as_double(&a) + tn_scalar_as_double(&b);
    if (tn_scalar_both_int(a, b))
        return tn_scalar_int((int64_t)((uint64_t)a.v.i + (uint64_t)b.v.i));
    if (tn_scalar_any_complex(a, b))
        return tn_scalar_complex(re, tn_scalar_imaginary(&a) + tn_scalar_imaginary(&b));
    return tn_scalar_float(re);
}
static inline tn_scalar tn_scalar_neg(tn_scalar a)
{
    if (tn_scalar_both_int(a, a))
        return tn_scalar_int((int64_t)(UINT64_C(0) - (uint64_t)a.v.i));
    if (a.kind == TN_SCALAR_COMPLEX)
        return tn_scalar_complex(-a.v.c[0], -a.v.c[1]);
    return tn_scalar_float(-tn_scalar_as_double(&a));
}
static inline tn_scalar tn_scalar_sub(tn_scalar a, tn_scalar b)
{
    return tn_scalar_add(a, tn_scalar_neg(b));
}
static inline tn_scalar tn_scalar_mul(tn_scalar a, tn_scalar b)
{
    double x = tn_scalar_as_double(&a), y = tn_scalar_imaginary(&a);
    double u = tn_scalar_as_double(&b), v = tn_scalar_imaginary(&b);
    if (tn_scalar_both_int(a, b))
        return tn_scalar_int((int64_t)((uint64_t)a.v.i * (uint64_t)b.v.i));
    if (tn_scalar_any_complex(a, b))
        return tn_scalar_complex(x * u - y * v, x * v + y * u);
    return tn_scalar_float(x * u);
}
/* True division: of integers too. */
static inline tn_scalar tn_scalar_div(tn_scalar a, tn_scalar b)
{
    double x = tn_scalar_as_double(&a), y = tn_scalar_imaginary(&a);
    double u = tn_scalar_as_double(&b), v = tn_scalar_imaginary(&b);
    double square = u * u + v * v;
    if (!tn_scalar_any_complex(a, b))
        return tn_scalar_float(x / u);
    return tn_scalar_complex((x * u + y * v) / square, (y * u - x * v) / square);
}
static inline double tn_float_div(double a, double b)
{
    return a / b;
}
static inline tn_scalar tn_scalar_conj(tn_scalar a)
{
    return a.kind == TN_SCALAR_COMPLEX ? tn_scalar_complex(a.v.c[0], -a.v.c[1]) : a;
}
static inline bool tn_scalar_eq(tn_scalar a, tn_scalar b)
{
    if (tn_scalar_both_int(a, b))
        return a.v.i == b.v.i;
    return tn_scalar_as_double(&a) == tn_scalar_as_double(&b) &&
           tn_scalar_imaginary(&a) == tn_scalar_imaginary(&b);
}
static inline bool tn_scalar_ne(tn_scalar a, tn_scalar b)
{
    return !tn_scalar_eq(a, b);
}
/* Of complex numbers the real parts. */
static inline bool tn_scalar_lt(tn_scalar a, tn_scalar b)
{
    return tn_scalar_both_int(a, b) ? a.v.i < b.v.i
                                    : tn_scalar_as_double(&a) < tn_scalar_as_double(&b);
}
static inline bool tn_scalar_le(tn_scalar a, tn_scalar b)
{
    return tn_scalar_both_int(a, b) ? a.v.i <= b.v.i
                                    : tn_scalar_as_double(&a) <= tn_scalar_as_double(&b);
}
static inline bool tn_scalar_gt(tn_scalar a, tn_scalar b)
{
    return tn_scalar_lt(b, a);
}
static inline bool tn_scalar_ge(tn_scalar a, tn_scalar b)
{
    return tn_scalar_le(b, a);
}

TN_END_DECLS
#endif

/* helpers.h - what the files of helpers share beside the generated declarations: gradients of
 * undefined things are undefined, shapes, and constants as tensors. */
#ifndef AUTOGRAD_HELPERS_H
#define AUTOGRAD_HELPERS_H

#include "derivatives.h"

typedef struct shape {
    int64_t ndim, sizes[TN_MAX_DIMS], strides[TN_MAX_DIMS];
} shape;

static inline tn_ints sizes_of(const shape *s)
{
    return (tn_ints){s->sizes, s->ndim};
}

static inline tn_ints strides_of(const shape *s)
{
    return (tn_ints){s->strides, s->ndim};
}

/* The dim of a tensor of ndim dimensions; the operator itself has checked its range. */
static inline int64_t wrapped(int64_t dim, int64_t ndim)
{
    return dim < 0 ? dim + (ndim ? ndim : 1) : dim;
}

/* Row-major. */
static inline shape shape_of(tn_ints sizes)
{
    shape s = {.ndim = sizes.len};
    int64_t step = 1;
    for (int64_t d = sizes.len - 1; d >= 0; d--) {
        s.sizes[d] = sizes.data[d];
        s.strides[d] = step;
        step *= sizes.data[d] > 0 ? sizes.data[d] : 1;
    }
    return s;
}

static inline int64_t numel_of(tn_ints sizes)
{
    int64_t n = 1;
    for (int64_t d = 0; d < sizes.len; d++)
        n *= sizes.data[d];
    return n;
}

static inline tn_scalar number(double value)
{
    return (tn_scalar){.v.f = value, .kind = TN_SCALAR_FLOAT};
}

static inline tn_scalar whole(int64_t value)
{
    return (tn_scalar){.v.i = value, .kind = TN_SCALAR_INT};
}

static inline tn_tensor *zeros(tn_grad_call *g, tn_tensor *like, tn_ints sizes)
{
    return call_new_zeros(g, like, sizes, TN_DTYPE_NONE, TN_LAYOUT_NONE,
                          (tn_device){TN_DEVICE_NONE, -1}, -1);
}

static inline tn_tensor *ones(tn_grad_call *g, tn_tensor *like, tn_ints sizes)
{
    return call_new_ones(g, like, sizes, TN_DTYPE_NONE, TN_LAYOUT_NONE,
                         (tn_device){TN_DEVICE_NONE, -1}, -1);
}

/* grad where the condition holds, else an exact zero; and the reverse. */
static inline tn_tensor *only_where(tn_grad_call *g, tn_tensor *condition, tn_tensor *grad)
{
    return grad ? call_where_self(g, condition, grad, zeros(g, grad, (tn_ints){NULL, 0})) : NULL;
}

static inline tn_tensor *except_where(tn_grad_call *g, tn_tensor *condition, tn_tensor *grad)
{
    return grad ? call_where_self(g, condition, zeros(g, grad, (tn_ints){NULL, 0}), grad) : NULL;
}

static inline tn_tensor *multiply(tn_grad_call *g, tn_tensor *a, tn_tensor *b)
{
    return call_mul_Tensor(g, a, b);
}

static inline tn_tensor *add(tn_grad_call *g, tn_tensor *a, tn_tensor *b)
{
    return a && b ? call_add_Tensor(g, a, b, whole(1)) : a ? a : b;
}

static inline tn_tensor *scaled(tn_grad_call *g, tn_tensor *t, double factor)
{
    return call_mul_Scalar(g, t, number(factor));
}

/* The conjugate; a real tensor is its own. */
static inline tn_tensor *conjugate(tn_grad_call *g, tn_tensor *t)
{
    return t && tn_is_complex(t) ? call_conj_physical(g, t) : t;
}

/* t with the dimensions in `dims` (none: all) back in place with size 1, as keepdim leaves them. */
tn_tensor *with_dims(tn_grad_call *g, tn_tensor *t, int64_t ndim, tn_ints dims, bool keepdim);
/* helpers_index.c: part with zeros behind it along every dimension. */
tn_tensor *padded(tn_grad_call *g, tn_tensor *part, tn_ints sizes);
/* How many elements of `sizes` go into one of the result. */
int64_t reduced_count(tn_ints sizes, tn_ints dims);

#endif

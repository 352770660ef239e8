/* helpers_views.c - gradients of views, and of lists of them.
 *
 * The gradient of a part is zeros of the whole with grad at that part's place: _as_strided_backward
 * with the strides that the part has in a row-major whole, whatever the strides of self were. */
#include "helpers.h"

/* t in the dtype and on the device of what it is a gradient of. */
tn_tensor *as_was(tn_grad_call *g, tn_tensor *t, tn_dtype dtype, tn_device device)
{
    if (!t ||
        (t->dtype == dtype && t->device.type == device.type && t->device.index == device.index))
        return t;
    return call__to_copy(g, t, dtype, TN_LAYOUT_NONE, device, -1, false, TN_FORMAT_NONE);
}

tn_tensor *zeros_of(tn_grad_call *g, tn_tensor *like, tn_ints sizes)
{
    return like ? zeros(g, like, sizes) : NULL;
}

tn_tensor *permute_back(tn_grad_call *g, tn_tensor *grad, tn_ints dims)
{
    int64_t inverse[TN_MAX_DIMS];
    for (int64_t i = 0; i < dims.len; i++)
        inverse[wrapped(dims.data[i], dims.len)] = i;
    return call_permute(g, grad, (tn_ints){inverse, dims.len});
}

/* ---- parts ----------------------------------------------------------------------------------- */
/* grad as the part of a row-major whole of those sizes that begins at `offset`. */
static tn_tensor *put_back(tn_grad_call *g, tn_tensor *grad, tn_ints sizes, tn_ints strides,
                           int64_t offset)
{
    return call__as_strided_backward(g, grad, sizes, tn_sizes_of(grad), strides,
                                     grad->numel ? offset : 0);
}

tn_tensor *slice_back(tn_grad_call *g, tn_tensor *grad, tn_ints sizes, int64_t dim,
                      tn_opt_int start, int64_t step)
{
    if (!grad)
        return NULL;
    shape s = shape_of(sizes);
    int64_t d = wrapped(dim, s.ndim), begin = start.has ? start.value : 0;
    begin = begin < 0 ? begin + s.sizes[d] : begin;
    begin = begin < 0 ? 0 : begin;
    int64_t offset = begin * s.strides[d];
    if (grad->sizes[d] > 1)
        s.strides[d] *= step;
    return put_back(g, grad, sizes, strides_of(&s), offset);
}

tn_tensor *select_back(tn_grad_call *g, tn_tensor *grad, tn_ints sizes, int64_t dim, int64_t index)
{
    if (!grad)
        return NULL;
    shape s = shape_of(sizes);
    int64_t d = wrapped(dim, s.ndim);
    int64_t offset = (index < 0 ? index + s.sizes[d] : index) * s.strides[d];
    s.ndim--;
    for (int64_t i = d; i < s.ndim; i++)
        s.strides[i] = s.strides[i + 1];
    return put_back(g, grad, sizes, strides_of(&s), offset);
}

tn_tensor *diagonal_back(tn_grad_call *g, tn_tensor *grad, tn_ints sizes, int64_t offset,
                         int64_t dim1, int64_t dim2)
{
    if (!grad)
        return NULL;
    shape s = shape_of(sizes);
    int64_t d1 = wrapped(dim1, s.ndim), d2 = wrapped(dim2, s.ndim), n = 0, strides[TN_MAX_DIMS];
    for (int64_t d = 0; d < s.ndim; d++)
        if (d != d1 && d != d2)
            strides[n++] = s.strides[d];
    strides[n++] = s.strides[d1] + s.strides[d2];
    int64_t begin = grad->numel == 0 ? 0
                    : offset >= 0    ? offset * s.strides[d2]
                                     : -offset * s.strides[d1];
    return put_back(g, grad, sizes, (tn_ints){strides, n}, begin);
}

tn_tensor *unfold_back(tn_grad_call *g, tn_tensor *grad, tn_ints sizes, int64_t dimension,
                       int64_t step)
{
    if (!grad)
        return NULL;
    shape s = shape_of(sizes);
    int64_t d = wrapped(dimension, s.ndim), stride = s.ndim ? s.strides[d] : 1;
    if (s.ndim && grad->sizes[d] > 1)
        s.strides[d] *= step;
    s.strides[s.ndim++] = stride;
    return put_back(g, grad, sizes, strides_of(&s), 0);
}

/* ---- as_strided ------------------------------------------------------------------------------ */
/* The last element's distance from the first. */
static int64_t reach_of(tn_ints sizes, tn_ints strides)
{
    int64_t reach = 0;
    for (int64_t d = 0; d < sizes.len; d++)
        reach += (sizes.data[d] - 1) * strides.data[d];
    return reach;
}

static bool shares_elements(tn_ints sizes, tn_ints strides)
{
    uint64_t left = 0;
    int64_t reach = 0;
    for (int64_t d = 0; d < sizes.len; d++)
        left |= (uint64_t)(sizes.data[d] > 1) << d;
    while (left) {
        int least = __builtin_ctzll(left);
        for (int d = least + 1; d < (int)sizes.len; d++)
            if (left >> d & 1 && strides.data[d] < strides.data[least])
                least = d;
        if (strides.data[least] <= reach)
            return true;
        reach += (sizes.data[least] - 1) * strides.data[least];
        left &= ~(UINT64_C(1) << least);
    }
    return false;
}

/* The stretch of storage that both the view and what it is a view of lie in. */
typedef struct stretch {
    int64_t begin, length;
} stretch;

static stretch stretch_of(tn_ints sizes, tn_ints strides, int64_t offset, tn_ints view_sizes,
                          tn_ints view_strides, int64_t view_offset)
{
    int64_t end = offset + reach_of(sizes, strides);
    int64_t view_end = view_offset + reach_of(view_sizes, view_strides);
    int64_t begin = offset < view_offset ? offset : view_offset;
    return (stretch){begin, (end > view_end ? end : view_end) + 1 - begin};
}

/* What self's elements have of a gradient of the storage; elements that share memory share it. */
static tn_tensor *of_storage(tn_grad_call *g, tn_tensor *flat, tn_ints sizes, tn_ints strides,
                             int64_t offset)
{
    tn_tensor *part = strided_part(g, flat, sizes, strides, offset);
    if (!part || !shares_elements(sizes, strides))
        return part;
    tn_tensor *counts = call__as_strided_backward(g, ones(g, part, sizes), tn_sizes_of(flat), sizes,
                                                  strides, offset);
    return call_div_Tensor(g, part, strided_part(g, counts, sizes, strides, offset));
}

tn_tensor *as_strided_back(tn_grad_call *g, tn_tensor *grad, tn_ints sizes, tn_ints strides,
                           int64_t offset, tn_ints stride, tn_opt_int storage_offset)
{
    if (!grad)
        return NULL;
    if (grad->numel == 0 || numel_of(sizes) == 0)
        return zeros(g, grad, sizes);
    int64_t at = storage_offset.has ? storage_offset.value : offset;
    stretch s = stretch_of(sizes, strides, offset, tn_sizes_of(grad), stride, at);
    tn_tensor *flat = call__as_strided_backward(g, grad, (tn_ints){&s.length, 1}, tn_sizes_of(grad),
                                                stride, at - s.begin);
    return of_storage(g, flat, sizes, strides, offset - s.begin);
}

static bool same(tn_ints a, tn_ints b)
{
    for (int64_t i = 0; i < a.len && a.len == b.len; i++)
        if (a.data[i] != b.data[i])
            return false;
    return a.len == b.len;
}

/* A view of the tangent where that lies as self does. Else it has a geometry of its own, and is
 * laid out as self is before the view is taken. */
tn_tensor *as_strided_forward(tn_grad_call *g, tn_tensor *tangent, tn_ints strides, int64_t offset,
                              tn_ints size, tn_ints stride, tn_opt_int storage_offset)
{
    if (!tangent)
        return NULL;
    if (numel_of(size) == 0 || tangent->numel == 0)
        return zeros(g, tangent, size);
    if (shares_elements(tn_sizes_of(tangent), strides)) {
        tn_grad_fail(g, TN_ERR_UNSUPPORTED,
                     "forward mode of as_strided needs a self without shared elements");
        return NULL;
    }
    int64_t at = storage_offset.has ? storage_offset.value : offset;
    if (same(tn_strides_of(tangent), strides))
        return call_as_strided(g, tangent, size, stride,
                               (tn_opt_int){tn->tensor_offset(tangent) + at - offset, 1});
    stretch s = stretch_of(tn_sizes_of(tangent), strides, offset, size, stride, at);
    tn_tensor *flat = call__as_strided_backward(g, tangent, (tn_ints){&s.length, 1},
                                                tn_sizes_of(tangent), strides, offset - s.begin);
    return strided_part(g, flat, size, stride, at - s.begin);
}

/* as_strided of t as if it were row-major; offset counts from its first element. */
tn_tensor *strided_part(tn_grad_call *g, tn_tensor *t, tn_ints size, tn_ints stride, int64_t offset)
{
    t = call_contiguous(g, t, TN_CONTIGUOUS);
    if (!t)
        return NULL;
    return call_as_strided(g, t, size, stride, (tn_opt_int){tn->tensor_offset(t) + offset, 1});
}

/* ---- lists ----------------------------------------------------------------------------------- */
/* A gradient that is there, for its dtype and device; the engine asks only where there is one. */
static tn_tensor *any_of(tn_tensors list)
{
    for (int64_t i = 0; i < list.len; i++)
        if (list.data[i])
            return list.data[i];
    return NULL;
}

/* The list with zeros where it has nothing; piece(i) along dim is size.data[i], or `each`. */
static tn_tensors filled(tn_grad_call *g, tn_tensors grads, shape s, int64_t dim, tn_ints pieces,
                         int64_t each)
{
    tn_tensors list = {NULL, 0};
    tn_tensor *like = any_of(grads);
    if (!like || g->status != TN_OK || (g->status = tn->tensors_new(NULL, grads.len, &list)))
        return (tn_tensors){NULL, 0};
    int64_t left = dim >= 0 ? s.sizes[dim] : 0;
    for (int64_t i = 0; i < grads.len; i++) {
        if (dim >= 0) {
            s.sizes[dim] = pieces.data ? pieces.data[i] : left < each ? left : each;
            left -= s.sizes[dim];
        }
        list.data[i] = grads.data[i] ? grads.data[i] : zeros(g, like, sizes_of(&s));
        if (list.data[i])
            tn->tensor_retain(list.data[i]);
    }
    return tn->grad_hold_list(g, list);
}

tn_tensor *unbind_back(tn_grad_call *g, tn_tensors grads, tn_ints sizes, int64_t dim)
{
    shape s = shape_of(sizes);
    int64_t d = wrapped(dim, s.ndim);
    if (grads.len == 0)
        return NULL;
    s.ndim--;
    for (int64_t i = d; i < s.ndim; i++)
        s.sizes[i] = s.sizes[i + 1];
    tn_tensors list = filled(g, grads, s, -1, (tn_ints){NULL, 0}, 0);
    return list.len ? call_stack(g, list, d) : NULL;
}

tn_tensor *split_back(tn_grad_call *g, tn_tensors grads, tn_ints sizes, int64_t split_size,
                      int64_t dim)
{
    int64_t d = wrapped(dim, sizes.len);
    tn_tensors list = filled(g, grads, shape_of(sizes), d, (tn_ints){NULL, 0}, split_size);
    return list.len ? call_cat(g, list, d) : NULL;
}

tn_tensor *split_sizes_back(tn_grad_call *g, tn_tensors grads, tn_ints sizes, tn_ints split_sizes,
                            int64_t dim)
{
    int64_t d = wrapped(dim, sizes.len);
    tn_tensors list = filled(g, grads, shape_of(sizes), d, split_sizes, 0);
    return list.len ? call_cat(g, list, d) : NULL;
}

/* Each tensor's slice of grad; one of a single dimension without elements took no part. */
tn_tensors cat_back(tn_grad_call *g, tn_tensor *grad, tn_tensors tensors, int64_t dim)
{
    tn_tensors list = {NULL, 0};
    if (!grad || g->status != TN_OK || (g->status = tn->tensors_new(NULL, tensors.len, &list)))
        return (tn_tensors){NULL, 0};
    int64_t d = wrapped(dim, grad->ndim), at = 0;
    for (int64_t i = 0; i < tensors.len; i++) {
        const tn_tensor *t = tensors.data[i];
        bool skipped = t->ndim == 1 && t->numel == 0;
        int64_t end = at + (skipped ? 0 : t->sizes[d]);
        list.data[i] =
            skipped ? zeros(g, grad, tn_sizes_of(t))
                    : call_slice_Tensor(g, grad, d, (tn_opt_int){at, 1}, (tn_opt_int){end, 1}, 1);
        if (list.data[i])
            tn->tensor_retain(list.data[i]);
        at = end;
    }
    return tn->grad_hold_list(g, list);
}

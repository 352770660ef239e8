/* helpers_index.c - gradients of reading and writing by index. */
#include "helpers.h"

/* part is the beginning of something of those sizes along every dimension: the rest is zero. */
tn_tensor *padded(tn_grad_call *g, tn_tensor *part, tn_ints sizes)
{
    shape s = shape_of(sizes);
    bool whole_src = part && part->ndim == s.ndim;
    for (int64_t d = 0; whole_src && d < s.ndim; d++)
        whole_src = part->sizes[d] == s.sizes[d];
    if (!part || whole_src || part->ndim != s.ndim)
        return part && !whole_src ? call_reshape(g, part, sizes) : part;
    return call__as_strided_backward(g, part, sizes, tn_sizes_of(part), strides_of(&s), 0);
}

/* src may be larger than index: what was not written from has gradient zero. */
tn_tensor *gather_back(tn_grad_call *g, tn_tensor *grad, int64_t dim, tn_tensor *index,
                       tn_ints sizes)
{
    if (!grad || index->numel == 0)
        return grad ? zeros(g, grad, sizes) : NULL;
    return padded(g, call_gather(g, grad, dim, index, false), sizes);
}

/* How often each entry of a list of indices occurs in it. */
static tn_tensor *occurrences(tn_grad_call *g, tn_tensor *like, tn_tensor *indices, int64_t n)
{
    tn_tensor *counts = zeros(g, like, (tn_ints){&n, 1});
    tn_tensor *one = ones(g, like, tn_sizes_of(indices));
    if (!counts || !one)
        return NULL;
    counts = call_index_add(g, counts, 0, indices, one, whole(1));
    return call_index_select(g, counts, 0, indices);
}

/* Each row of grad is added to the weight that it was read from, but for rows of padding. */
tn_tensor *embedding_back(tn_grad_call *g, tn_tensor *grad, tn_tensor *indices, int64_t num_weights,
                          int64_t padding_idx, bool scale_grad_by_freq)
{
    if (!grad)
        return NULL;
    int64_t width = grad->sizes[grad->ndim - 1], sizes[] = {num_weights, width};
    int64_t rows[] = {indices->numel, width}, column[] = {indices->numel, 1};
    tn_tensor *list = call_reshape(g, indices, (tn_ints){rows, 1});
    tn_tensor *part = call_reshape(g, grad, (tn_ints){rows, 2});
    if (!list || !part)
        return NULL;
    if (padding_idx >= 0) {
        tn_tensor *padding = call_eq_Scalar(g, list, whole(padding_idx));
        part = except_where(g, call_view(g, padding, (tn_ints){column, 2}), part);
    }
    if (part && scale_grad_by_freq) {
        tn_tensor *counts = occurrences(g, part, list, num_weights);
        part = call_div_Tensor(g, part, call_view(g, counts, (tn_ints){column, 2}));
    }
    return part ? call_index_add(g, zeros(g, part, (tn_ints){sizes, 2}), 0, list, part, whole(1))
                : NULL;
}

/* ---- masks ----------------------------------------------------------------------------------- */
/* The sum of grad over the filled slices: one that index names twice, or from the end, counts once. */
tn_tensor *filled_back(tn_grad_call *g, tn_tensor *grad, int64_t dim, tn_tensor *index)
{
    if (!grad)
        return NULL;
    tn_tensor *filled = zeros(g, grad, tn_sizes_of(grad));
    filled = call_index_fill_int_Scalar(g, filled, dim, index, whole(1));
    filled = call_eq_Scalar(g, filled, whole(1));
    return call_sum(g, only_where(g, filled, grad), TN_DTYPE_NONE);
}

/* What the mask took of source is its beginning, in order; the rest has gradient zero. */
tn_tensor *masked_source_back(tn_grad_call *g, tn_tensor *grad, tn_tensor *mask, tn_ints sizes)
{
    tn_tensor *taken = call_masked_select(g, grad, mask);
    if (!taken)
        return NULL;
    int64_t rest = numel_of(sizes) - taken->numel;
    if (rest > 0) {
        tn_tensor *both[] = {taken, zeros(g, taken, (tn_ints){&rest, 1})};
        taken = both[1] ? call_cat(g, (tn_tensors){both, 2}, 0) : NULL;
    }
    return call_view(g, taken, sizes);
}

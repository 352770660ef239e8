/* index.c - index_select, gather, embedding (one kernel: take) and cat (a copy per tensor).
 *
 * Indices stay on the device. One that is out of range gives zero and is told of when the host
 * next waits for the device (device.c): a copy to the host, an item, synchronize. */
#include <string.h>

#include "pointwise.h"
#include "rows.h"

static int size_class(tn_dtype dtype)
{
    switch (tn->dtype_size(dtype)) {
    case 1:
        return 0;
    case 2:
        return 1;
    case 4:
        return 2;
    case 8:
        return 3;
    default:
        return 4;
    }
}

/* Starts with the result's dimensions; strides[1] and [2] are the caller's to set, by the result's
 * dimension. */
typedef struct take_plan {
    tn_tensor *out, *in, *index;
    int64_t in_strides[TN_MAX_DIMS], index_strides[TN_MAX_DIMS]; /* elements */
    int64_t step, size;
    int kind;
} take_plan;

static tn_status fill_dims(tn_call *call, const take_plan *t, cuda_take *p)
{
    int64_t bytes = (int64_t)tn->dtype_size(t->in->dtype),
            index_bytes = (int64_t)tn->dtype_size(t->index->dtype);
    if (t->out->numel > INT32_MAX - CUDA_ROW_THREADS)
        return tn->fail(call, TN_ERR_UNSUPPORTED,
                        "indexing on CUDA takes up to 2^31 elements, got %lld",
                        (long long)t->out->numel);
    for (int d = t->out->ndim - 1; d >= 0; d--) {
        if (t->out->sizes[d] == 1)
            continue;
        if (p->n_dims == CUDA_ROW_DIMS)
            return tn->fail(call, TN_ERR_UNSUPPORTED, "indexing on CUDA takes %d dimensions",
                            CUDA_ROW_DIMS);
        p->dims[p->n_dims++] = (cuda_row_dim){cuda_divider_of(t->out->sizes[d]),
                                              {t->out->strides[d] * bytes, t->in_strides[d] * bytes,
                                               t->index_strides[d] * index_bytes}};
    }
    return TN_OK;
}

static tn_status run_take(tn_call *call, const take_plan *t)
{
    cuda_take p;
    TN_TRY(cuda_enter(call, t->out->device));
    if (t->out->numel == 0)
        return TN_OK;
    memset(&p, 0, sizeof p);
    TN_TRY(fill_dims(call, t, &p));
    TN_TRY(cuda_fault_record(call, t->out->device, &p.fault));
    p.out = t->out->data;
    p.in = t->in->data;
    p.index = t->index->data;
    p.n = (uint32_t)t->out->numel;
    p.index_is_64 = t->index->dtype == TN_I64;
    p.kind = t->kind;
    p.step = t->step * (int64_t)tn->dtype_size(t->in->dtype);
    p.size = t->size;
    int64_t blocks = (p.n + (int64_t)CUDA_ROW_THREADS - 1) / CUDA_ROW_THREADS;
    return cuda_launch(call, (cuda_kernel_address)cuda_take_kernels[size_class(t->in->dtype)],
                       blocks, CUDA_ROW_THREADS, 0, &p);
}

static int64_t wrap(const tn_tensor *t, int64_t dim)
{
    return dim < 0 ? dim + (t->ndim ? t->ndim : 1) : dim;
}

/* The strides of the other dimensions; along dim the index decides. */
static void set_source(take_plan *t, int64_t dim)
{
    bool scalar = t->in->ndim == 0;
    for (int d = 0; d < t->in->ndim; d++)
        t->in_strides[d] = d == dim ? 0 : t->in->strides[d];
    t->step = scalar ? 0 : t->in->strides[dim];
    t->size = scalar ? 1 : t->in->sizes[dim];
}

static tn_status index_select(tn_call *call, struct tn_index_select_args *a)
{
    take_plan t = {
        .out = a->result, .in = a->self, .index = a->index, .kind = CUDA_FAULT_INDEX_SELECT};
    int64_t dim = wrap(a->self, a->dim);
    set_source(&t, dim);
    t.index_strides[dim] = a->index->ndim ? a->index->strides[0] : 0;
    return run_take(call, &t);
}

static tn_status gather(tn_call *call, struct tn_gather_args *a)
{
    take_plan t = {.out = a->result, .in = a->self, .index = a->index, .kind = CUDA_FAULT_GATHER};
    set_source(&t, wrap(a->self, a->dim));
    for (int d = 0; d < a->index->ndim; d++)
        t.index_strides[d] = a->index->strides[d];
    return run_take(call, &t);
}

static tn_status embedding(tn_call *call, struct tn_embedding_args *a)
{
    take_plan t = {
        .out = a->result, .in = a->weight, .index = a->indices, .kind = CUDA_FAULT_EMBEDDING};
    int last = a->indices->ndim;
    for (int d = 0; d < last; d++)
        t.index_strides[d] = a->indices->strides[d];
    t.in_strides[last] = a->weight->strides[1];
    t.step = a->weight->strides[0];
    t.size = a->weight->sizes[0];
    return run_take(call, &t);
}

/* ---- cat ------------------------------------------------------------------------------------- */
static tn_status copy_into(tn_call *call, tn_tensor *result, tn_tensor *t, int64_t dim,
                           int64_t begin)
{
    tn_tensor *part;
    int64_t offset = tn->tensor_offset(result) + begin * result->strides[dim];
    TN_TRY(tn->tensor_view(call, result, t->ndim, t->sizes, result->strides, offset, result->dtype,
                           &part));
    tn_status status = cuda_copy_tensor(call, part, t);
    tn->tensor_release(part);
    return status;
}

static tn_status cat(tn_call *call, struct tn_cat_args *a)
{
    int64_t dim = a->dim < 0 ? a->dim + a->result->ndim : a->dim, begin = 0;
    TN_TRY(cuda_enter(call, a->result->device));
    for (int64_t i = 0; i < a->tensors.len; i++) {
        tn_tensor *t = a->tensors.data[i];
        if (t->numel == 0)
            continue;
        TN_TRY(tn->check_no_overlap(call, a->result, t));
        TN_TRY(copy_into(call, a->result, t, dim, begin));
        begin += t->sizes[dim];
    }
    return TN_OK;
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(index_select, "CUDA", index_select),
    TN_KERNEL(gather, "CUDA", gather),
    TN_KERNEL(embedding, "CUDA", embedding),
    TN_KERNEL(cat, "CUDA", cat),
};
const cuda_kernels cuda_index = {kernels, TN_COUNT(kernels)};

/* cat.c - cat: each tensor is copied into its part of the result, cast to the result's dtype on the
 * way. */
#include <string.h>

#include "cpu.h"

/* A 1-dim tensor of no elements joins anything and adds nothing. */
static bool is_legacy_empty(const tn_tensor *t)
{
    return t->ndim == 1 && t->numel == 0;
}

/* An input may not lie in the result, not even element for element: it would move. */
static tn_status check_apart(tn_call *call, const struct tn_cat_args *a)
{
    for (int64_t i = 0; i < a->tensors.len; i++) {
        const tn_tensor *t = a->tensors.data[i];
        if (t->numel == 0 || a->result->numel == 0 || !tn->tensor_same_storage(a->result, t))
            continue;
        TN_TRY(tn->check_no_overlap(call, a->result, t));
        if (t->data == a->result->data)
            return tn->fail(call, TN_ERR_OVERLAP,
                            "the result shares its memory with tensors[%lld]; clone() it first",
                            (long long)i);
    }
    return TN_OK;
}

/* Rows of `bytes` each, one for every index before dim: what remains when all is dense and of one
 * dtype. */
static void copy_dense(char *out, int64_t out_row, const char *in, int64_t bytes, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++)
        memcpy(out + i * out_row, in + i * bytes, (size_t)bytes);
}

static tn_status copy_part(tn_call *call, tn_tensor *result, tn_tensor *t, int64_t dim, int64_t at)
{
    int64_t size = (int64_t)tn->dtype_size(result->dtype);
    if (t->dtype == result->dtype && t->flags & result->flags & TN_TENSOR_CONTIGUOUS) {
        int64_t inner = result->strides[dim], rows = t->numel / (inner * t->sizes[dim]);
        copy_dense((char *)result->data + at * inner * size, result->sizes[dim] * inner * size,
                   (const char *)t->data, t->sizes[dim] * inner * size, rows);
        return TN_OK;
    }
    tn_tensor *part;
    TN_TRY(tn->tensor_view(call, result, t->ndim, t->sizes, result->strides,
                           tn->tensor_offset(result) + at * result->strides[dim], result->dtype,
                           &part));
    tn_status status = cpu_copy_elements(call, part, t);
    tn->tensor_release(part);
    return status;
}

static tn_status cat(tn_call *call, struct tn_cat_args *a)
{
    if (a->result->numel == 0)
        return TN_OK;
    int64_t dim = a->dim < 0 ? a->dim + a->result->ndim : a->dim, at = 0;
    TN_TRY(check_apart(call, a));
    for (int64_t i = 0; i < a->tensors.len; i++) {
        tn_tensor *t = a->tensors.data[i];
        if (is_legacy_empty(t) || t->numel == 0)
            continue;
        TN_TRY(copy_part(call, a->result, t, dim, at));
        at += t->sizes[dim];
    }
    return TN_OK;
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(cat, "CPU", cat),
};
const cpu_kernels cpu_cat = {kernels, TN_COUNT(kernels)};

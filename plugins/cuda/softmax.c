/* softmax.c - _softmax and _log_softmax: a block of threads per row, whichever dimension the row
 * runs along. */
#include "pointwise.h"
#include "rows.h"

static tn_status softmax(tn_call *call, tn_tensor *out, const tn_tensor *in, int64_t dim, bool log)
{
    cuda_softmax_rows p = {.out = out->data, .in = in->data, .log = log, .n = 1, .rows = 1};
    int64_t out_size = (int64_t)tn->dtype_size(out->dtype),
            in_size = (int64_t)tn->dtype_size(in->dtype), rows = 1, n = 1;
    int at = (int)(dim < 0 ? dim + in->ndim : dim);
    TN_TRY(cuda_enter(call, in->device));
    if (in->numel == 0)
        return TN_OK;
    p.out_dtype = out->dtype;
    p.in_dtype = in->dtype;
    for (int d = in->ndim - 1; d >= 0; d--) {
        int64_t size = in->sizes[d];
        if (d == at) {
            n = size;
            p.out_step = out->strides[d] * out_size;
            p.in_step = in->strides[d] * in_size;
        } else if (size > 1) {
            if (p.n_dims == CUDA_ROW_DIMS || size > INT32_MAX)
                return tn->fail(call, TN_ERR_UNSUPPORTED,
                                "softmax on CUDA takes %d dimensions of up to 2^31-1",
                                CUDA_ROW_DIMS + 1);
            p.dims[p.n_dims++] = (cuda_row_dim){
                cuda_divider_of(size), {out->strides[d] * out_size, in->strides[d] * in_size, 0}};
            rows *= size;
        }
    }
    if (n > INT32_MAX || rows > INT32_MAX)
        return tn->fail(call, TN_ERR_UNSUPPORTED,
                        "softmax on CUDA takes up to 2^31-1 rows of 2^31-1, got %lld of %lld",
                        (long long)rows, (long long)n);
    p.n = (uint32_t)n;
    p.rows = (uint32_t)rows;
    int threads = n <= 32 ? 32 : n <= 64 ? 64 : CUDA_ROW_THREADS;
    return cuda_launch(call, (cuda_kernel_address)cuda_softmax_kernels[in->dtype == TN_F64], rows,
                       threads, 0, &p);
}

static tn_status _softmax(tn_call *call, struct tn__softmax_args *a)
{
    return softmax(call, a->result, a->self, a->dim, false);
}

static tn_status _log_softmax(tn_call *call, struct tn__log_softmax_args *a)
{
    return softmax(call, a->result, a->self, a->dim, true);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(_softmax, "CUDA", _softmax),
    TN_KERNEL(_log_softmax, "CUDA", _log_softmax),
};
const cuda_kernels cuda_softmax = {kernels, TN_COUNT(kernels)};

/* scale_shift.cu - the same by hand for CUDA: one thread an element, any strides. */
#include <cuda_runtime.h>

#include "scale_shift.h"

template <typename T> static __global__ void scale_shift(tn_iter it, T alpha, T beta)
{
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i >= it.numel)
        return;
    char *out = it.data[0];
    const char *self = it.data[1];
    for (int d = 0; d < it.ndim; d++) {
        int64_t at = i % it.sizes[d];
        i /= it.sizes[d];
        out += at * it.strides[0][d];
        self += at * it.strides[1][d];
    }
    *(T *)out = alpha * *(const T *)self + beta;
}

tn_status scale_shift_cuda(tn_call *call, struct tn_scale_shift_by_hand_args *a)
{
    const double alpha = tn_scalar_as_double(&a->alpha), beta = tn_scalar_as_double(&a->beta);
    tn_tensor *operands[] = {a->result, a->self};
    tn_dtype dtype = a->self->dtype;
    tn_iter it;
    TN_TRY(tn->iter_init(call, &it, 1, 2, operands, dtype, dtype, 0));
    if (it.numel == 0)
        return TN_OK;
    const unsigned threads = 256, blocks = (unsigned)((it.numel + threads - 1) / threads);
    cudaStream_t stream = (cudaStream_t)call->stream;
    if (dtype == TN_F32)
        scale_shift<float><<<blocks, threads, 0, stream>>>(it, (float)alpha, (float)beta);
    else
        scale_shift<double><<<blocks, threads, 0, stream>>>(it, alpha, beta);
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        return TN_OK;
    return tn->fail(call, TN_ERR_DEVICE, "CUDA: %s", cudaGetErrorString(error));
}

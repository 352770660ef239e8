/* cuda.c - the cuda plugin: registers the device type and every family of kernels. Nothing here
 * touches a device, so the plugin loads everywhere; where there is no device each use says so. */
#include "cuda.h"

static const cuda_kernels *const families[] = {
    &cuda_copy, &cuda_arithmetic, &cuda_reductions, &cuda_softmax, &cuda_matmul, &cuda_index,
};

static tn_status start(tn_registry *r)
{
    int16_t type;
    TN_TRY(tn->register_device(r, &cuda_device, &type));
    TN_TRY(tn->register_kernels(r, cuda_pointwise_kernels, cuda_pointwise_count));
    for (size_t i = 0; i < TN_COUNT(families); i++)
        TN_TRY(tn->register_kernels(r, families[i]->list, families[i]->count));
    return TN_OK;
}

TN_PLUGIN("cuda", "0.1.0", start, NULL);

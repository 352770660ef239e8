/* older.c - a kernel for plgtest::scale that was compiled when the operator was younger: SCHEMA is
 * what it knew then, a tensor x alone unless -D says otherwise. It multiplies by 100. */
#include <tenon/plugin.h>

#ifndef SCHEMA
#define SCHEMA "plgtest::scale(Tensor x) -> Tensor"
#endif

#define TN_SCHEMA_scale SCHEMA
struct tn_scale_args {
    tn_frame frame;
    tn_tensor *result, *x;
};

static tn_status scale(tn_call *call, struct tn_scale_args *a)
{
    TN_TRY(tn->tensor_new(call, 1, a->x->sizes, TN_F32, a->x->device, &a->result));
    for (int64_t i = 0; i < a->x->numel; i++)
        ((float *)a->result->data)[i] = ((const float *)a->x->data)[i] * 100;
    return TN_OK;
}

static const tn_kernel_decl kernels[] = {{TN_SCHEMA_scale, "CPU", TN_KERNEL_FN(scale, scale), NULL,
                                          sizeof(struct tn_scale_args), 1, 0, 0, NULL, 0, 0}};

static tn_status start(tn_registry *r)
{
    return tn->register_kernels(r, kernels, TN_COUNT(kernels));
}

TN_PLUGIN("older", "0.9", start, NULL);

/* older.c - a plugin of border revision 1, reference: a kernel for an operator of another plugin
 * (../today.c), which has gained a defaulted argument since.
 *
 *     abiref::grown(Tensor x) -> Tensor    then;  (Tensor x, float s=2.0) now */
#include <tenon/plugin.h>

#define TN_SCHEMA_grown "abiref::grown(Tensor x) -> Tensor"
struct tn_grown_args {
    tn_frame frame;
    tn_tensor *result, *x;
};

static tn_status grown(tn_call *call, struct tn_grown_args *a)
{
    TN_TRY(tn->tensor_new(call, 0, NULL, TN_F64, a->x->device, &a->result));
    *(double *)a->result->data = 100;
    return TN_OK;
}

static const tn_kernel_decl kernels[] = {TN_KERNEL(grown, "CPU", grown)};

static tn_status start(tn_registry *r)
{
    return tn->register_kernels(r, kernels, TN_COUNT(kernels));
}

TN_PLUGIN("abiref_older", "1.0.0", start, NULL);

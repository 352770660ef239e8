/* scale.h - the operator that the test plugins share: NS::scale(Tensor x, float s) -> Tensor, on
 * f32.
 *
 * tests/unit/core/plugin builds each plugin with cc when it runs, with -D to make the variants:
 *   NS      the operator's namespace, a text; "plgtest"
 *   FACTOR  multiplies the result, to tell two plugins' kernels apart; 1
 *   NAME    the plugin's name; "scale" */
#ifndef TENON_TEST_SCALE_H
#define TENON_TEST_SCALE_H

#include <tenon/plugin.h>

#ifndef NS
#define NS "plgtest"
#endif
#ifndef FACTOR
#define FACTOR 1
#endif
#ifndef NAME
#define NAME "scale"
#endif
#ifndef SCHEMA
#define SCHEMA NS "::scale(Tensor x, float s) -> Tensor"
#endif

#define TN_SCHEMA_scale SCHEMA
struct tn_scale_args {
    tn_frame frame;
    tn_tensor *result, *x;
    double s;
};

static tn_status scale(tn_call *call, struct tn_scale_args *a)
{
    if (a->x->dtype != TN_F32 || a->x->ndim != 1)
        return tn->fail(call, TN_ERR_DTYPE, "x: expected float32 of 1 dimension, got %s of %d",
                        tn->dtype_name(a->x->dtype), a->x->ndim);
    float *scratch = tn->scratch(call, (size_t)a->x->numel * sizeof(float));
    if (!scratch)
        return TN_ERR_MEMORY;
    const float *x = a->x->data;
    for (int64_t i = 0; i < a->x->numel; i++)
        scratch[i] = x[i * a->x->strides[0]] * (float)a->s * (float)FACTOR;
    TN_TRY(tn->tensor_new(call, 1, a->x->sizes, TN_F32, a->x->device, &a->result));
    float *out = a->result->data;
    for (int64_t i = 0; i < a->x->numel; i++)
        out[i] = scratch[i];
    return TN_OK;
}

static const tn_op_decl scale_ops[] = {{.schema = SCHEMA}};
static const tn_kernel_decl scale_kernels[] = {TN_KERNEL(scale, "CPU", scale)};

#endif

/* crash.c - operators that go wrong for some arguments, for `tenon replay --minimize`:
 *   plgcrash::abort(Tensor x, int n, float[] fs) -> Tensor   aborts when x has 3 rows or more and an
 *                                                            element of row 2 is negative
 *   plgcrash::off(Tensor x) -> Tensor                        x, but 7 becomes 8 */
#include <tenon/plugin.h>

#include <stdlib.h>

struct args {
    tn_frame frame;
    tn_tensor *result, *x;
};
#define tn_abort_args args
#define tn_off_args args
#define TN_SCHEMA_abort "plgcrash::abort(Tensor x, int n, float[] fs) -> Tensor"
#define TN_SCHEMA_off "plgcrash::off(Tensor x) -> Tensor"

static float element(const tn_tensor *t, int64_t i)
{
    int64_t offset = 0;
    for (int d = t->ndim; d-- > 0; i /= t->sizes[d])
        offset += i % t->sizes[d] * t->strides[d];
    return ((const float *)t->data)[offset];
}

static tn_status abort_kernel(tn_call *call, struct args *a)
{
    int64_t row = a->x->ndim == 2 ? a->x->sizes[1] : 1;
    for (int64_t i = 0; i < row && a->x->ndim && a->x->sizes[0] >= 3; i++)
        if (element(a->x, 2 * row + i) < 0)
            abort();
    return tn->tensor_new(call, 0, NULL, TN_F32, a->x->device, &a->result);
}

static tn_status off(tn_call *call, struct args *a)
{
    TN_TRY(tn->tensor_new(call, a->x->ndim, a->x->sizes, TN_F32, a->x->device, &a->result));
    for (int64_t i = 0; i < a->x->numel; i++) {
        float v = element(a->x, i);
        ((float *)a->result->data)[i] = v == 7 ? 8 : v;
    }
    return TN_OK;
}

static const tn_op_decl ops[] = {{.schema = TN_SCHEMA_abort}, {.schema = TN_SCHEMA_off}};

static tn_status start(tn_registry *r)
{
    const tn_kernel_decl kernels[] = {
        {TN_SCHEMA_abort, "CPU", TN_KERNEL_FN(abort, abort_kernel), NULL, 0, 0, 0, 0, NULL, 0, 0},
        TN_KERNEL(off, "CPU", off)};
    TN_TRY(tn->register_ops(r, ops, TN_COUNT(ops)));
    return tn->register_kernels(r, kernels, TN_COUNT(kernels));
}

TN_PLUGIN("crash", "1.0", start, NULL);

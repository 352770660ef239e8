/* layers.c - normalisation of layers: native_layer_norm, layer_norm.
 *
 * Everything is computed in double: a mean that is large beside the spread keeps its digits, and
 * squares of what float32 can hold do not overflow. One rounding at the end. */
#include "work.h"

#include <inttypes.h>

static tn_status check(tn_call *call, const tn_tensor *input, tn_ints shape,
                       const tn_tensor *weight, const tn_tensor *bias)
{
    char want[COMPOSITE_SHAPE_CHARS], got[COMPOSITE_SHAPE_CHARS];
    const tn_tensor *factors[] = {weight, bias};
    int64_t lead = input->ndim - shape.len;
    bool fits = shape.len >= 1 && lead >= 0;
    for (int64_t d = 0; fits && d < shape.len; d++)
        fits = input->sizes[lead + d] == shape.data[d];
    if (!fits)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "normalized_shape %s is not the end of the input's shape %s",
                        composite_shape_text(want, shape.len < 0 ? 0 : shape.len, shape.data),
                        composite_shape_text(got, input->ndim, input->sizes));
    for (int i = 0; i < 2; i++) {
        bool same = !factors[i] || factors[i]->ndim == shape.len;
        for (int64_t d = 0; same && factors[i] && d < shape.len; d++)
            same = factors[i]->sizes[d] == shape.data[d];
        if (!same)
            return tn->fail(call, TN_ERR_ARGUMENT, "%s: expected normalized_shape %s, got %s",
                            i ? "bias" : "weight",
                            composite_shape_text(want, shape.len, shape.data),
                            composite_shape_text(got, factors[i]->ndim, factors[i]->sizes));
    }
    if (!(TN_DTYPE_BIT(input->dtype) & TN_DTYPES_FLOATING))
        return tn->fail(call, TN_ERR_UNSUPPORTED, "layers of %s are not normalised",
                        tn->dtype_name(input->dtype));
    return TN_OK;
}

/* The result, the mean and 1 / sqrt(var + eps), the latter with size 1 where it was normalised. */
static tn_tensor *normalised(work *w, tn_tensor *input, int64_t n_dims, tn_tensor *weight,
                             tn_tensor *bias, double eps, tn_tensor **mean, tn_tensor **rstd)
{
    int64_t list[TN_MAX_DIMS];
    for (int64_t d = 0; d < n_dims; d++)
        list[d] = input->ndim - n_dims + d;
    tn_ints dims = {list, n_dims};
    tn_tensor *x = work_as_dtype(w, input, TN_F64);
    *mean = work_mean(w, x, dims, true);
    tn_tensor *apart = work_sub(w, x, *mean);
    tn_tensor *var = work_mean(w, work_mul(w, apart, apart), dims, true);
    struct tn_rsqrt_args f = {TN_FRAME(rsqrt), .self = work_add_number(w, var, work_number(eps))};
    *rstd = f.self ? work_call(w, OP_RSQRT, &f, &f.result) : NULL;
    tn_tensor *y = work_mul(w, apart, *rstd);
    y = weight ? work_mul(w, y, weight) : y;
    y = bias ? work_add(w, y, bias) : y;
    return work_as_dtype(w, y, input->dtype);
}

static tn_status native_layer_norm(tn_call *call, struct tn_native_layer_norm_args *a)
{
    work w = work_on(call);
    tn_tensor *mean, *rstd;
    TN_TRY(check(call, a->input, a->normalized_shape, a->weight, a->bias));
    tn_tensor *y =
        normalised(&w, a->input, a->normalized_shape.len, a->weight, a->bias, a->eps, &mean, &rstd);
    mean = work_as_dtype(&w, mean, a->input->dtype);
    rstd = work_as_dtype(&w, rstd, a->input->dtype);
    if (w.status == TN_OK) {
        composite_return_self(mean, &a->result1);
        composite_return_self(rstd, &a->result2);
    }
    return work_end(&w, y, &a->result0);
}

static tn_status layer_norm(tn_call *call, struct tn_layer_norm_args *a)
{
    work w = work_on(call);
    tn_tensor *mean, *rstd;
    TN_TRY(check(call, a->input, a->normalized_shape, a->weight, a->bias));
    tn_tensor *y =
        normalised(&w, a->input, a->normalized_shape.len, a->weight, a->bias, a->eps, &mean, &rstd);
    return work_end(&w, y, &a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(native_layer_norm, IMPLICIT, native_layer_norm),
    TN_KERNEL(layer_norm, IMPLICIT, layer_norm),
};
const composite_kernels composite_layers = {kernels, TN_COUNT(kernels)};

/* scale.c - a plugin with an operator of its own, `alpha * self + beta`, for which nobody wrote a
 * row: the harness must make one from the schema. Right as it stands; with -DWRONG its float64 is
 * right and its float32 is off. */
#include <tenon/plugin.h>

#ifndef WRONG
#define WRONG 0
#endif

static const tn_op_decl ops[] = {{
    .schema = "oitest::scale_shift(Tensor self, Scalar alpha, Scalar beta) -> Tensor",
    .inplace = "oitest::scale_shift_(Tensor(a!) self, Scalar alpha, Scalar beta) -> Tensor(a!)",
    .out = "oitest::scale_shift.out(Tensor self, Scalar alpha, Scalar beta, *, Tensor(a!) out) -> "
           "Tensor(a!)",
    .pointwise = TN_POINTWISE,
    .dtypes = TN_DTYPE_BIT(TN_F32) | TN_DTYPE_BIT(TN_F64),
}};

struct tn_scale_shift_args {
    tn_frame frame;
    tn_tensor *result, *self;
    tn_scalar alpha, beta;
};

static double number(const tn_scalar *s)
{
    return s->kind == TN_SCALAR_FLOAT ? s->v.f : (double)s->v.i;
}

static void loop_f32(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    const double *k = params;
    for (int64_t i = 0; i < n; i++)
        *(float *)(p[0] + i * s[0]) = (float)k[0] * *(const float *)(p[1] + i * s[1]) +
                                      (float)k[1] * (WRONG ? 1.001f : 1);
}

static void loop_f64(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    const double *k = params;
    for (int64_t i = 0; i < n; i++)
        *(double *)(p[0] + i * s[0]) = k[0] * *(const double *)(p[1] + i * s[1]) + k[1];
}

static tn_status scale_shift(tn_call *call, void *frame)
{
    const struct tn_scale_shift_args *a = frame;
    double numbers[2] = {number(&a->alpha), number(&a->beta)};
    return tn->iter_run(call, call->iter, call->iter->dtype == TN_F64 ? loop_f64 : loop_f32,
                        numbers);
}

static tn_status nothing(tn_call *call, void *frame)
{
    (void)call, (void)frame;
    return TN_OK;
}

static tn_status start(tn_registry *r)
{
    const tn_kernel_decl kernels[] = {
        {.schema = ops[0].schema,
         .key = "CPU",
         .fn = scale_shift,
         .frame_size = sizeof(struct tn_scale_shift_args)},
        {.schema = ops[0].schema,
         .key = "Meta",
         .fn = nothing,
         .frame_size = sizeof(struct tn_scale_shift_args)},
    };
    TN_TRY(tn->register_ops(r, ops, TN_COUNT(ops)));
    return tn->register_kernels(r, kernels, TN_COUNT(kernels));
}

TN_PLUGIN("oitest", "1.0.0", start, NULL);

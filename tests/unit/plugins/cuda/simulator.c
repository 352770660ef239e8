/* Operators of the cuda plugin against the cpu plugin, on the CUDA simulator: the same calls on
 * the same numbers on both devices. The simulator interprets the plugin's PTX on the processor: it
 * shows that kernels compute what they should, not that they run on a GPU.
 *
 * The test starts itself again with the simulator's libraries on LD_LIBRARY_PATH;
 * TENON_CUDASIM_CHILD marks the second run. The plugin must be built with TENON_CUDA_PLAIN,
 * because the simulator reads uncompressed device code only. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tenon/ops.h>
#include <tenon/tensor.h>

#include "cuda_test.h"

typedef tn_tensor *(*expression)(tn_tensor *x, tn_tensor *y);
typedef struct check {
    const char *name;
    expression fn;
    unsigned dtypes;
} check;

enum {
    INTEGRAL = TN_DTYPES_INTEGRAL,
    FLOATING = TN_DTYPES_FLOATING,
    COMPLEX = TN_DTYPES_COMPLEX,
    NUMBERS = INTEGRAL | FLOATING,
    ALL = NUMBERS | COMPLEX,
    ORDERED = NUMBERS | TN_DTYPE_BIT(TN_BOOL),
    EVERY = ALL | TN_DTYPE_BIT(TN_BOOL),
};
static const tn_device cuda = {TN_CUDA, 0}, cpu = {TN_CPU, -1};

/* x and y: 6 x 35, y without zeros. */
#define OP(name, expression)                                                                       \
    static tn_tensor *name(tn_tensor *x, tn_tensor *y)                                             \
    {                                                                                              \
        (void)x, (void)y;                                                                          \
        return expression;                                                                         \
    }
OP(op_add, tn_add(x, y, .alpha = tn_scalar_int(2)))
OP(op_sub_strided, tn_sub(tn_t(x), tn_t(y)))
OP(op_mul_broadcast, tn_mul(x, tn_slice(y, .dim = 0, .start = {1, 1}, .end = {2, 1})))
OP(op_mul_every_second, tn_mul(tn_slice(x, .dim = 1, .step = 2), tn_slice(y, .dim = 1, .step = 2)))
OP(op_div, tn_div(x, y))
OP(op_promote, tn_add(x, tn__to_copy(y, .dtype = TN_F64)))
OP(op_lt, tn_lt(x, y))
OP(op_eq, tn_eq_Scalar(x, 2))
OP(op_exp, tn_exp(x))
OP(op_tanh, tn_tanh(x))
OP(op_sigmoid, tn_sigmoid(x))
OP(op_atan2, tn_atan2(x, y))
OP(op_lgamma, tn_lgamma(tn_add_Scalar(tn_abs(x), 0.5)))
OP(op_asinh, tn_asinh(x))
OP(op_where, tn_where_self(tn_lt(x, y), x, y))
OP(op_where_real, tn_where_self(tn_eq(x, y), x, y))
OP(op_maximum, tn_maximum(x, y))
OP(op_shift, tn_bitwise_and(tn_bitwise_not(x), y))
OP(op_relu, tn_relu(x))
OP(op_silu, tn_silu(x))
OP(op_square, tn_square(x))
OP(op_to_f32, tn__to_copy(x, .dtype = TN_F32))
OP(op_to_u8, tn__to_copy(tn_abs(x), .dtype = TN_U8))
OP(op_clone_strided, tn_contiguous(tn_t(x)))
OP(op_floor_divide, tn_floor_divide(x, y))
OP(op_div_trunc, tn_div_Tensor_mode(x, y, "trunc"))
OP(op_remainder, tn_remainder(x, y))
OP(op_fmod, tn_fmod(x, y))
OP(op_pow, tn_pow_Tensor_Scalar(x, 3))
OP(op_clamp, tn_clamp(x, .min = tn_scalar_int(1), .max = tn_scalar_int(3)))
OP(op_clamp_low, tn_clamp(x, .min = tn_scalar_int(2)))
OP(op_gelu, tn_gelu(x))
OP(op_gelu_tanh, tn_gelu(x, .approximate = "tanh"))
OP(op_abs, tn_abs(x))
OP(op_masked_fill, tn_masked_fill_Scalar(x, tn_eq(x, y), 7))
OP(op_zeros, tn_zeros_like(x))
OP(op_full, tn_full_like(x, 3))
OP(op_sum, tn_sum(x))
OP(op_sum_0, tn_sum_dim_IntList(x, TN_INTS(0)))
OP(op_sum_1, tn_sum_dim_IntList(x, TN_INTS(1), .keepdim = true))
OP(op_sum_f64, tn_sum(x, .dtype = TN_F64))
OP(op_mean, tn_mean_dim(x, TN_INTS(1)))
OP(op_prod, tn_prod_dim_int(x, 0))
OP(op_amax, tn_amax(x, .dim = TN_INTS(1)))
OP(op_amin, tn_amin(tn_t(x), .dim = TN_INTS(1)))
OP(op_max, tn_max(x))
OP(op_argmax, tn_argmax(x, .dim = {1, 1}))
OP(op_argmin, tn_argmin(x))
OP(op_any, tn_any_dim(x, 1))
OP(op_all, tn_all(x))
OP(op_softmax, tn__softmax(x, 1, false))
OP(op_log_softmax, tn__log_softmax(x, 0, false))
OP(op_mm, tn_mm(x, tn_t(y)))
OP(op_mm_t, tn_mm(tn_t(x), y))
OP(op_bmm, tn_bmm(tn_reshape(x, TN_INTS(2, 3, 35)),
                  tn_transpose_int(tn_reshape(y, TN_INTS(2, 3, 35)), 1, 2)))
OP(op_addmm, tn_addmm(tn_slice(x, .dim = 1, .end = {6, 1}), x, tn_t(y), .beta = tn_scalar_int(2),
                      .alpha = tn_scalar_int(3)))
OP(op_cat, tn_cat(TN_TENSORS(x, tn_t(tn_contiguous(tn_t(y)))), .dim = 1))
OP(op_index_select, tn_index_select(x, 1, tn_argmax(y, .dim = {1, 1})))
OP(op_gather, tn_gather(x, 1, tn_argmax(y, .dim = {1, 1}, .keepdim = true)))
OP(op_embedding, tn_embedding(tn_contiguous(tn_t(x)), tn_argmin(y, .dim = {1, 1})))
OP(op_arange, tn_arange_start_step(2, 40, .step = tn_scalar_int(3), .dtype = (tn_dtype)x->dtype,
                                   .device = x->device))
OP(op_host_number, tn_mul(x, tn_scalar_tensor(3)))
OP(op_masked_fill_tensor,
   tn_masked_fill(x, tn_eq(x, y), tn_full_like(tn_select_int(tn_select_int(x, 0, 0), 0, 0), 4)))
OP(op_pow_tensor,
   tn_pow_Tensor_Tensor(tn_add_Scalar(tn_abs(x), 1),
                        tn_clamp(y, .min = tn_scalar_int(1), .max = tn_scalar_int(2))))
OP(op_pow_base, tn_pow_Scalar(2, tn_clamp(x, .min = tn_scalar_int(0))))
OP(op_clamp_tensor, tn_clamp_Tensor(x, .max = y))
OP(op_add_, tn_add_(tn_clone(x), y))
OP(op_fill_strided, tn_fill__Scalar(tn_t(tn_clone(x)), 5))
OP(op_zero_part, tn_zero_(tn_slice(tn_clone(x), .dim = 1, .step = 3)))
OP(op_mul_out, tn_mul_out(x, y, tn_t(tn_empty_like(tn_contiguous(tn_t(x))))))
OP(op_many_dims, tn_add(tn_permute(tn_reshape(x, TN_INTS(3, 2, 5, 7)), TN_INTS(3, 1, 0, 2)),
                        tn_permute(tn_reshape(y, TN_INTS(2, 3, 7, 5)), TN_INTS(2, 0, 1, 3))))
OP(op_where_number, tn_where_self(tn_eq(x, y), x, tn_scalar_tensor(2, .dtype = (tn_dtype)x->dtype)))
OP(op_expm1, tn_expm1(x))
OP(op_log1p, tn_log1p(x))
OP(op_exp2, tn_exp2(x))
OP(op_erf, tn_erf(x))
OP(op_erfc, tn_erfc(x))
OP(op_floor, tn_floor(x))
OP(op_ceil, tn_ceil(x))
OP(op_trunc, tn_trunc(x))
OP(op_round, tn_round(x))
OP(op_sign, tn_sign(x))
OP(op_neg, tn_neg(x))
OP(op_reciprocal, tn_reciprocal(x))
OP(op_sinh, tn_sinh(x))
OP(op_cosh, tn_cosh(x))
OP(op_atan, tn_atan(x))
OP(op_log, tn_log(tn_add_Scalar(tn_abs(x), 1)))
OP(op_rsqrt, tn_rsqrt(tn_add_Scalar(tn_abs(x), 1)))
OP(op_isnan, tn_isnan(x))
OP(op_logical_xor, tn_logical_xor(x, y))
OP(op_addcmul, tn_addcmul(x, x, y, .value = tn_scalar_int(2)))
OP(op_fmax, tn_fmax(x, y))
OP(op_copysign, tn_copysign(x, y))
OP(op_hypot, tn_hypot(x, y))
#undef OP

/* Left out for the simulator's sake: sines, and complex functions with sines in them (it has no
 * mad.cc), and complex products (its cuBLAS). */
#define CHECK(name, dtypes)                                                                        \
    {                                                                                              \
#name, op_##name, dtypes                                                                   \
    }
static const check checks[] = {
    CHECK(add, EVERY),
    CHECK(sub_strided, ALL),
    CHECK(mul_broadcast, EVERY),
    CHECK(mul_every_second, ALL),
    CHECK(div, ALL),
    CHECK(promote, EVERY),
    CHECK(lt, ORDERED),
    CHECK(eq, EVERY),
    CHECK(exp, ORDERED),
    CHECK(tanh, ORDERED),
    CHECK(sigmoid, NUMBERS),
    CHECK(atan2, NUMBERS),
    CHECK(lgamma, FLOATING),
    CHECK(asinh, NUMBERS),
    CHECK(where, ORDERED),
    CHECK(where_real, EVERY),
    CHECK(maximum, ORDERED),
    CHECK(shift, INTEGRAL),
    CHECK(relu, NUMBERS),
    CHECK(silu, FLOATING),
    CHECK(square, ALL),
    CHECK(to_f32, ORDERED),
    CHECK(to_u8, NUMBERS),
    CHECK(clone_strided, EVERY),
    CHECK(floor_divide, NUMBERS),
    CHECK(div_trunc, NUMBERS),
    CHECK(remainder, NUMBERS),
    CHECK(fmod, NUMBERS),
    CHECK(pow, NUMBERS),
    CHECK(clamp, NUMBERS),
    CHECK(clamp_low, NUMBERS),
    CHECK(gelu, FLOATING),
    CHECK(gelu_tanh, FLOATING),
    CHECK(abs, ALL),
    CHECK(masked_fill, EVERY),
    CHECK(zeros, ALL),
    CHECK(full, EVERY),
    CHECK(sum, EVERY),
    CHECK(sum_0, EVERY),
    CHECK(sum_1, EVERY),
    CHECK(sum_f64, NUMBERS),
    CHECK(mean, FLOATING | COMPLEX),
    CHECK(prod, EVERY),
    CHECK(amax, ORDERED),
    CHECK(amin, ORDERED),
    CHECK(max, ORDERED),
    CHECK(argmax, ORDERED),
    CHECK(argmin, ORDERED),
    CHECK(any, EVERY),
    CHECK(all, EVERY),
    CHECK(softmax, FLOATING),
    CHECK(log_softmax, FLOATING),
    CHECK(mm, NUMBERS),
    CHECK(mm_t, NUMBERS),
    CHECK(bmm, NUMBERS),
    CHECK(addmm, NUMBERS),
    CHECK(cat, EVERY),
    CHECK(index_select, ORDERED),
    CHECK(gather, ORDERED),
    CHECK(embedding, ORDERED),
    CHECK(arange, NUMBERS),
    CHECK(host_number, ALL),
    CHECK(masked_fill_tensor, ALL),
    CHECK(pow_tensor, NUMBERS),
    CHECK(pow_base, FLOATING),
    CHECK(clamp_tensor, NUMBERS),
    CHECK(add_, ALL),
    CHECK(fill_strided, ALL),
    CHECK(zero_part, EVERY),
    CHECK(mul_out, ALL),
    CHECK(many_dims, EVERY),
    CHECK(where_number, NUMBERS),
    CHECK(expm1, NUMBERS),
    CHECK(log1p, FLOATING),
    CHECK(exp2, NUMBERS),
    CHECK(erf, NUMBERS),
    CHECK(erfc, NUMBERS),
    CHECK(floor, NUMBERS),
    CHECK(ceil, NUMBERS),
    CHECK(trunc, NUMBERS),
    CHECK(round, NUMBERS),
    CHECK(sign, NUMBERS),
    CHECK(neg, ALL),
    CHECK(reciprocal, FLOATING | COMPLEX),
    CHECK(sinh, NUMBERS),
    CHECK(cosh, NUMBERS),
    CHECK(atan, NUMBERS),
    CHECK(log, NUMBERS),
    CHECK(rsqrt, NUMBERS),
    CHECK(isnan, EVERY),
    CHECK(logical_xor, EVERY),
    CHECK(addcmul, ALL),
    CHECK(fmax, NUMBERS),
    CHECK(copysign, NUMBERS),
    CHECK(hypot, FLOATING),
};
#undef CHECK

/* Small whole numbers and quarters, so that f16 holds them; the same for each dtype. */
static tn_tensor *numbers(tn_dtype dtype, int seed)
{
    double values[210];
    for (int i = 0; i < 210; i++) {
        int v = (i * 37 + seed * 101) % 23;
        values[i] = dtype == TN_U8                        ? v % 7 + (seed == 2)
                    : tn_dtype_in(dtype, TN_DTYPES_WHOLE) ? v - 11 + (seed == 2 && v <= 11 ? -1 : 0)
                                                          : (v - 11.25) / 4;
        if (seed == 2 && values[i] == 0)
            values[i] = 1;
    }
    tn_tensor *t = NULL;
    cr_assert_eq(tn_tensor_from_data(values, TN_F64, 2, (int64_t[]){6, 35}, &t), TN_OK);
    tn_tensor *cast = tn_keep(tn__to_copy(t, .dtype = dtype));
    tn_release(t);
    cr_assert_not_null(cast, "%s", tn_error_last()->message);
    return cast;
}

/* Every pair of NaN, infinities, zeros and some numbers. */
static tn_tensor *special_numbers(tn_dtype dtype, bool second)
{
    static const double special[] = {NAN, INFINITY, -INFINITY, 0, -0.0, 1, -1, 2.5, -3.5, 7};
    double values[210];
    for (int i = 0; i < 210; i++)
        values[i] = special[(second ? i / 10 : i) % 10];
    tn_tensor *t = NULL;
    cr_assert_eq(tn_tensor_from_data(values, TN_F64, 2, (int64_t[]){6, 35}, &t), TN_OK);
    tn_tensor *cast = tn_keep(tn__to_copy(t, .dtype = dtype));
    tn_release(t);
    cr_assert_not_null(cast, "%s", tn_error_last()->message);
    return cast;
}

static double tolerance(tn_dtype dtype)
{
    switch (dtype) {
    case TN_F16:
        return 2e-3;
    case TN_BF16:
        return 1.6e-2;
    case TN_F32:
    case TN_C64:
        return 2e-6;
    case TN_F64:
    case TN_C128:
        return 1e-13;
    default:
        return 0;
    }
}

/* Compares both results as complex128 in host memory. */
static bool same(const check *c, tn_tensor *expected, tn_tensor *got, tn_dtype of)
{
    if (!expected || !got) {
        fprintf(stderr, "%s %d: %s\n", c->name, (int)of, tn_error_last()->message);
        return false;
    }
    double limit = tolerance((tn_dtype)expected->dtype);
    if (expected->dtype != got->dtype || expected->numel != got->numel)
        return false;
    tn_tensor *a = tn_contiguous(tn__to_copy(expected, .dtype = TN_C128));
    tn_tensor *b = tn_contiguous(tn__to_copy(tn__to_copy(got, .device = cpu), .dtype = TN_C128));
    if (!a || !b) {
        fprintf(stderr, "%s %d: %s\n", c->name, (int)of, tn_error_last()->message);
        return false;
    }
    const double *x = a->data, *y = b->data;
    for (int64_t i = 0; i < 2 * expected->numel; i++) {
        double scale = isinf(x[i]) ? 0 : fabs(x[i]) > 1 ? fabs(x[i]) : 1;
        if (x[i] == y[i] || (isnan(x[i]) && isnan(y[i])) || fabs(x[i] - y[i]) <= limit * scale)
            continue;
        fprintf(stderr, "%s, dtype %d: element %lld is %.17g, expected %.17g\n", c->name, (int)of,
                (long long)(i / 2), y[i], x[i]);
        return false;
    }
    return true;
}

static bool run(const check *c, tn_dtype dtype, bool special)
{
    bool ok = false;
    tn_tensor *x = special ? special_numbers(dtype, false) : numbers(dtype, 1);
    tn_tensor *y = special ? special_numbers(dtype, true) : numbers(dtype, 2);
    TN_SCOPE {
        tn_error_clear();
        tn_tensor *expected = c->fn(x, y);
        ok = same(c, expected,
                  expected ? c->fn(tn__to_copy(x, .device = cuda), tn__to_copy(y, .device = cuda))
                           : NULL,
                  dtype);
    }
    tn_release(x);
    tn_release(y);
    return ok;
}

static void run_all(void)
{
    int passed = 0, failed = 0;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        for (tn_dtype d = 0; d < TN_DTYPE_COUNT; d++)
            if (checks[i].dtypes >> d & 1)
                *(run(&checks[i], d, false) ? &passed : &failed) += 1;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        for (tn_dtype d = 0; d < TN_DTYPE_COUNT; d++)
            if (tn_dtype_in(d, checks[i].dtypes & TN_DTYPES_FLOATING))
                *(run(&checks[i], d, true) ? &passed : &failed) += 1;
    fprintf(stderr, "cuda-sim: %d passed, %d failed (a simulator on the processor, not a GPU)\n",
            passed, failed);
    cr_assert_eq(failed, 0);
}

/* A bad index is told of when the host waits: at the copy back. */
static void run_faults(void)
{
    TN_SCOPE {
        tn_tensor *x = tn_full(TN_INTS(4), 2.5, .device = cuda),
                  *at = tn_full(TN_INTS(2), 4, .dtype = TN_I64, .device = cuda);
        tn_tensor *y = tn_index_select(x, 0, at);
        cr_assert_not_null(y, "%s", tn_error_last()->message);
        cr_assert_null(tn__to_copy(y, .device = cpu));
        cr_expect_eq(tn_error_last()->status, TN_ERR_INDEX);
        cr_expect(strstr(tn_error_last()->message, "index 4, out of range for size 4"), "%s",
                  tn_error_last()->message);
        tn_error_clear();
        cr_assert_not_null(tn__to_copy(y, .device = cpu), "a fault is told once");
        tn_tensor *one = tn_full(TN_INTS(3), 1, .dtype = TN_I32, .device = cuda),
                  *zero = tn_zeros_like(one);
        cr_assert_null(tn__to_copy(tn_floor_divide(one, zero), .device = cpu));
        cr_expect(strstr(tn_error_last()->message, "zero"), "%s", tn_error_last()->message);
    }
}

/* Large enough for several blocks per row and the second launch; the reference is known. */
static void run_two_launches(void)
{
    TN_SCOPE {
        tn_tensor *x = tn_arange(100000, .dtype = TN_F64, .device = cuda);
        tn_tensor *sum = tn__to_copy(tn_sum(x), .device = cpu),
                  *mean = tn__to_copy(tn_mean(x), .device = cpu);
        tn_tensor *twice = tn__to_copy(tn_sum(tn_add(x, x)), .device = cpu);
        tn_tensor *most = tn__to_copy(tn_argmax(x), .device = cpu);
        cr_assert(sum && mean && most && twice, "%s", tn_error_last()->message);
        cr_expect_eq(*(double *)sum->data, 4999950000.0);
        cr_expect_eq(*(double *)mean->data, 49999.5);
        cr_expect_eq(*(double *)twice->data, 9999900000.0);
        cr_expect_eq(*(int64_t *)most->data, 99999);
    }
}

Test(cuda_simulator, child, .timeout = 300)
{
    if (!getenv("TENON_CUDASIM_CHILD"))
        return;
    cr_assert(cuda_test_load());
    run_all();
    run_faults();
    run_two_launches();
}

Test(cuda_simulator, operators_agree_with_cpu, .timeout = 600)
{
    if (getenv("TENON_CUDASIM_CHILD") || !cuda_test_load())
        return;
    if (!cuda_test_is_plain()) {
        fprintf(stderr,
                "skipped: the simulator reads uncompressed device code only; configure with "
                "-DTENON_CUDA_PLAIN=ON\n");
        return;
    }
    const char *directory = cuda_test_simulator();
    if (!directory)
        return;
    char command[8192], self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    cr_assert(n > 0);
    self[n] = '\0';
    /* BXFI_MAP would tell the new process that it is a worker of this Criterion run. */
    snprintf(command, sizeof command,
             "env -u BXFI_MAP TENON_CUDASIM_CHILD=1 OPENBLAS_NUM_THREADS=1 "
             "LD_LIBRARY_PATH='%s':$LD_LIBRARY_PATH '%s' --filter cuda_simulator/child >&2",
             directory, self);
    cr_assert_eq(system(command), 0);
}

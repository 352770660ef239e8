/* faults.c - a plugin that is wrong on purpose, in one way at a time: TENON_FAULT names the fault
 * (faults.h), and its kernel replaces the cpu plugin's by rank. "none" is a right kernel, which
 * must pass. Kernels are for the dtype that faults.h gives; written over several lines each,
 * because they are meant to be read beside the harness that catches them. */
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/frames.h>
#include <tenon/plugin.h>

#include "faults.h"

typedef const int64_t *strides;

static float *out_at(char *const *p, strides s, int64_t i)
{
    return (float *)(p[0] + i * s[0]);
}

static float in_at(char *const *p, strides s, int k, int64_t i)
{
    return *(const float *)(p[k] + i * s[k]);
}

static float relu_of(float x)
{
    return x < 0 ? 0 : x;
}

/* ---- inner loops ----------------------------------------------------------------------------- */
static void loop_none(char *const *p, strides s, int64_t n, const void *params)
{
    (void)params;
    for (int64_t i = 0; i < n; i++)
        *out_at(p, s, i) = relu_of(in_at(p, s, 1, i));
}

static void loop_tail(char *const *p, strides s, int64_t n, const void *params)
{
    loop_none(p, s, n & ~INT64_C(3), params);
}

static void loop_stale(char *const *p, strides s, int64_t n, const void *params)
{
    static int calls;
    if (calls++ == 0)
        loop_none(p, s, n, params);
}

static void loop_unwritten(char *const *p, strides s, int64_t n, const void *params)
{
    (void)p, (void)s, (void)n, (void)params;
}

static void loop_rounding(char *const *p, strides s, int64_t n, const void *params)
{
    (void)params;
    for (int64_t i = 0; i < n; i++) {
        double exact = (double)in_at(p, s, 1, i) * in_at(p, s, 2, i);
        float r = (float)exact;
        *out_at(p, s, i) = fabs((double)r) > fabs(exact) ? nextafterf(r, 0) : r;
    }
}

static void loop_swapped(char *const *p, strides s, int64_t n, const void *params)
{
    (void)params;
    for (int64_t i = 0; i < n; i++)
        *out_at(p, s, i) = in_at(p, s, 2, i) - in_at(p, s, 1, i);
}

static void loop_no_alpha(char *const *p, strides s, int64_t n, const void *params)
{
    (void)params;
    for (int64_t i = 0; i < n; i++)
        *out_at(p, s, i) = in_at(p, s, 1, i) + in_at(p, s, 2, i);
}

static void loop_ignored_stride(char *const *p, strides s, int64_t n, const void *params)
{
    (void)params;
    for (int64_t i = 0; i < n; i++)
        *out_at(p, s, i) = relu_of(((const float *)p[1])[i]);
}

static void loop_short_stride(char *const *p, strides s, int64_t n, const void *params)
{
    int64_t cut[2] = {s[0], s[1] & 0x7fffffff};
    loop_none(p, cut, n, params);
}

static void loop_overflow(char *const *p, strides s, int64_t n, const void *params)
{
    int64_t alpha = *(const int64_t *)params;
    for (int64_t i = 0; i < n; i++) {
        uint32_t a = (uint32_t) * (const int64_t *)(p[1] + i * s[1]),
                 b = (uint32_t) * (const int64_t *)(p[2] + i * s[2]);
        *(int64_t *)(p[0] + i * s[0]) = (int32_t)(a + (uint32_t)alpha * b);
    }
}

static void loop_saturates(char *const *p, strides s, int64_t n, const void *params)
{
    int64_t alpha = *(const int64_t *)params;
    for (int64_t i = 0; i < n; i++) {
        int64_t r = *(const int32_t *)(p[1] + i * s[1]) +
                    alpha * *(const int32_t *)(p[2] + i * s[2]);
        *(int32_t *)(p[0] + i * s[0]) = r > INT32_MAX   ? INT32_MAX
                                        : r < INT32_MIN ? INT32_MIN
                                                        : (int32_t)r;
    }
}

static void loop_drops_nan(char *const *p, strides s, int64_t n, const void *params)
{
    (void)params;
    for (int64_t i = 0; i < n; i++)
        *out_at(p, s, i) = in_at(p, s, 1, i) > 0 ? in_at(p, s, 1, i) : 0;
}

static void loop_clips_infinity(char *const *p, strides s, int64_t n, const void *params)
{
    loop_none(p, s, n, params);
    for (int64_t i = 0; i < n; i++)
        if (isinf(*out_at(p, s, i)))
            *out_at(p, s, i) = FLT_MAX;
}

static void set_all(char *const *p, strides s, int64_t n, float value)
{
    for (int64_t i = 0; i < n; i++)
        *out_at(p, s, i) = value;
}

static void loop_all_nan(char *const *p, strides s, int64_t n, const void *params)
{
    (void)params;
    set_all(p, s, n, NAN);
}

static void loop_all_thousand(char *const *p, strides s, int64_t n, const void *params)
{
    (void)params;
    set_all(p, s, n, 1000);
}

static void loop_all_zero(char *const *p, strides s, int64_t n, const void *params)
{
    (void)params;
    set_all(p, s, n, 0);
}

static void loop_modified_input(char *const *p, strides s, int64_t n, const void *params)
{
    loop_none(p, s, n, params);
    if (n > 0)
        *(float *)p[1] += 1;
}

static void loop_past_end(char *const *p, strides s, int64_t n, const void *params)
{
    loop_none(p, s, n, params);
    *out_at(p, s, n) = 1;
}

static void loop_before_begin(char *const *p, strides s, int64_t n, const void *params)
{
    loop_none(p, s, n, params);
    ((float *)p[0])[-1] = 1;
}

static void loop_in_gaps(char *const *p, strides s, int64_t n, const void *params)
{
    loop_none(p, s, n, params);
    for (int64_t i = 0; i < n && s[0] == 8; i++)
        out_at(p, s, i)[1] = 1;
}

static void loop_out_differs(char *const *p, strides s, int64_t n, const void *params)
{
    (void)params;
    for (int64_t i = 0; i < n; i++)
        *out_at(p, s, i) = relu_of(in_at(p, s, 1, i)) +
                           (*out_at(p, s, i) < -70 && *out_at(p, s, i) > -90 ? 1 : 0);
}

static void loop_unsteady(char *const *p, strides s, int64_t n, const void *params)
{
    static int calls;
    float towards = calls++ % 2 ? INFINITY : 0;
    (void)params;
    for (int64_t i = 0; i < n; i++)
        *out_at(p, s, i) = nextafterf(expf(in_at(p, s, 1, i)), isfinite(expf(in_at(p, s, 1, i)))
                                                                   ? towards
                                                                   : expf(in_at(p, s, 1, i)));
}

/* ---- kernels --------------------------------------------------------------------------------- */
static tn_status run(tn_call *call, tn_loop_fn loop, const void *params)
{
    return tn->iter_run(call, call->iter, loop, params);
}

#define LOOP(name, op)                                                                             \
    static tn_status name(tn_call *call, struct tn_##op##_args *a)                                 \
    {                                                                                              \
        (void)a;                                                                                   \
        return run(call, loop_##name, NULL);                                                       \
    }
LOOP(none, relu)
LOOP(tail, relu)
LOOP(stale, relu)
LOOP(unwritten, relu)
LOOP(rounding, mul_Tensor)
LOOP(swapped, sub_Tensor)
LOOP(no_alpha, add_Tensor)
LOOP(ignored_stride, relu)
LOOP(short_stride, relu)
LOOP(drops_nan, relu)
LOOP(clips_infinity, relu)
LOOP(all_nan, relu)
LOOP(all_thousand, relu)
LOOP(all_zero, exp)
LOOP(modified_input, relu)
LOOP(past_end, relu)
LOOP(before_begin, relu)
LOOP(in_gaps, relu)
LOOP(out_differs, relu)
LOOP(unsteady, exp)

static tn_status overflow(tn_call *call, struct tn_add_Tensor_args *a)
{
    return run(call, loop_overflow, &a->alpha.v.i);
}

static tn_status saturates(tn_call *call, struct tn_add_Tensor_args *a)
{
    return run(call, loop_saturates, &a->alpha.v.i);
}

static tn_status undeclared(tn_call *call, struct tn_relu_args *a)
{
    return none(call, a);
}

static tn_status lies(tn_call *call, struct tn_relu_args *a)
{
    (void)a;
    return tn->fail(call, TN_ERR_UNSUPPORTED, "relu is not done here after all");
}

static tn_status claims_nothing(tn_call *call, struct tn_relu_args *a)
{
    return lies(call, a);
}

static tn_status unclear(tn_call *call, struct tn_relu_args *a)
{
    (void)a;
    return tn->fail(call, TN_ERR_UNSUPPORTED, "sorry\nnot today");
}

static tn_status always_fails(tn_call *call, struct tn_relu_args *a)
{
    (void)a;
    return tn->fail(call, TN_ERR_INTERNAL, "the device has gone away");
}

static tn_status bad_status(tn_call *call, struct tn_relu_args *a)
{
    (void)call, (void)a;
    return 77;
}

static tn_status inplace_differs(tn_call *call, struct tn_relu_args *a)
{
    TN_TRY(none(call, a));
    if (a->result == a->self && a->self->numel)
        *(float *)a->self->data += 1;
    return TN_OK;
}

static pthread_t caller;

static void piece(void *arg, int64_t begin, int64_t end)
{
    struct tn_exp_args *a = arg;
    float *out = a->result->data;
    const float *in = a->self->data;
    for (int64_t i = begin; i < end; i++)
        out[i] = expf(in[i]);
    if (!pthread_equal(caller, pthread_self()))
        out[begin] = nextafterf(out[begin], 0);
}

static void loop_exp(char *const *p, strides s, int64_t n, const void *params)
{
    (void)params;
    for (int64_t i = 0; i < n; i++)
        *out_at(p, s, i) = expf(in_at(p, s, 1, i));
}

static tn_status by_thread(tn_call *call, struct tn_exp_args *a)
{
    caller = pthread_self();
    bool large = a->self->numel > 10000 && a->self->flags & a->result->flags & TN_TENSOR_CONTIGUOUS;
    return large ? tn->parallel_for(call, a->self->numel, 1000, piece, a)
                 : run(call, loop_exp, NULL);
}

static tn_status crash(tn_call *call, struct tn_relu_args *a)
{
    (void)call, (void)a;
    abort();
}

static tn_status late_crash(tn_call *call, struct tn_relu_args *a)
{
    static int calls;
    if (++calls == 40)
        abort();
    return none(call, a);
}

static tn_status ends_process(tn_call *call, struct tn_relu_args *a)
{
    (void)call, (void)a;
    _Exit(0);
}

static tn_status hang(tn_call *call, struct tn_relu_args *a)
{
    (void)call, (void)a;
    for (volatile int i = 0;; i++)
        ;
    return TN_OK;
}

static tn_status accepts_bad_index(tn_call *call, struct tn_gather_args *a)
{
    (void)call;
    if (a->result->numel && a->result->flags & TN_TENSOR_CONTIGUOUS)
        memset(a->result->data, 0, (size_t)a->result->numel * 4);
    return TN_OK;
}

static tn_status leaves_written(tn_call *call, struct tn_gather_args *a)
{
    if (a->index->numel && *(const int64_t *)a->index->data == 5) {
        *(float *)a->self->data += 1;
        return tn->fail(call, TN_ERR_INDEX, "index 5 is out of range");
    }
    return accepts_bad_index(call, a);
}

/* ---- plain operators ------------------------------------------------------------------------- */
static tn_status shares_input(tn_call *call, struct tn_clone_args *a)
{
    (void)call;
    tn->tensor_retain(a->self);
    a->result = a->self;
    return TN_OK;
}

static tn_status no_result(tn_call *call, struct tn_clone_args *a)
{
    (void)call, (void)a;
    return TN_OK;
}

static tn_status wrong_dtype(tn_call *call, struct tn_clone_args *a)
{
    return tn->tensor_new(call, a->self->ndim, a->self->sizes, TN_F64, a->self->device, &a->result);
}

static tn_status wrong_shape(tn_call *call, struct tn_clone_args *a)
{
    return tn->tensor_new(call, 1, &a->self->numel, a->self->dtype, a->self->device, &a->result);
}

static tn_status wrong_strides(tn_call *call, struct tn_clone_args *a)
{
    int64_t strides[TN_MAX_DIMS], next = 1;
    for (int d = 0; d < a->self->ndim; d++) {
        strides[d] = next;
        next *= a->self->sizes[d] ? a->self->sizes[d] : 1;
    }
    return tn->tensor_new_strided(call, a->self->ndim, a->self->sizes, strides, a->self->dtype,
                                  a->self->device, &a->result);
}

static tn_status copies_view(tn_call *call, struct tn_t_args *a)
{
    int64_t sizes[2] = {a->self->ndim == 2 ? a->self->sizes[1] : a->self->numel, a->self->sizes[0]};
    return tn->tensor_new(call, a->self->ndim, sizes, a->self->dtype, a->self->device, &a->result);
}

/* ---- registration ---------------------------------------------------------------------------- */
#define FAULTY(op, key_, kernel, dtypes_)                                                          \
    {                                                                                              \
        .schema = TN_SCHEMA_##op, .key = key_, .fn = TN_KERNEL_FN(op, kernel), .rank = 100,        \
        .frame_size = (uint32_t)sizeof(struct tn_##op##_args), .dtypes = dtypes_                   \
    }
static const struct {
    const char *fault;
    tn_kernel_decl kernel;
} kernels[] = {
    {"none", FAULTY(relu, "CPU", none, 0)},
    {"tail", FAULTY(relu, "CPU", tail, 0)},
    {"stale", FAULTY(relu, "CPU", stale, 0)},
    {"unwritten", FAULTY(relu, "CPU", unwritten, 0)},
    {"rounding", FAULTY(mul_Tensor, "CPU", rounding, 0)},
    {"swapped", FAULTY(sub_Tensor, "CPU", swapped, 0)},
    {"no_alpha", FAULTY(add_Tensor, "CPU", no_alpha, 0)},
    {"ignored_stride", FAULTY(relu, "CPU", ignored_stride, 0)},
    {"short_stride", FAULTY(relu, "CPU", short_stride, 0)},
    {"overflow", FAULTY(add_Tensor, "CPU", overflow, 0)},
    {"saturates", FAULTY(add_Tensor, "CPU", saturates, 0)},
    {"drops_nan", FAULTY(relu, "CPU", drops_nan, 0)},
    {"clips_infinity", FAULTY(relu, "CPU", clips_infinity, 0)},
    {"lies", FAULTY(relu, "CPU", lies, 0)},
    {"undeclared", FAULTY(relu, "CPU", undeclared, TN_DTYPE_BIT(TN_F64))},
    {"claims_nothing", FAULTY(relu, "CPU", claims_nothing, TN_DTYPE_BIT(TN_BOOL))},
    {"unclear", FAULTY(relu, "CPU", unclear, 0)},
    {"always_fails", FAULTY(relu, "CPU", always_fails, 0)},
    {"bad_status", FAULTY(relu, "CPU", bad_status, 0)},
    {"all_nan", FAULTY(relu, "CPU", all_nan, 0)},
    {"all_thousand", FAULTY(relu, "CPU", all_thousand, 0)},
    {"all_zero", FAULTY(exp, "CPU", all_zero, 0)},
    {"modified_input", FAULTY(relu, "CPU", modified_input, 0)},
    {"past_end", FAULTY(relu, "CPU", past_end, 0)},
    {"before_begin", FAULTY(relu, "CPU", before_begin, 0)},
    {"in_gaps", FAULTY(relu, "CPU", in_gaps, 0)},
    {"inplace_differs", FAULTY(relu, "CPU", inplace_differs, 0)},
    {"out_differs", FAULTY(relu, "CPU", out_differs, 0)},
    {"unsteady", FAULTY(exp, "CPU", unsteady, 0)},
    {"by_thread", FAULTY(exp, "CPU", by_thread, 0)},
    {"crash", FAULTY(relu, "CPU", crash, 0)},
    {"late_crash", FAULTY(relu, "CPU", late_crash, 0)},
    {"ends_process", FAULTY(relu, "CPU", ends_process, 0)},
    {"hang", FAULTY(relu, "CPU", hang, 0)},
    {"accepts_bad_index", FAULTY(gather, "CPU", accepts_bad_index, 0)},
    {"leaves_written", FAULTY(gather, "CPU", leaves_written, 0)},
    {"shares_input", FAULTY(clone, "CPU", shares_input, 0)},
    {"copies_view", FAULTY(t, "CPU", copies_view, 0)},
    {"wrong_dtype", FAULTY(clone, "CPU", wrong_dtype, 0)},
    {"wrong_shape", FAULTY(clone, "Meta", wrong_shape, 0)},
    {"wrong_strides", FAULTY(clone, "Meta", wrong_strides, 0)},
    {"no_result", FAULTY(clone, "CPU", no_result, 0)},
};

static tn_status start(tn_registry *r)
{
    const char *fault = getenv("TENON_FAULT");
    for (size_t i = 0; fault && i < TN_COUNT(kernels); i++)
        if (strcmp(kernels[i].fault, fault) == 0)
            return tn->register_kernels(r, &kernels[i].kernel, 1);
    return tn->fail(NULL, TN_ERR_PLUGIN, "TENON_FAULT names no fault: '%.40s'", fault ? fault : "");
}

TN_PLUGIN("faults", "1.0.0", start, NULL);

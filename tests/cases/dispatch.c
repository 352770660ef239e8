/* dispatch.c - the case bank's dispatch area, as far as its parts exist: BB-disp-03, an operator
 * without a derivative; BB-disp-04 for a fallback that stands between a call and its kernel, for
 * autograd, and for autocast. Its functionalisation half waits for that layer. */
#include "case_test.h"

#include <tenon/autocast.h>
#include <tenon/autograd.h>
#include <tenon/op.h>

#include "core/dispatch/registry.h"
#include "core/plugin/plugin.h"

TestSuite(dispatch, .init = case_begin, .fini = case_end, .timeout = 30);

static tn__plugin between = {.name = "between", .version = "1", .text = "between 1 (/between.so)"};
static int passed;

/* Looks at the frame of any operator, as a device-copy fallback or a profiler does, and passes it
 * on. */
static tn_status look_and_pass_on(tn_call *call, void *frame)
{
    passed++;
    uint64_t excluded = tn__keys_tls.exclude;
    tn__keys_tls.exclude |= TN__KEY(TN__BIT_TRACER);
    tn_status status = tn_op_call_at(call->op, frame, call->file, call->line);
    tn__keys_tls.exclude = excluded;
    return status;
}

/* The written argument reaches the kernel itself, never a copy: the update is seen by the
 * caller. */
Test(dispatch, BB_disp_04_a_fallback_keeps_written_arguments)
{
    const tn_kernel_decl fallback = {.schema = "*", .key = "Tracer", .fn = look_and_pass_on};
    tn_registry r;
    tn__registry_begin(&r, &between);
    tn__registry_kernels(&r, &fallback, 1);
    cr_assert_eq(tn__registry_commit(&r), TN_OK, "%s", tn_error_last()->message);
    tn_tensor *x = case_tensor(TN_F16, TN_INTS(3), CASE_VALUES(1, 2, 3));
    tn_tensor *y = case_tensor(TN_F16, TN_INTS(3), CASE_VALUES(10, 20, 30)),
              *out = tn_zeros(TN_INTS(0), .dtype = TN_F32);
    tn__keys_tls.include = TN__KEY(TN__BIT_TRACER);
    tn_tensor *inplace = tn_add_(x, y), *given = tn_mul_out(x, y, out);
    tn_tensor *refused = tn_add_(case_tensor(TN_I32, TN_INTS(3), CASE_VALUES(1, 2, 3)), y);
    tn__keys_tls.include = 0;
    cr_assert_eq(inplace, x);
    cr_assert_eq(given, out);
    cr_assert_geq(passed, 3);
    CASE_FAILS(refused, "cast");
    CASE_EXPECT(x, TN_F16, TN_INTS(3), 11, 22, 33);
    CASE_EXPECT(out, TN_F32, TN_INTS(3), 110, 440, 990);
    tn__registry_remove(&between);
    const char *how = NULL;
    tn_op_server(tn_op_find("add_.Tensor"), "Tracer", &how);
    cr_assert_str_eq(how, "fallthrough");
}

/* Recording writes the argument itself, too, whatever dtype it was promoted to in between. */
Test(dispatch, BB_disp_04_autograd_keeps_written_arguments)
{
    tn_tensor *w = case_tensor(TN_F32, TN_INTS(3), CASE_VALUES(1, 2, 3));
    tn_tensor *x = case_tensor(TN_F16, TN_INTS(3), CASE_VALUES(10, 20, 30)), *whole = tn_clone(x);
    cr_assert_eq(tn_set_requires_grad(w, true), TN_OK);
    cr_assert_eq(tn_add_(tn_narrow(x, 0, 1, 2), tn_narrow(w, 0, 0, 2)) != NULL, true);
    CASE_EXPECT(x, TN_F16, TN_INTS(3), 10, 21, 32);
    cr_assert(tn_requires_grad(x));
    TN_NO_GRAD {
        cr_assert_eq(tn_mul_out(whole, w, whole), whole);
    }
    CASE_EXPECT(whole, TN_F16, TN_INTS(3), 10, 40, 90);
    cr_assert_eq(tn_backward_from(tn_sum(x)), TN_OK, "%s", tn_error_last()->message);
    CASE_EXPECT(tn_grad(w), TN_F32, TN_INTS(3), 1, 1, 0);
}

/* ---- a layer that casts ---------------------------------------------------------------------- */
/* A training step of batch_norm, in float32 under autocast. */
static void train(tn_tensor *x, tn_tensor *mean, tn_tensor *var)
{
    tn_tensor *y = tn_batch_norm(x, NULL, NULL, mean, var, true, 0.5, 1e-5, false);
    cr_assert_not_null(y, "%s", tn_error_last()->message);
    cr_assert_eq(y->dtype, TN_F32);
}

Test(dispatch, BB_disp_04_autocast_updates_running_statistics)
{
    static const tn_dtype dtypes[] = {TN_F16, TN_BF16, TN_F32};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        tn_dtype d = dtypes[i];
        tn_tensor *x = case_tensor(d, TN_INTS(2, 2), CASE_VALUES(1, 10, 3, 30));
        tn_tensor *mean = case_tensor(d, TN_INTS(2), CASE_VALUES(4, 8));
        tn_tensor *var = case_tensor(d, TN_INTS(2), CASE_VALUES(2, 4));
        uint32_t version = tn_tensor_version(mean);
        TN_AUTOCAST (TN_CPU, d == TN_F16 ? TN_F16 : TN_BF16) {
            train(x, mean, var);
        }
        CASE_EXPECT(mean, d, TN_INTS(2), 3, 14);
        CASE_EXPECT(var, d, TN_INTS(2), 2, 102);
        cr_assert_eq(tn_tensor_version(mean), version + 1);
    }
}

Test(dispatch, BB_disp_04_autocast_keeps_written_arguments)
{
    tn_tensor *x = case_tensor(TN_F32, TN_INTS(1, 2), CASE_VALUES(1, 2));
    tn_tensor *half = case_tensor(TN_BF16, TN_INTS(2, 1), CASE_VALUES(3, 4));
    tn_tensor *sum = case_tensor(TN_F32, TN_INTS(1, 1), CASE_VALUES(4096)), *view = tn_t(sum);
    tn_tensor *wide = tn_zeros(TN_INTS(1, 1)), *narrow = tn_zeros(TN_INTS(0), .dtype = TN_F16);
    TN_AUTOCAST (TN_CPU, TN_BF16) {
        cr_assert_eq(tn_addmm_(view, x, half), view, "%s", tn_error_last()->message);
        cr_assert_eq(tn_mm_out(x, half, wide), wide, "%s", tn_error_last()->message);
        cr_assert_eq(tn_mm_out(x, half, narrow), narrow, "%s", tn_error_last()->message);
        cr_assert_eq(tn_exp_(x), x);
    }
    CASE_EXPECT(sum, TN_F32, TN_INTS(1, 1), 4107);
    CASE_EXPECT(wide, TN_F32, TN_INTS(1, 1), 11);
    CASE_EXPECT(narrow, TN_F16, TN_INTS(1, 1), 11);
    CASE_EXPECT(x, TN_F32, TN_INTS(1, 2), expf(1), expf(2));
}

/* ---- an operator without a derivative -------------------------------------------------------- */
typedef struct f_args { /* of case::f, case::f_ and case::composite */
    tn_frame frame;
    tn_tensor *result, *x;
} f_args;

static tn_status double_kernel(tn_call *call, void *frame)
{
    f_args *a = frame;
    (void)call;
    return tn_call_mul_Scalar(a->x, tn_scalar_int(2), &a->result);
}

static tn_status double_inplace_kernel(tn_call *call, void *frame)
{
    f_args *a = frame;
    (void)call;
    return tn_call_mul__Scalar(a->x, tn_scalar_int(2), &a->result);
}

static tn_tensor *call_op(const char *name, tn_tensor *x)
{
    const tn_op *op = tn_op_find(name);
    f_args a = {{sizeof a, 0}, NULL, x};
    cr_assert_not_null(op, "%s", name);
    return tn_op_call(op, &a) == TN_OK ? tn_scoped(a.result) : NULL;
}

static void register_f(void)
{
#define F(name) "case::" name "(Tensor x) -> Tensor"
#define F_ "case::f_(Tensor(a!) x) -> Tensor(a!)"
    const tn_op_decl ops[] = {{.schema = F("f")}, {.schema = F_}, {.schema = F("composite")}};
    const tn_kernel_decl kernels[] = {
        {.schema = F("f"), .key = "CPU", .fn = double_kernel, .frame_size = sizeof(f_args)},
        {.schema = F_, .key = "CPU", .fn = double_inplace_kernel, .frame_size = sizeof(f_args)},
        {.schema = F("composite"),
         .key = "CompositeImplicitAutograd",
         .fn = double_kernel,
         .frame_size = sizeof(f_args)}};
    tn_registry r;
    tn__registry_begin(&r, &between);
    tn__registry_ops(&r, ops, 3);
    tn__registry_kernels(&r, kernels, 3);
    cr_assert_eq(tn__registry_commit(&r), TN_OK, "%s", tn_error_last()->message);
}

/* The result requires a gradient, and backward says that there is none, and of which operator. */
static void expect_no_derivative(tn_tensor *y, const char *name)
{
    cr_assert_not_null(y, "%s", tn_error_last()->message);
    cr_assert(tn_requires_grad(y), "%s cuts the graph", name);
    cr_assert_neq(tn_backward_from(tn_sum(tn_mul(y, 1))), TN_OK);
    const char *message = tn_error_last()->message;
    cr_assert(strstr(message, name) && strstr(message, "not implemented"), "%s", message);
    tn_error_clear();
}

Test(dispatch, BB_disp_03)
{
    register_f();
    tn_tensor *x = case_tensor(TN_F32, TN_INTS(2), CASE_VALUES(3, 4));
    cr_assert_eq(tn_set_requires_grad(x, true), TN_OK);
    tn_tensor *y = call_op("case::f", x);
    CASE_EXPECT(y, TN_F32, TN_INTS(2), 6, 8);
    expect_no_derivative(y, "case::f");
    expect_no_derivative(call_op("case::f_", tn_mul(x, 1)), "case::f_");
    cr_assert_null(tn_grad(x));
    TN_NO_GRAD {
        cr_assert(!tn_requires_grad(call_op("case::f", x)));
    }
    TN_INFERENCE_MODE {
        cr_assert(!tn_requires_grad(call_op("case::f", x)));
    }
    cr_assert_eq(tn_backward_from(tn_sum(call_op("case::composite", x))), TN_OK);
    CASE_EXPECT(tn_grad(x), TN_F32, TN_INTS(2), 2, 2);
    tn__registry_remove(&between);
}

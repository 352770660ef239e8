/* dispatch.c - the case bank's dispatch area, as far as its parts exist: BB-disp-04 for a fallback
 * that stands between a call and its kernel. Its autocast and functionalisation halves, and
 * BB-disp-03 (what an operator without a derivative does under autograd), wait for those layers. */
#include "case_test.h"

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

/* Inner loops of a plugin whose compiler knew fewer dtypes: those that there are serve small calls, and
 * behind them nothing is read. */
#include "registry_test.h"

#include <stdlib.h>

TestSuite(loops, .timeout = 60);

struct twice_args {
    tn_frame frame;
    tn_tensor *result, *self;
};
static const tn_op_decl twice_op = {.schema = "rt::twice(Tensor self) -> Tensor",
                                    .pointwise = TN_POINTWISE};

static int by_loop, by_kernel;

static void loop(char *const *data, const int64_t *strides, int64_t n, const void *params)
{
    (void)strides, (void)n, (void)params;
    *(float *)data[0] = 2 * *(const float *)data[1];
    by_loop++;
}

static tn_status kernel(tn_call *call, void *frame)
{
    struct twice_args *a = frame;
    (void)call;
    if (a->self->dtype == TN_F64)
        *(double *)a->result->data = 2 * *(const double *)a->self->data;
    by_kernel++;
    return TN_OK;
}

static void call_twice(const void *x, tn_dtype dtype)
{
    struct twice_args a = {.frame = {sizeof a, 0}};
    const int64_t one = 1;
    cr_assert_eq(tn_tensor_from_data(x, dtype, 1, &one, &a.self), TN_OK);
    cr_assert_eq(tn_op_call(tn_op_find("rt::twice"), &a), TN_OK, "%s", tn_error_last()->message);
    cr_assert_eq(a.result->dtype, dtype);
    if (dtype == TN_F32)
        cr_assert_eq(*(float *)a.result->data, 6);
    else
        cr_assert_eq(*(double *)a.result->data, 6);
    tn_release(a.result);
    tn_release(a.self);
}

Test(loops, fewer_than_there_are_dtypes)
{
    tn__plugin plugin = test_plugin("older 1 (/older.so)");
    const float f = 3;
    const double d = 3;
    enum { KNOWN = TN_F32 + 1 };
    tn_loop_fn *loops = calloc(KNOWN, sizeof *loops); /* the address sanitizer looks behind it */
    loops[TN_F32] = loop;
    tn_kernel_decl k = {.schema = twice_op.schema,
                        .key = "CPU",
                        .fn = kernel,
                        .loops = loops,
                        .loops_count = KNOWN};
    cr_assert_eq(register_all(&plugin, &twice_op, 1, &k, 1), TN_OK, "%s", tn_error_last()->message);
    call_twice(&f, TN_F32);
    cr_assert(by_loop == 1 && by_kernel == 0);
    call_twice(&d, TN_F64);
    cr_assert(by_loop == 1 && by_kernel == 1);
    free(loops);
    call_twice(&f, TN_F32);
    cr_assert(by_loop == 2);
}

/* As a plugin of revision 1 declares them, which did not say how many there are. */
Test(loops, as_many_as_in_revision_1)
{
    tn__plugin plugin = test_plugin("older 1 (/older.so)");
    const float f = 3;
    static const tn_loop_fn loops[12] = {[TN_F32] = loop};
    tn_kernel_decl k = {.schema = twice_op.schema, .key = "CPU", .fn = kernel, .loops = loops};
    cr_assert_eq(register_all(&plugin, &twice_op, 1, &k, 1), TN_OK);
    call_twice(&f, TN_F32);
    cr_assert(by_loop == 1 && by_kernel == 0);
}

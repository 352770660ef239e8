/* bench_dispatch.c - the suite `dispatch`: what small calls cost, made as a user makes them.
 *
 * Operands are so small that the arithmetic is nothing: what is measured is dispatch, checks, the
 * result's tensor and its release. bench::noop, from a plugin of its own, is the bare dispatch. */
#include "bench_impl.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>

#include <tenon/op.h>
#include <tenon/ops.h>
#include <tenon/runtime.h>

#include "bench_plugin/noop.h"

static tn_tensor *a1, *b1, *out1, *i1, *m16; /* f32 [1] three times, i32 [1], f32 [16, 16] */
static const tn_op *noop_op;

#define CHECK(call)                                                                                \
    do {                                                                                           \
        tn_status status_ = (call);                                                                \
        if (status_ != TN_OK)                                                                      \
            return status_;                                                                        \
    } while (0)

static tn_status noop(int64_t n)
{
    tn_tensor *r;
    for (int64_t i = 0; i < n; i++) {
        CHECK(bench_noop(noop_op, a1, &r));
        tn_release(r);
    }
    return TN_OK;
}

static tn_status add(int64_t n)
{
    tn_tensor *r;
    for (int64_t i = 0; i < n; i++) {
        CHECK(tn_call_add_Tensor(a1, b1, tn_scalar_int(1), &r));
        tn_release(r);
    }
    return TN_OK;
}

static tn_status add_expression(int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        TN_SCOPE {
            if (!tn_add(a1, b1, .alpha = TN_NUM(1)))
                return tn_error_last()->status;
        }
    return TN_OK;
}

static tn_status add_out(int64_t n)
{
    tn_tensor *r;
    for (int64_t i = 0; i < n; i++) {
        CHECK(tn_call_add_out(a1, b1, tn_scalar_int(1), out1, &r));
        tn_release(r);
    }
    return TN_OK;
}

static tn_status add_inplace(int64_t n)
{
    tn_tensor *r;
    for (int64_t i = 0; i < n; i++) {
        CHECK(tn_call_add__Tensor(out1, b1, tn_scalar_int(1), &r));
        tn_release(r);
    }
    return TN_OK;
}

static tn_status add_scalar(int64_t n)
{
    tn_tensor *r;
    for (int64_t i = 0; i < n; i++) {
        CHECK(tn_call_add_Scalar(a1, tn_scalar_float(1), tn_scalar_int(1), &r));
        tn_release(r);
    }
    return TN_OK;
}

static tn_status add_promote(int64_t n)
{
    tn_tensor *r;
    for (int64_t i = 0; i < n; i++) {
        CHECK(tn_call_add_Tensor(i1, b1, tn_scalar_int(1), &r));
        tn_release(r);
    }
    return TN_OK;
}

static tn_status relu(int64_t n)
{
    tn_tensor *r;
    for (int64_t i = 0; i < n; i++) {
        CHECK(tn_call_relu(a1, &r));
        tn_release(r);
    }
    return TN_OK;
}

static tn_status transpose(int64_t n)
{
    tn_tensor *r;
    for (int64_t i = 0; i < n; i++) {
        CHECK(tn_call_transpose_int(m16, 0, 1, &r));
        tn_release(r);
    }
    return TN_OK;
}

static tn_status empty(int64_t n)
{
    tn_tensor *r;
    for (int64_t i = 0; i < n; i++) {
        CHECK(tn_call_empty_memory_format(TN_INTS(1), TN_F32, TN_LAYOUT_NONE,
                                          (tn_device){TN_CPU, -1}, -1, TN_FORMAT_NONE, &r));
        tn_release(r);
    }
    return TN_OK;
}

static tn_status clone(int64_t n)
{
    tn_tensor *r;
    for (int64_t i = 0; i < n; i++) {
        CHECK(tn_call_clone(a1, TN_FORMAT_NONE, &r));
        tn_release(r);
    }
    return TN_OK;
}

static tn_status sum(int64_t n)
{
    tn_tensor *r;
    for (int64_t i = 0; i < n; i++) {
        CHECK(tn_call_sum(a1, TN_DTYPE_NONE, &r));
        tn_release(r);
    }
    return TN_OK;
}

static tn_status mm16(int64_t n)
{
    tn_tensor *r;
    for (int64_t i = 0; i < n; i++) {
        CHECK(tn_call_mm(m16, m16, &r));
        tn_release(r);
    }
    return TN_OK;
}

static tn_status linear16(int64_t n)
{
    tn_tensor *r;
    for (int64_t i = 0; i < n; i++) {
        CHECK(tn_call_linear(m16, m16, NULL, &r));
        tn_release(r);
    }
    return TN_OK;
}

static const bench_case cases[] = {
    {.name = "noop", .run = noop, .goal = 60},
    {.name = "add", .run = add, .goal = 400},
    {.name = "add_expression", .run = add_expression},
    {.name = "add_out", .run = add_out, .goal = 250},
    {.name = "add_", .run = add_inplace, .goal = 250},
    {.name = "add_scalar", .run = add_scalar, .goal = 500},
    {.name = "add_promote", .run = add_promote, .goal = 700},
    {.name = "relu", .run = relu},
    {.name = "transpose", .run = transpose, .goal = 150},
    {.name = "empty", .run = empty, .goal = 150},
    {.name = "clone", .run = clone},
    {.name = "sum", .run = sum, .goal = 700},
    {.name = "mm16", .run = mm16, .goal = 3000},
    {.name = "linear16", .run = linear16, .goal = 4000},
};
enum { CASES = sizeof cases / sizeof *cases };

/* The plugin of bench::noop stands in the folder of libtenon.so, under tenon/. */
static tn_status load_noop(void)
{
    char path[PATH_MAX];
    Dl_info about;
    if (!dladdr((const void *)(uintptr_t)tn_op_find, &about))
        return TN_ERR_PLUGIN;
    const char *slash = strrchr(about.dli_fname, '/');
    snprintf(path, sizeof path, "%.*s/tenon/tenon_bench.so",
             slash ? (int)(slash - about.dli_fname) : 1, slash ? about.dli_fname : ".");
    CHECK(tn_plugin_load(path, NULL));
    noop_op = tn_op_find("bench::noop");
    return noop_op ? TN_OK : TN_ERR_PLUGIN;
}

static tn_status make_operands(void)
{
    static float square[256];
    const float one = 1;
    const int32_t whole = 1;
    for (int i = 0; i < 256; i++)
        square[i] = (float)i / 256;
    CHECK(tn_tensor_from_data(&one, TN_F32, 1, (int64_t[]){1}, &a1));
    CHECK(tn_tensor_from_data(&one, TN_F32, 1, (int64_t[]){1}, &b1));
    CHECK(tn_tensor_from_data(&one, TN_F32, 1, (int64_t[]){1}, &out1));
    CHECK(tn_tensor_from_data(&whole, TN_I32, 1, (int64_t[]){1}, &i1));
    return tn_tensor_from_data(square, TN_F32, 2, (int64_t[]){16, 16}, &m16);
}

bench_case *bench_dispatch_suite(size_t *n)
{
    static bench_case suite[64];
    _Static_assert(CASES < 40, "the suite, its rows with gradients and the limits fit");
    if (tn_plugins_load_default() != TN_OK || load_noop() != TN_OK || make_operands() != TN_OK) {
        tool_fail("the benchmark cannot start: %s", tn_error_last()->message);
        return NULL;
    }
    memcpy(suite, cases, sizeof cases);
    *n = CASES;
    for (size_t i = 0; i < bench_autograd_count; i++)
        suite[(*n)++] = bench_autograd[i];
    for (size_t i = 0; i < bench_limits_count; i++)
        suite[(*n)++] = bench_limits[i];
    return suite;
}

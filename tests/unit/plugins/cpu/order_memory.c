/* order_memory.c - every allocation of the ordering family's calls made to fail in turn: the answer
 * is "out of memory", no result is left, nothing leaks. */
#include <criterion/criterion.h>

#include <tenon/ops.h>
#include <tenon/runtime.h>

#include "core/base/base.h"

static tn_tensor *x, *strided, *whole, *places;

static void begin(void)
{
    cr_assert_eq(tn_plugins_load_default(), TN_OK, "%s", tn_error_last()->message);
    tn_error_clear();
    TN_SCOPE {
        x = tn_keep(tn_sin(tn_reshape(tn_arange(6000, .dtype = TN_F32), TN_INTS(6, 1000))));
        strided = tn_keep(tn_t(x));
        whole = tn_keep(tn_arange(500, .dtype = TN_I64));
        places = tn_keep(tn_arange(500, .dtype = TN_I64));
    }
    cr_assert(x && strided && whole && places, "%s", tn_error_last()->message);
}

TestSuite(cpu_order_memory, .init = begin, .timeout = 120);

typedef tn_status (*call_fn)(tn_tensor **r);

static tn_status sorted(tn_tensor **r)
{
    return tn_call_sort(strided, 0, true, &r[0], &r[1]);
}

static tn_status sorted_first(tn_tensor **r)
{
    return tn_call_msort(x, &r[0]);
}

static tn_status best(tn_tensor **r)
{
    return tn_call_topk(x, 300, 1, true, true, &r[0], &r[1]);
}

static tn_status middle(tn_tensor **r)
{
    return tn_call_median(strided, &r[0]);
}

static tn_status frequent(tn_tensor **r)
{
    return tn_call_mode(strided, 0, false, &r[0], &r[1]);
}

static tn_status searched(tn_tensor **r)
{
    return tn_call_searchsorted_Tensor(whole, strided, false, false, NULL, places, &r[0]);
}

static tn_status searched_number(tn_tensor **r)
{
    return tn_call_searchsorted_Scalar(whole, tn_scalar_float(2.5), false, false, NULL, NULL,
                                       &r[0]);
}

static tn_status among(tn_tensor **r)
{
    return tn_call_isin_Tensor_Tensor(strided, whole, false, true, &r[0]);
}

static tn_status distinct(tn_tensor **r)
{
    return tn_call__unique2(strided, true, true, true, &r[0], &r[1], &r[2]);
}

static tn_status distinct_columns(tn_tensor **r)
{
    return tn_call_unique_consecutive(x, true, true, (tn_opt_int){1, 1}, &r[0], &r[1], &r[2]);
}

static tn_status sum(tn_tensor **r)
{
    return tn_call_nansum(strided, (tn_ints){NULL, 0}, false, TN_DTYPE_NONE, &r[0]);
}

static tn_status quantile(tn_tensor **r)
{
    return tn_call_quantile_scalar(x, 0.3, (tn_opt_int){1, 1}, false, "linear", &r[0]);
}

static tn_status differences(tn_tensor **r)
{
    return tn_call_diff(x, 2, 1, x, NULL, &r[0]);
}

static int64_t live(void)
{
    tn__memory_stats now;
    tn__memory_get(&now);
    return now.live_allocations + now.live_blocks;
}

/* How many allocations failed before the call succeeded. */
static int64_t starve(call_fn call, const char *name)
{
    for (int64_t nth = 1;; nth++) {
        tn_tensor *r[3] = {NULL, NULL, NULL};
        int64_t before = live();
        tn__alloc_fail_at(nth);
        tn_status status = call(r);
        tn__alloc_fail_at(0);
        for (int i = 0; i < 3; i++) {
            cr_assert(status == TN_OK || !r[i], "%s: a result is left", name);
            tn_release(r[i]);
        }
        cr_assert_eq(live(), before, "%s: allocation %lld leaked", name, (long long)nth);
        if (status == TN_OK)
            return nth - 1;
        cr_assert_eq(status, TN_ERR_MEMORY, "%s: %s", name, tn_error_last()->message);
        tn_error_clear();
    }
}

Test(cpu_order_memory, every_allocation_may_fail)
{
    static const struct {
        call_fn call;
        const char *name;
    } calls[] = {
        {sorted, "sort"},
        {sorted_first, "msort"},
        {best, "topk"},
        {middle, "median"},
        {frequent, "mode"},
        {searched, "searchsorted"},
        {searched_number, "searchsorted.Scalar"},
        {among, "isin"},
        {distinct, "_unique2"},
        {distinct_columns, "unique_consecutive"},
        {sum, "nansum"},
        {quantile, "quantile"},
        {differences, "diff"},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        cr_assert_geq(starve(calls[i].call, calls[i].name), 2, "%s", calls[i].name);
}

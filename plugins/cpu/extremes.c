/* extremes.c - aminmax, and cummax, cummin: along dim the largest (smallest) element so far and its
 * place, of equal ones the last. NaN wins over every number in both directions: for cummin keys are turned, and
 * NaN's, then 0, is moved down by one to the highest (order_key.h has left room). */
#include "order.h"
#include "order_key.h"
#include "reduce_run.h"

static inline uint64_t turned(uint64_t key, int bits, bool floats)
{
    uint64_t ones = ~UINT64_C(0) >> (64 - bits);
    return ((key ^ ones) - floats) & ones;
}

#define ORDER_LOOPS "extremes.inc"
#include "order_each.inc"

typedef void (*scan_fn)(const order_row *row, bool smallest);
static const scan_fn scans[TN_DTYPE_COUNT] = {
    [TN_BOOL] = scan_u8, [TN_U8] = scan_u8,   [TN_I8] = scan_i8,   [TN_I16] = scan_i16,
    [TN_I32] = scan_i32, [TN_I64] = scan_i64, [TN_F16] = scan_f16, [TN_BF16] = scan_bf16,
    [TN_F32] = scan_f32, [TN_F64] = scan_f64,
};

typedef struct scanning {
    scan_fn fn;
    bool smallest;
} scanning;

static void scan_row(const void *arg, const order_row *row, order_desk *desk)
{
    (void)desk;
    const scanning *s = arg;
    if (s->smallest)
        s->fn(row, true);
    else
        s->fn(row, false);
}

static tn_status scan(tn_call *call, const tn_tensor *self, int64_t dim, bool smallest,
                      tn_tensor *values, tn_tensor *indices)
{
    tn_tensor *results[] = {values, indices};
    TN_TRY(order_check(call, self, values, indices));
    scanning s = {scans[self->dtype], smallest};
    return order_run(call, self, dim, results, 0, scan_row, &s);
}

static tn_status cummax(tn_call *call, struct tn_cummax_args *a)
{
    return scan(call, a->self, a->dim, false, a->values, a->indices);
}

static tn_status cummin(tn_call *call, struct tn_cummin_args *a)
{
    return scan(call, a->self, a->dim, true, a->values, a->indices);
}

/* ---- both at once ---------------------------------------------------------------------------- */
static tn_status aminmax(tn_call *call, struct tn_aminmax_args *a)
{
    tn_ints dims = {&a->dim.value, a->dim.has ? 1 : 0};
    reduce_request least = {REDUCE_MIN, false, a->self->dtype, a->self, dims, a->min, NULL};
    reduce_request most = {REDUCE_MAX, false, a->self->dtype, a->self, dims, a->max, NULL};
    TN_TRY(reduce_run(call, &least));
    return reduce_run(call, &most);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(aminmax, "CPU", aminmax),
    TN_KERNEL(cummax, "CPU", cummax),
    TN_KERNEL(cummin, "CPU", cummin),
};
const cpu_kernels cpu_extremes = {kernels, TN_COUNT(kernels)};

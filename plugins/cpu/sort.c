/* sort.c - sort, argsort and mode: rows whose items are sorted whole (order.h). Every sort is
 * stable, asked for or not: equal elements stay in the order of their places, also when descending,
 * for then keys are turned and not places. */
#include "order.h"

static void sort_row(const void *arg, const order_row *row, order_desk *desk)
{
    const bool *descending = arg;
    order_fill(desk, row, *descending);
    order_sort(desk, row->n);
    order_put(desk, row, row->n);
}

static tn_status sorted(tn_call *call, const tn_tensor *self, int64_t dim, bool descending,
                        tn_tensor *values, tn_tensor *indices)
{
    tn_tensor *results[] = {values, indices};
    TN_TRY(order_check(call, self, values, indices));
    return order_run(call, self, dim, results, order_length(self, dim), sort_row, &descending);
}

static tn_status sort(tn_call *call, struct tn_sort_args *a)
{
    return sorted(call, a->self, a->dim, a->descending, a->values, a->indices);
}

static tn_status sort_stable(tn_call *call, struct tn_sort_stable_args *a)
{
    return sorted(call, a->self, a->dim, a->descending, a->values, a->indices);
}

static tn_status argsort(tn_call *call, struct tn_argsort_args *a)
{
    return sorted(call, a->self, a->dim, a->descending, NULL, a->result);
}

static tn_status argsort_stable(tn_call *call, struct tn_argsort_stable_args *a)
{
    return sorted(call, a->self, a->dim, a->descending, NULL, a->result);
}

/* ---- mode ------------------------------------------------------------------------------------ */
/* The longest run of equal elements, of equally long ones the first; its last element by place. */
static void mode_row(const void *arg, const order_row *row, order_desk *desk)
{
    (void)arg;
    order_fill(desk, row, false);
    order_sort(desk, row->n);
    order_wide best = order_item(desk, 0), last = best;
    int64_t longest = 1, run = 1;
    for (int64_t i = 1; i < row->n; i++) {
        order_wide item = order_item(desk, i);
        run = item.key == last.key ? run + 1 : 1;
        last = item;
        if (run > longest) {
            longest = run;
            best = item;
        }
    }
    order_put_place(desk, row, (int64_t)best.place);
}

static tn_status mode(tn_call *call, struct tn_mode_args *a)
{
    tn_tensor *results[] = {a->values, a->indices};
    TN_TRY(order_check(call, a->self, a->values, a->indices));
    return order_run(call, a->self, a->dim, results, order_length(a->self, a->dim), mode_row, NULL);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(sort, "CPU", sort),       TN_KERNEL(sort_stable, "CPU", sort_stable),
    TN_KERNEL(argsort, "CPU", argsort), TN_KERNEL(argsort_stable, "CPU", argsort_stable),
    TN_KERNEL(mode, "CPU", mode),
};
const cpu_kernels cpu_sort = {kernels, TN_COUNT(kernels)};

/* isin.c - isin: which elements are among others, by bisection in the others once they are sorted.
 * A NaN equals nothing. */
#include "order.h"

typedef struct lookup {
    const order_desk *desk;
    int64_t n; /* sorted items, without NaN */
    order_span elements;
    bool *out;
    bool invert;
} lookup;

enum { STRETCH = 128, GRAIN = 2048 };

static bool is_among(const lookup *l, uint64_t key)
{
    int64_t begin = 0, end = l->n;
    while (begin < end) {
        int64_t middle = begin + (end - begin) / 2;
        if (order_item(l->desk, middle).key < key)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < l->n && order_item(l->desk, begin).key == key;
}

static void run_elements(void *arg, int64_t begin, int64_t end)
{
    const lookup *l = arg;
    order_wide items[STRETCH];
    for (int64_t at = begin; at < end; at += STRETCH) {
        int64_t stop = end - at < STRETCH ? end : at + STRETCH;
        l->desk->loops->wide(items, &l->elements, at, stop);
        for (int64_t i = at; i < stop; i++)
            l->out[i] = is_among(l, items[i - at].key) != l->invert;
    }
}

/* Row-major, of that dtype. */
static tn_status plain(tn_call *call, tn_tensor *t, tn_dtype dtype, tn_tensor **out)
{
    if (t->dtype == dtype && t->flags & TN_TENSOR_CONTIGUOUS) {
        tn->tensor_retain(*out = t);
        return TN_OK;
    }
    TN_TRY(tn->tensor_new(call, t->ndim, t->sizes, dtype, t->device, out));
    return cpu_copy_elements(call, *out, t);
}

static tn_status run(tn_call *call, const tn_tensor *elements, const tn_tensor *others, bool invert,
                     tn_tensor *out)
{
    int64_t n = others->numel, bytes = (int64_t)tn->dtype_size(others->dtype);
    order_desk desk;
    order_row row = {others->data, n, bytes, {NULL, NULL}, {0, 0}};
    lookup l = {&desk, n, {elements->data, bytes, elements->numel, 0, 0}, out->data, invert};
    TN_TRY(order_desk_new(call, others->dtype, n, n, &desk));
    if (n > 0) {
        l.n -= order_fill(&desk, &row, false); /* NaN stands last */
        order_sort(&desk, n);
    }
    return tn->parallel_for(call, elements->numel, GRAIN, run_elements, &l);
}

static tn_status isin(tn_call *call, struct tn_isin_Tensor_Tensor_args *a)
{
    tn_tensor *both[] = {a->elements, a->test_elements}, *in[2] = {NULL, NULL}, *to = NULL;
    tn_dtype dtype = tn->result_type(both, 2, NULL, 0);
    TN_TRY(cpu_check_dtype(call, a->result, TN_BOOL));
    tn_status status = plain(call, both[0], dtype, &in[0]);
    if (status == TN_OK)
        status = plain(call, both[1], dtype, &in[1]);
    if (status == TN_OK && a->result->flags & TN_TENSOR_CONTIGUOUS)
        tn->tensor_retain(to = a->result);
    else if (status == TN_OK)
        status = tn->tensor_new(call, a->result->ndim, a->result->sizes, TN_BOOL, a->result->device,
                                &to);
    if (status == TN_OK)
        status = run(call, in[0], in[1], a->invert, to);
    if (status == TN_OK && to != a->result)
        status = cpu_copy_elements(call, a->result, to);
    tn->tensor_release(to);
    tn->tensor_release(in[1]);
    tn->tensor_release(in[0]);
    return status;
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(isin_Tensor_Tensor, "CPU", isin),
};
const cpu_kernels cpu_isin = {kernels, TN_COUNT(kernels)};

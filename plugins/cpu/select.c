/* select.c - topk, kthvalue, median, nanmedian: what is first of a row in some order, without
 * sorting the row. topk keeps the best so far on a small desk and reads past whatever is not better
 * than the last of them. */
#include "order.h"

/* ---- topk ------------------------------------------------------------------------------------ */
typedef struct best {
    int64_t k, room;
    bool largest, sorted;
} best;

enum {
    LEAST_ROOM = 256,
    FIRST = ORDER_BLOCK, /* that many are looked at before any are left out */
    INSERTED = 16,
};

static int64_t fill_below(order_desk *desk, int64_t from, int64_t room, const order_span *s,
                          int64_t *at, uint64_t limit)
{
    if (desk->wide)
        return desk->loops->wide_below((order_wide *)desk->items + from, room - from, s, at, limit);
    return desk->loops->narrow_below((uint64_t *)desk->items + from, room - from, s, at, limit);
}

static void topk_row(const void *arg, const order_row *row, order_desk *desk)
{
    const best *b = arg;
    order_span s = {row->in, row->stride, row->n, b->largest ? ~UINT64_C(0) : 0, 0};
    int64_t first = b->k < FIRST / 2 ? FIRST : b->room;
    int64_t at = row->n < first ? row->n : first, n = at;
    order_wide last;
    if (desk->wide)
        desk->loops->wide(desk->items, &s, 0, at);
    else
        desk->loops->narrow(desk->items, &s, 0, at);
    order_select(desk, n, b->k, &last);
    while (at < row->n) {
        n = b->k + fill_below(desk, b->k, b->room, &s, &at, last.key);
        order_select(desk, n, b->k, &last);
    }
    if (b->sorted)
        order_sort(desk, b->k);
    order_put(desk, row, b->k);
}

/* For a few that are kept, one block more: each block's better ones are inserted at once, and what
 * follows has to be better still. For many, twice as many: each selection is paid for by the
 * elements since the last. */
static int64_t room_for(int64_t k, int64_t n)
{
    if (k <= INSERTED)
        return k + ORDER_BLOCK;
    if (k < LEAST_ROOM / 2)
        return LEAST_ROOM;
    return n / 2 < k ? n : 2 * k;
}

static tn_status topk(tn_call *call, struct tn_topk_args *a)
{
    tn_tensor *results[] = {a->values, a->indices};
    int64_t n = order_length(a->self, a->dim);
    best b = {a->self->ndim ? a->k : 1, 0, a->largest, a->sorted};
    TN_TRY(order_check(call, a->self, a->values, a->indices));
    b.room = room_for(b.k, n);
    return order_run(call, a->self, a->dim, results, b.room, topk_row, &b);
}

/* ---- one element ----------------------------------------------------------------------------- */
enum { KTH, MEDIAN, NANMEDIAN };

typedef struct rank {
    int which;
    int64_t k;
} rank;

/* The middle one, of two the lower. NaN ranks last: to a median one is the answer, the first by
 * place; to a nanmedian they are not there, unless there is nothing else. */
static int64_t median_rank(int64_t n, int64_t nans, bool ignore)
{
    if (nans > 0 && !ignore)
        return n - nans + 1;
    return nans == n ? 1 : (n - nans - 1) / 2 + 1;
}

static int64_t rank_of(const rank *r, const order_desk *desk, int64_t n, int64_t ones)
{
    int64_t nans = desk->floating ? ones : 0;
    return r->which == KTH ? r->k : median_rank(n, nans, r->which == NANMEDIAN);
}

enum { LONG_ROW = 4096 };

/* A long row is read twice rather than written down: what begins as the answer does, and no more,
 * becomes items. The desk has room for one more than the row. */
static void rank_long_row(const rank *r, const order_row *row, order_desk *desk)
{
    int64_t counts[1 << ORDER_DIGIT] = {0};
    order_span s = {row->in, row->stride, row->n, 0, 0};
    int64_t k = rank_of(r, desk, row->n, desk->loops->tally(&s, counts));
    uint64_t digit = 0;
    while (counts[digit] < k)
        k -= counts[digit++];
    order_wide kth;
    if (desk->wide)
        desk->loops->wide_of_digit(desk->items, &s, digit);
    else
        desk->loops->narrow_of_digit(desk->items, &s, digit);
    order_select(desk, counts[digit], k, &kth);
    order_put_place(desk, row, (int64_t)kth.place);
}

static void rank_row(const void *arg, const order_row *row, order_desk *desk)
{
    const rank *r = arg;
    order_wide kth;
    if (row->n >= LONG_ROW) {
        rank_long_row(r, row, desk);
        return;
    }
    int64_t nans = order_fill(desk, row, false);
    order_select(desk, row->n, rank_of(r, desk, row->n, nans), &kth);
    order_put_place(desk, row, (int64_t)kth.place);
}

static tn_status ranked(tn_call *call, const rank *r, const tn_tensor *self, int64_t dim,
                        tn_tensor *values, tn_tensor *indices)
{
    tn_tensor *results[] = {values, indices};
    TN_TRY(order_check(call, self, values, indices));
    return order_run(call, self, dim, results, order_length(self, dim) + 1, rank_row, r);
}

static tn_status kthvalue(tn_call *call, struct tn_kthvalue_args *a)
{
    return ranked(call, &(rank){KTH, a->k}, a->self, a->dim, a->values, a->indices);
}

static tn_status median_dim(tn_call *call, struct tn_median_dim_args *a)
{
    return ranked(call, &(rank){MEDIAN, 0}, a->self, a->dim, a->values, a->indices);
}

static tn_status nanmedian_dim(tn_call *call, struct tn_nanmedian_dim_args *a)
{
    return ranked(call, &(rank){NANMEDIAN, 0}, a->self, a->dim, a->values, a->indices);
}

/* Of everything: self as one row. Of nothing it is NaN, as integers have it when they must. */
static tn_status of_all(tn_call *call, const rank *r, tn_tensor *self, tn_tensor *out)
{
    static const double nan = __builtin_nan("");
    tn_tensor *copy = NULL, *row = NULL;
    TN_TRY(order_check(call, self, out, NULL));
    if (self->numel == 0)
        return tn->convert(call, out->data, out->dtype, 0, &nan, TN_F64, 0, 1);
    if (self->ndim == 1)
        return ranked(call, r, self, 0, out, NULL);
    tn_tensor *whole = self;
    tn_status status = TN_OK;
    if (!(self->flags & TN_TENSOR_CONTIGUOUS)) {
        status = tn->tensor_new(call, self->ndim, self->sizes, self->dtype, self->device, &copy);
        if (status == TN_OK)
            status = cpu_copy_elements(call, copy, self);
        whole = copy;
    }
    const int64_t step = 1;
    if (status == TN_OK)
        status = tn->tensor_view(call, whole, 1, &whole->numel, &step, tn->tensor_offset(whole),
                                 whole->dtype, &row);
    if (status == TN_OK)
        status = ranked(call, r, row, 0, out, NULL);
    tn->tensor_release(row);
    tn->tensor_release(copy);
    return status;
}

static tn_status median(tn_call *call, struct tn_median_args *a)
{
    return of_all(call, &(rank){MEDIAN, 0}, a->self, a->result);
}

static tn_status nanmedian(tn_call *call, struct tn_nanmedian_args *a)
{
    return of_all(call, &(rank){NANMEDIAN, 0}, a->self, a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(topk, "CPU", topk),           TN_KERNEL(kthvalue, "CPU", kthvalue),
    TN_KERNEL(median, "CPU", median),       TN_KERNEL(median_dim, "CPU", median_dim),
    TN_KERNEL(nanmedian, "CPU", nanmedian), TN_KERNEL(nanmedian_dim, "CPU", nanmedian_dim),
};
const cpu_kernels cpu_select = {kernels, TN_COUNT(kernels)};

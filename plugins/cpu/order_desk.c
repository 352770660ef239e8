/* order_desk.c - one row's items: sorted by radix, or its k first selected by radix.
 *
 * Both look at keys digit by digit: the time grows with the length alone, however elements lie.
 * Sorting goes up from the last digit where that takes few passes over little memory, else down
 * from the first; a few items are inserted in order. order_desk.inc has the loops, for both kinds of
 * items. */
#include <string.h>

#include "order.h"
#include "per_isa.h"

CPU_PER_ISA(order_table, order_loops)

enum {
    FEW = 32,          /* up to here, counting digits costs more than inserting */
    MANY = 512,        /* from here on, longer digits (fewer passes) pay for their larger table, */
    HUGE_ROW = 4096,   /* and from here on where one pass is made for each digit's items */
    IN_CACHE = 131072, /* items up to which passes over all of them are cheap */
    SHORT_DIGIT = 8,
    LONG_DIGIT = 11,
};

/* Whether three passes from the last digit on do it. */
static bool is_short(int64_t n, int bits)
{
    return n <= IN_CACHE && bits <= 3 * (n < MANY ? SHORT_DIGIT : LONG_DIGIT);
}

#define ITEM uint64_t
#define KEY(item) ((item) >> 32)
#define PLACE(item) ((item)&UINT32_MAX)
#define BEFORE(a, b) ((a) < (b))
#define OF(name) narrow_##name
#include "order_desk.inc"

#define ITEM order_wide
#define KEY(item) ((item).key)
#define PLACE(item) ((item).place)
#define BEFORE(a, b) ((a).key < (b).key || ((a).key == (b).key && (a).place < (b).place))
#define OF(name) wide_##name
#include "order_desk.inc"

const order_loops *order_loops_for(tn_dtype dtype)
{
    return &order_loops_table()->of[dtype];
}

tn_status order_desk_new(tn_call *call, tn_dtype dtype, int64_t n, int64_t room, order_desk *out)
{
    size_t bytes, size;
    *out = (order_desk){.loops = order_loops_for(dtype),
                        .floating = tn_dtype_in(dtype, TN_DTYPES_FLOATING),
                        .always_wide = n > UINT32_MAX};
    out->bits = out->loops->bits;
    out->wide = out->bits > 32 || out->always_wide;
    if (room == 0)
        return TN_OK;
    size = out->wide ? sizeof(order_wide) : sizeof(uint64_t);
    if (__builtin_mul_overflow((size_t)room, 2 * size, &bytes))
        return tn->fail(call, TN_ERR_OVERFLOW,
                        "overflow: rows of %lld elements need more scratch memory than there is",
                        (long long)n);
    out->items = tn->scratch(call, bytes);
    if (!out->items)
        return TN_ERR_MEMORY;
    out->spare = (char *)out->items + bytes / 2;
    return TN_OK;
}

/* Integers of 64 bits often lie close together: then what is above the least of them will do. */
static void narrow_down(order_desk *desk, order_span *s)
{
    uint64_t most;
    desk->loops->range(s, &desk->base, &most);
    desk->wide = most - desk->base > UINT32_MAX;
    if (desk->wide)
        desk->base = 0;
    else
        desk->bits = most == desk->base ? 1 : 64 - __builtin_clzll(most - desk->base);
    s->base = desk->base;
}

int64_t order_fill(order_desk *desk, const order_row *row, bool descending)
{
    order_span s = {row->in, row->stride, row->n, descending ? ~UINT64_C(0) : 0, 0};
    desk->bits = desk->loops->bits;
    if (desk->bits > 32 && !desk->floating && !desk->always_wide)
        narrow_down(desk, &s);
    int64_t ones = desk->wide ? desk->loops->wide(desk->items, &s, 0, s.n)
                              : desk->loops->narrow(desk->items, &s, 0, s.n);
    return desk->floating ? ones : 0;
}

void order_sort(order_desk *desk, int64_t n)
{
    void *sorted = desk->wide ? (void *)wide_sort(desk->items, desk->spare, n, desk->bits)
                              : (void *)narrow_sort(desk->items, desk->spare, n, desk->bits);
    if (sorted != desk->items) {
        desk->spare = desk->items;
        desk->items = sorted;
    }
}

void order_select(order_desk *desk, int64_t n, int64_t k, order_wide *kth)
{
    if (desk->wide) {
        *kth = wide_select(desk->items, desk->spare, n, k, desk->bits);
    } else {
        uint64_t item = narrow_select(desk->items, desk->spare, n, k, desk->bits);
        *kth = (order_wide){item >> 32, item & UINT32_MAX};
    }
}

order_wide order_item(const order_desk *desk, int64_t i)
{
    if (desk->wide)
        return ((const order_wide *)desk->items)[i];
    uint64_t item = ((const uint64_t *)desk->items)[i];
    return (order_wide){(item >> 32) + desk->base, item & UINT32_MAX};
}

void order_put(const order_desk *desk, const order_row *row, int64_t n)
{
    if (desk->wide)
        wide_put(desk->items, n, desk->loops->bits, row);
    else
        narrow_put(desk->items, n, desk->loops->bits, row);
}

void order_put_place(const order_desk *desk, const order_row *row, int64_t place)
{
    if (row->out[0])
        memcpy(row->out[0], row->in + place * row->stride, (size_t)desk->loops->bits / 8);
    if (row->out[1])
        *(int64_t *)row->out[1] = place;
}

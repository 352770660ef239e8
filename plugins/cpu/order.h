/* order.h - what the ordering family shares: rows of a tensor, and the desk on which one row is
 * sorted or searched.
 *
 *     order_run (order_rows.c)  each row of self, with its results, on one of the threads' desks
 *       -> order_fill            the row as items (order_items.h)
 *       -> order_sort, order_select (order_desk.c)
 *       -> order_put             values and places of items into the results
 */
#ifndef CPU_ORDER_H
#define CPU_ORDER_H

#include "cpu.h"
#include "order_items.h"

typedef struct order_row {
    const char *in;
    int64_t n, stride; /* bytes between elements */
    char *out[2];      /* values, places; NULL where nobody asked */
    int64_t out_stride[2];
} order_row;

/* Items and as many to spare; which of the two holds them changes. */
typedef struct order_desk {
    const order_loops *loops;
    bool always_wide, floating;
    bool wide; /* the items at hand; their keys have `bits`, counted from `base` */
    int bits;
    uint64_t base;
    void *items, *spare;
} order_desk;

typedef void (*order_fn)(const void *arg, const order_row *row, order_desk *desk);

/* Runs fn for each row of self along dim. results[k] (or NULL) has self's dimensions, with another
 * size along dim or without it. room: how many items a desk holds. */
tn_status order_run(tn_call *call, const tn_tensor *self, int64_t dim, tn_tensor *const results[2],
                    int64_t room, order_fn fn, const void *arg);
/* How many elements a row along dim has; 1 for 0 dimensions. */
int64_t order_length(const tn_tensor *self, int64_t dim);
/* An out= tensor of another dtype is refused. */
tn_status order_check(tn_call *call, const tn_tensor *self, const tn_tensor *values,
                      const tn_tensor *indices);

/* The loops of a dtype, for the processor at hand. */
const order_loops *order_loops_for(tn_dtype dtype);
/* A desk of `room` items for rows of n elements, on scratch memory. */
tn_status order_desk_new(tn_call *call, tn_dtype dtype, int64_t n, int64_t room, order_desk *out);

/* The whole row; how many of it are NaN. */
int64_t order_fill(order_desk *desk, const order_row *row, bool descending);
void order_sort(order_desk *desk, int64_t n);
/* Puts the k first of n items in front, in any order, and gives the last one of them in `kth`.
 * 1 <= k <= n. */
void order_select(order_desk *desk, int64_t n, int64_t k, order_wide *kth);
order_wide order_item(const order_desk *desk, int64_t i);
/* Items 0 .. n-1 into the results: the elements themselves, and their places. */
void order_put(const order_desk *desk, const order_row *row, int64_t n);
/* One element and its place: of a reduction. */
void order_put_place(const order_desk *desk, const order_row *row, int64_t place);

#endif

/* order_items.h - elements as items to be ordered: a key and the place in the row that it came
 * from. Compared as integers, key first, items are ordered as the elements are and equal elements by
 * their places, so whatever sorts them is stable.
 *
 * An item is narrow, one integer with the key in the upper half, where key and place have 32 bits;
 * else wide. The loops that make them are in kernels/order_items.c. */
#ifndef CPU_ORDER_ITEMS_H
#define CPU_ORDER_ITEMS_H

#include <stdint.h>

#include <tenon/base.h>

typedef struct order_wide {
    uint64_t key, place;
} order_wide;

/* Elements of a row, along it. */
typedef struct order_span {
    const char *in;
    int64_t stride; /* bytes */
    int64_t n;
    uint64_t flip; /* keys are turned by it: 0, or all ones for the reverse order */
    uint64_t base; /* subtracted from a (turned) key that goes into a narrow item */
} order_span;

/* Of one dtype. `items` are uint64_t or order_wide. */
typedef struct order_loops {
    int bits; /* of a key and of an element */
    /* Elements begin .. end - 1 as items; how many of them have a key of ones (unturned). */
    int64_t (*narrow)(void *items, const order_span *s, int64_t begin, int64_t end);
    int64_t (*wide)(void *items, const order_span *s, int64_t begin, int64_t end);
    /* The least and the greatest (turned) key of a row that has elements. */
    void (*range)(const order_span *s, uint64_t *least, uint64_t *most);
    /* Counts the leading ORDER_DIGIT bits of keys; returns as the above. */
    int64_t (*tally)(const order_span *s, int64_t *counts);
    /* Those whose leading bits are `digit` as items; one more item is overwritten. */
    void (*narrow_of_digit)(void *items, const order_span *s, uint64_t digit);
    void (*wide_of_digit)(void *items, const order_span *s, uint64_t digit);
    /* From *at on the elements whose (turned) key is below `limit`, until less than
     * ORDER_BLOCK room is left or the row ends; *at is where to go on. How many. */
    int64_t (*narrow_below)(void *items, int64_t room, const order_span *s, int64_t *at,
                            uint64_t limit);
    int64_t (*wide_below)(void *items, int64_t room, const order_span *s, int64_t *at,
                          uint64_t limit);
} order_loops;
enum { ORDER_BLOCK = 64, ORDER_DIGIT = 11 };

typedef struct order_table {
    order_loops of[TN_DTYPE_COUNT]; /* bits == 0: the dtype has no order */
} order_table;

#endif

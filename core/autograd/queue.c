/* queue.c - the steps that are ready: the latest recorded first.
 *
 * In most graphs one step is ready at a time; that one stands in `top`, and the binary heap below is
 * touched only when there are more. */
#include <string.h>

#include "core/autograd/pass.h"

void tn__queue_begin(tn__queue *q)
{
    q->top.step = NULL;
    q->heap = q->first;
    q->n = 0;
    q->capacity = TN__QUEUE_INLINE;
}

void tn__queue_end(tn__queue *q)
{
    if (q->heap != q->first)
        tn__free(q->heap);
}

static TN_COLD tn_status grow(tn__queue *q)
{
    size_t bytes = q->capacity * 2 * sizeof *q->heap;
    tn__ready *grown = tn__realloc(q->heap == q->first ? NULL : q->heap, bytes);
    if (!grown)
        return tn__fail_memory(NULL, bytes);
    if (q->heap == q->first)
        memcpy(grown, q->first, sizeof q->first);
    q->heap = grown;
    q->capacity *= 2;
    return TN_OK;
}

tn_status tn__queue_push_more(tn__queue *q, tn__ready r)
{
    if (tn__ready_before(r, q->top)) {
        tn__ready was = q->top;
        q->top = r;
        r = was;
    }
    if (q->n == q->capacity) {
        tn_status status = grow(q);
        if (status != TN_OK)
            return status;
    }
    size_t i = q->n++;
    for (size_t up; i > 0 && tn__ready_before(r, q->heap[up = (i - 1) / 2]); i = up)
        q->heap[i] = q->heap[up];
    q->heap[i] = r;
    return TN_OK;
}

void tn__queue_refill(tn__queue *q)
{
    q->top = q->heap[0];
    tn__ready last = q->heap[--q->n];
    size_t i = 0;
    for (size_t down; (down = 2 * i + 1) < q->n; i = down) {
        if (down + 1 < q->n && tn__ready_before(q->heap[down + 1], q->heap[down]))
            down++;
        if (!tn__ready_before(q->heap[down], last))
            break;
        q->heap[i] = q->heap[down];
    }
    q->heap[i] = last;
}

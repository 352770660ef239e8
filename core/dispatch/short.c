/* short.c - the short road of pointwise calls: one or two inputs that are alike (one dtype, one shape, row-major, host
 * memory), numbers that do not outrank them, few elements. Then there is nothing to promote, to broadcast or to split: the
 * result is one allocation and the kernel's inner loop is called from here. Whatever does not fit, errors included, is left
 * untouched for the long road (structured.c), which gives the same result.
 *
 * Every instruction here is paid by every small call: a one-element add spends a quarter of its time in this file. */
#include <string.h>

#include <tenon/number.h>

#include "core/dispatch/pointwise.h"

enum { MOST_ELEMENTS = 2048 }; /* above it, threads and pieces are worth their set-up */

/* Device, dtype, number of dimensions and flags as one word: what must be equal for operands to be alike. */
static inline uint64_t kind_of(const tn_tensor *t)
{
    uint64_t word;
    _Static_assert(offsetof(tn_tensor, flags) + sizeof t->flags == offsetof(tn_tensor, device) + sizeof word,
                   "device, dtype, ndim and flags fill one word");
    memcpy(&word, &t->device, sizeof word);
    return word;
}

static inline bool alike(const tn_tensor *a, const tn_tensor *b)
{
    if (a == b) return true;
    if (kind_of(a) != kind_of(b) || a->numel != b->numel) return false;
    for (int d = a->ndim - 1; d > 0; d--) /* the first size follows from the others and the count */
        if (a->sizes[d] != b->sizes[d]) return false;
    return true;
}

/* Whether writing t may change what is read through x elsewhere than at the same element. Tensors that begin together are,
 * on this road, the same elements in the same order. */
static inline bool shares_oddly(const tn_tensor *t, const tn_tensor *x)
{
    return t->data != x->data && tn__impl(t)->storage == tn__impl(x)->storage;
}

static inline bool take_numbers(const tn__structure *s, const void *frame, tn_dtype dtype, tn_number *numbers)
{
    for (int i = 0; i < s->n_numbers; i++) {
        const tn_scalar *x = (const tn_scalar *)((const char *)frame + s->numbers[i]);
        if (TN__LIKELY(x->kind == TN_SCALAR_INT && dtype == TN_F32)) {
            numbers[i].f32 = (float)x->v.i;
            continue;
        }
        if (s->promotes[i] ? tn__number_category(x) > tn__dtype_category(dtype) : !tn__number_holds(x, dtype)) return false;
        numbers[i] = tn_number_of(dtype, x);
    }
    return true;
}

/* False: nothing was done. */
static inline bool run(const tn_op *op, const tn__kernel *k, void *frame)
{
    const tn__structure *s = op->structure;
    tn_tensor *a = *(tn_tensor **)((char *)frame + s->tensors[0]);
    tn_tensor *b = *(tn_tensor **)((char *)frame + s->tensors[1]); /* of one input: that input again */
    tn_dtype dtype = a->dtype;
    tn_loop_fn loop = k->loops[dtype];
    if (!(s->direct & TN_DTYPE_BIT(dtype)) || !loop || !(a->flags & TN_TENSOR_CONTIGUOUS) ||
        (uint64_t)a->numel - 1 >= MOST_ELEMENTS || !alike(a, b))
        return false;
    tn_number numbers[TN_MAX_OPERANDS];
    if (!take_numbers(s, frame, dtype, numbers)) return false;
    tn_dtype out_dtype = s->pointwise & TN_POINTWISE_BOOL ? TN_BOOL : dtype;
    tn_tensor *out;
    if (op->given_offset == 0) {
        out = tn__tensor_new_small_like(a, out_dtype);
        if (TN__UNLIKELY(!out)) return false;
    } else {
        out = *(tn_tensor **)((char *)frame + op->given_offset);
        if (!out || out_dtype != dtype || !alike(out, a) || shares_oddly(out, a) || shares_oddly(out, b)) return false;
        atomic_fetch_add_explicit(&tn__impl(out)->refs, 1, memory_order_relaxed);
        tn__mark_written(out);
    }
    char *const data[] = {out->data, a->data, b->data};
    int64_t size = tn__dtype_sizes[dtype];
    const int64_t strides[] = {tn__dtype_sizes[out_dtype], size, size};
    loop(data, strides, a->numel, numbers);
    *(tn_tensor **)((char *)frame + sizeof(tn_frame)) = out;
    return true;
}

tn_status tn__short_call(const tn_op *op, tn__kernel *k, void *frame, uint64_t keys, const char *file, int line)
{
    return run(op, k, frame) ? TN_OK : tn__kernel_call(op, k, frame, keys, file, line);
}

/* short.c - the short road of pointwise calls: one or two inputs that are alike (one dtype, one
 * shape, row-major, host memory), numbers that do not outrank them, few elements. Then there is
 * nothing to promote, to broadcast or to split: the result is one allocation and the kernel's inner
 * loop is called from here. Whatever does not fit, errors included, is left untouched for the long
 * road (structured.c), which gives the same result.
 *
 * Every instruction here is paid by every small call. */
#include <string.h>

#include <tenon/number.h>

#include "core/dispatch/pointwise.h"
#include "core/tensor/pairs.h"

enum {
    MOST_ELEMENTS = 2048, /* above it, threads and pieces are worth their set-up */
    MOST_CONVERTED = 128, /* elements of an operand that is converted on the stack */
};

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Device, dtype, number of dimensions and flags as one word: what must be equal for operands to be
 * alike. */
static inline uint64_t kind_of(const tn_tensor *t)
{
    uint64_t word;
    _Static_assert(offsetof(tn_tensor, flags) + sizeof t->flags ==
                       offsetof(tn_tensor, device) + sizeof word,
                   "device, dtype, ndim and flags fill one word");
    memcpy(&word, &t->device, sizeof word);
    return word;
}

static ALWAYS_INLINE bool alike(const tn_tensor *a, const tn_tensor *b)
{
    if (a == b)
        return true;
    if (kind_of(a) != kind_of(b) || a->numel != b->numel)
        return false;
    for (int d = a->ndim - 1; d > 0; d--) /* the first size follows from the others and the count */
        if (a->sizes[d] != b->sizes[d])
            return false;
    return true;
}

/* Whether writing t may change what is read through x elsewhere than at the same element. Tensors
 * that begin together are, on this road, the same elements in the same order. */
static inline bool shares_oddly(const tn_tensor *t, const tn_tensor *x)
{
    return t->data != x->data && tn__impl(t)->storage == tn__impl(x)->storage;
}

/* The usual numbers, whole or floating ones for a floating computation. */
static ALWAYS_INLINE bool take_quickly(const tn_scalar *x, tn_dtype dtype, tn_number *n)
{
    if ((uint32_t)x->kind > TN_SCALAR_INT || (dtype != TN_F32 && dtype != TN_F64))
        return false;
    bool whole = x->kind == TN_SCALAR_INT;
    if (dtype == TN_F32)
        n->f32 = whole ? (float)x->v.i : (float)x->v.f;
    else
        n->f64 = whole ? (double)x->v.i : x->v.f;
    return true;
}

static inline bool take_number(const tn_scalar *x, bool promotes, tn_dtype dtype, tn_number *n)
{
    if (take_quickly(x, dtype, n))
        return true;
    if (promotes ? tn__number_category(x) > tn__dtype_category(dtype) : !tn__number_holds(x, dtype))
        return false;
    *n = tn_number_of(dtype, x);
    return true;
}

static bool take_numbers(const tn__structure *s, const void *frame, tn_dtype dtype,
                         tn_number *numbers)
{
    for (int i = 0; i < s->n_numbers; i++) {
        const tn_scalar *x = (const tn_scalar *)((const char *)frame + s->numbers[i]);
        if (!take_number(x, s->promotes[i], dtype, &numbers[i]))
            return false;
    }
    return true;
}

/* At most two, as most operators have. */
static ALWAYS_INLINE bool take_numbers_quickly(const tn__structure *s, const void *frame,
                                               tn_dtype dtype, tn_number *numbers)
{
    if (s->n_numbers == 0)
        return true;
    const tn_scalar *x = (const tn_scalar *)((const char *)frame + s->numbers[0]);
    if (!take_quickly(x, dtype, &numbers[0]))
        return false;
    if (s->n_numbers == 1)
        return true;
    x = (const tn_scalar *)((const char *)frame + s->numbers[1]);
    return s->n_numbers == 2 && take_quickly(x, dtype, &numbers[1]);
}

/* The tensor that an in-place or out= call gave; NULL: not for this road. */
static ALWAYS_INLINE tn_tensor *given_for(const tn_op *op, void *frame, const tn_tensor *like,
                                          const tn_tensor *other, const char *file, int line)
{
    tn_tensor *out = *(tn_tensor **)((char *)frame + op->given_offset);
    if (!out || op->structure->pointwise & TN_POINTWISE_BOOL || !alike(out, like) ||
        shares_oddly(out, like) || shares_oddly(out, other))
        return NULL;
    atomic_fetch_add_explicit(&tn__impl(out)->refs, 1, memory_order_relaxed);
    tn__mark_written(out, file, line);
    return out;
}

/* Two operands of different dtypes and one shape: the odd ones are converted on the stack. */
static __attribute__((noinline)) bool run_mixed(const tn_op *op, const tn__kernel *k, void *frame,
                                                tn_tensor *a, tn_tensor *b)
{
    const tn__structure *s = op->structure;
    if (op->given_offset || a->ndim != b->ndim || a->numel != b->numel ||
        (uint64_t)a->numel - 1 >= MOST_CONVERTED || (a->keys ^ b->keys) & TN__KEY_BACKENDS ||
        !(a->flags & b->flags & TN_TENSOR_CONTIGUOUS) ||
        ((a->flags | b->flags) & TN_TENSOR_WRAPPED_NUMBER))
        return false;
    for (int d = a->ndim - 1; d > 0; d--)
        if (a->sizes[d] != b->sizes[d])
            return false;
    tn_dtype dtype = tn__promote(a->dtype, b->dtype);
    tn_loop_fn loop = k->loops[dtype];
    tn_number numbers[TN_MAX_OPERANDS];
    if (!(s->direct & TN_DTYPE_BIT(dtype)) || !loop || !take_numbers(s, frame, dtype, numbers))
        return false;
    tn_dtype out_dtype = s->pointwise & TN_POINTWISE_BOOL ? TN_BOOL : dtype;
    tn_tensor *out = (tn_tensor *)tn__pair_like(a, out_dtype, false);
    if (!out)
        return false;
    _Alignas(64) char converted[2][MOST_CONVERTED * 16];
    int64_t size = tn__dtype_sizes[dtype];
    char *data[] = {out->data, a->data, b->data};
    const tn_tensor *in[] = {a, b};
    for (int i = 0; i < 2; i++) {
        if (in[i]->dtype == dtype)
            continue;
        tn__converter(dtype, in[i]->dtype)(converted[i], size, in[i]->data,
                                           tn__dtype_sizes[in[i]->dtype], in[i]->numel);
        data[i + 1] = converted[i];
    }
    const int64_t strides[] = {tn__dtype_sizes[out_dtype], size, size};
    loop(data, strides, a->numel, numbers);
    *(tn_tensor **)((char *)frame + sizeof(tn_frame)) = out;
    return true;
}

/* False: nothing was done. Quick: only what takes no call but the loop's. */
static ALWAYS_INLINE bool run(const tn_op *op, const tn__kernel *k, void *frame, const char *file,
                              int line, bool given, bool quick)
{
    const tn__structure *s = op->structure;
    if (!s->direct)
        return false;
    tn_tensor *a = *(tn_tensor **)((char *)frame + s->tensors[0]);
    tn_tensor *b =
        *(tn_tensor **)((char *)frame + s->tensors[1]); /* of one input: that input again */
    if (!quick && a->dtype != b->dtype)
        return run_mixed(op, k, frame, a, b);
    if (!alike(a, b) || !(a->flags & TN_TENSOR_CONTIGUOUS) ||
        (uint64_t)a->numel - 1 >= MOST_ELEMENTS)
        return false;
    tn_dtype dtype = a->dtype;
    tn_loop_fn loop = k->loops[dtype];
    if (!(s->direct & TN_DTYPE_BIT(dtype)) || !loop)
        return false;
    tn_number numbers[TN_MAX_OPERANDS];
    if (!(quick ? take_numbers_quickly(s, frame, dtype, numbers)
                : take_numbers(s, frame, dtype, numbers)))
        return false;
    tn_dtype out_dtype = !given && s->pointwise & TN_POINTWISE_BOOL ? TN_BOOL : dtype;
    tn_tensor *out = given ? given_for(op, frame, a, b, file, line)
                           : (tn_tensor *)tn__pair_like(a, out_dtype, quick);
    if (TN__UNLIKELY(!out))
        return false;
    *(tn_tensor **)((char *)frame + sizeof(tn_frame)) = out;
    char *const data[] = {out->data, a->data, b->data};
    int64_t size = tn__dtype_sizes[dtype];
    const int64_t strides[] = {tn__dtype_sizes[out_dtype], size, size};
    loop(data, strides, a->numel, numbers);
    return true;
}

/* Only a plain host tensor's slot has kernels with loops, so the keys are known. */
static __attribute__((noinline)) tn_status short_call(const tn_op *op, tn__kernel *k, void *frame,
                                                      const char *file, int line)
{
    bool given = op->given_offset != 0;
    if (given ? run(op, k, frame, file, line, true, false)
              : run(op, k, frame, file, line, false, false))
        return TN_OK;
    return tn__kernel_call(op, k, frame, TN__KEYS_HOST, file, line);
}

/* These two call nothing that returns here before the loop does. */
static __attribute__((noinline)) tn_status short_call_given(const tn_op *op, tn__kernel *k,
                                                            void *frame, const char *file, int line)
{
    return run(op, k, frame, file, line, true, true) ? TN_OK : short_call(op, k, frame, file, line);
}

tn_status tn__short_call(const tn_op *op, tn__kernel *k, void *frame, uint64_t keys,
                         const char *file, int line)
{
    (void)keys;
    if (op->given_offset)
        return short_call_given(op, k, frame, file, line);
    return run(op, k, frame, file, line, false, true) ? TN_OK
                                                      : short_call(op, k, frame, file, line);
}

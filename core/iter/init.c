/* init.c - builds a tn_iter: checks the operands, then reduces them to as few dimensions as
 * possible.
 *
 * Most calls have contiguous operands of one shape, perhaps with a number among them: the short
 * ways recognise those in one pass. The rest is checked and broadcast here, and dimensions.c lays
 * out its dimensions. The iterator is 5 kB and is never cleared: only what is used gets written.
 * it->cast has bit k set where operand k converts. */
#include <string.h>

#include "core/base/devices.h"
#include "core/iter/iter.h"

static bool valid(tn_dtype dtype)
{
    return dtype >= TN_DTYPE_NONE && dtype < TN_DTYPE_COUNT;
}

static inline bool is_own(tn_dtype wanted, tn_dtype own)
{
    return wanted == own || wanted == TN_DTYPE_NONE;
}

/* ---- the short ways ------------------------------------------------------------------------- */
/* device, dtype, ndim and flags of a tensor lie in one word, to be compared at once. */
typedef struct kind {
    tn_device device;
    uint8_t dtype, ndim;
    uint16_t flags;
} kind;
_Static_assert(sizeof(kind) == 8 && offsetof(tn_tensor, dtype) == offsetof(tn_tensor, device) + 4 &&
                   offsetof(tn_tensor, flags) == offsetof(tn_tensor, device) + 6,
               "kind is the end of tn_tensor");

static const kind contiguous = {{0, 0}, 0, 0, TN_TENSOR_CONTIGUOUS};
static const kind device_and_contiguous = {{-1, -1}, 0, 0, TN_TENSOR_CONTIGUOUS};
static const kind shape = {{-1, -1}, 0, 0xff, TN_TENSOR_CONTIGUOUS};
static const kind shape_and_dtype = {{-1, -1}, 0xff, 0xff, TN_TENSOR_CONTIGUOUS};

static inline uint64_t word(const void *kind)
{
    uint64_t w;
    memcpy(&w, kind, sizeof w);
    return w;
}

/* Of tensors with as many dimensions and elements: with one dimension the count says it all. */
static inline bool same_sizes(const tn_tensor *a, const tn_tensor *b)
{
    if (TN__LIKELY(a->ndim < 2))
        return true;
    for (int d = 0; d < a->ndim; d++) {
        if (a->sizes[d] != b->sizes[d])
            return false;
    }
    return true;
}

/* Storages of their own, or the very same elements: what a contiguous operand of out's shape may be
 * without a closer look. */
static inline bool disjoint_or_same(const tn_tensor *out, const tn_tensor *t)
{
    if (TN__LIKELY(tn__impl(t)->storage != tn__impl(out)->storage))
        return true;
    return tn__impl(t)->offset == tn__impl(out)->offset && t->dtype == out->dtype;
}

static inline void set_flat(tn_iter *it, int32_t k, tn_tensor *t, int64_t stride)
{
    it->operands[k] = t;
    it->data[k] = t->data;
    it->strides[k][0] = stride;
}

/* As set_flat, with t's own dtype. Returns operand k's bit of it->cast. */
static inline int32_t set_cast(tn_iter *it, int32_t k, tn_tensor *t, tn_dtype wanted)
{
    set_flat(it, k, t, tn__dtype_sizes[t->dtype]);
    it->dtypes[k] = t->dtype;
    return (int32_t)!is_own(wanted, t->dtype) << k;
}

static inline void set_shape(tn_iter *it, int64_t numel, int32_t cast)
{
    it->ndim = 1;
    it->cast = cast;
    it->numel = numel;
    it->sizes[0] = numel;
}

/* What is left of the short ways out of line, each reached by a tail call: the common path then
 * needs no stack. */
static tn_status init_any(tn_call *call, tn_iter *it, tn_tensor *const *operands, int reduce);

static __attribute__((noinline)) tn_status confirm_sizes(tn_call *call, tn_iter *it,
                                                         tn_tensor *const *operands, int reduce)
{
    const tn_tensor *out = operands[0], *a = operands[1], *b = operands[it->n_operands - 1];
    if (same_sizes(out, a) && same_sizes(out, b))
        return TN_OK;
    return init_any(call, it, operands, reduce);
}

static __attribute__((noinline)) tn_status init_cast(tn_call *call, tn_iter *it,
                                                     tn_tensor *const *operands, int reduce)
{
    const int32_t last = it->n_operands - 1;
    if (!valid(it->dtype) || !valid(it->out_dtype))
        return init_any(call, it, operands, reduce);
    int32_t cast = set_cast(it, 0, operands[0], it->out_dtype);
    cast |= set_cast(it, 1, operands[1], it->dtype);
    cast |= set_cast(it, last, operands[last], it->dtype);
    set_shape(it, operands[0]->numel, cast);
    return operands[0]->ndim < 2 ? TN_OK : confirm_sizes(call, it, operands, reduce);
}

/* An output and one or two inputs (of two operands the second is looked at twice), contiguous and
 * of one shape, as far as that shows without a look at the sizes. */
static inline bool look_alike(const tn_tensor *out, const tn_tensor *a, const tn_tensor *b,
                              uint64_t *differ)
{
    if (TN__UNLIKELY(!out))
        return false;
    if (TN__UNLIKELY(!a))
        return false;
    if (TN__UNLIKELY(!b))
        return false;
    const uint64_t w = word(&out->device);
    *differ = (w ^ word(&a->device)) | (w ^ word(&b->device));
    if (!(out->flags & TN_TENSOR_CONTIGUOUS) || *differ & word(&shape))
        return false;
    return a->numel == out->numel && b->numel == out->numel && disjoint_or_same(out, a) &&
           disjoint_or_same(out, b);
}

/* One output, all contiguous; an input may be one element for all. */
static bool init_mixed(tn_iter *it, int32_t n, tn_tensor *const *operands)
{
    const tn_tensor *out = operands[0];
    if (!out)
        return false;
    const uint64_t expected = word(&out->device) | word(&contiguous);
    tn_dtype wanted = it->out_dtype;
    int32_t cast = 0;
    for (int32_t k = 0; k < n; k++, wanted = it->dtype) {
        tn_tensor *t = operands[k];
        if (!t || (word(&t->device) ^ expected) & word(&device_and_contiguous))
            return false;
        cast |= set_cast(it, k, t, wanted);
        if (t->numel == out->numel && t->ndim == out->ndim && same_sizes(out, t)) {
            if (!disjoint_or_same(out, t))
                return false;
        } else {
            if (t->numel != 1 || t->ndim > out->ndim)
                return false;
            if (tn__impl(t)->storage == tn__impl(out)->storage)
                return false;
            it->strides[k][0] = 0;
        }
    }
    set_shape(it, out->numel, cast);
    return true;
}

/* ---- checks --------------------------------------------------------------------------------- */
static tn_status check_operands(tn_call *call, int32_t n_out, int32_t n_operands,
                                tn_tensor *const *operands)
{
    for (int32_t k = 0; k < n_operands; k++) {
        const tn_tensor *t = operands[k];
        if (!t)
            return tn__fail(call, TN_ERR_ARGUMENT, "operand %d of the iteration is absent", (int)k);
        bool number = k >= n_out && t->ndim == 0 && t->device.type == TN_CPU;
        char its[32], first[32];
        if (!tn__same_device_as(t->device, operands[0]->device) && !number)
            return tn__fail(call, TN_ERR_DEVICE,
                            "operand %d is on %s, operand 0 on %s; expected one device for all",
                            (int)k, tn__device_text(its, t->device),
                            tn__device_text(first, operands[0]->device));
    }
    return TN_OK;
}

static tn_status check_outputs(tn_call *call, const tn_iter *it, int64_t ndim, const int64_t *sizes,
                               int reduce)
{
    for (int32_t k = 0; k < it->n_out; k++) {
        const tn_tensor *out = it->operands[k];
        bool fits = reduce ? out->ndim <= ndim : out->ndim == ndim;
        for (int64_t d = 0; fits && d < out->ndim; d++) {
            fits = out->sizes[d] == sizes[ndim - out->ndim + d] || (reduce && out->sizes[d] == 1);
        }
        if (!fits) {
            char got[TN__SHAPE_CHARS], expected[TN__SHAPE_CHARS];
            return tn__fail(call, TN_ERR_ARGUMENT,
                            "the output's shape %s does not match the broadcast shape %s",
                            tn__shape_text(got, out->ndim, out->sizes),
                            tn__shape_text(expected, ndim, sizes));
        }
        if (reduce && it->out_dtype != TN_DTYPE_NONE && it->out_dtype != out->dtype) {
            return tn__fail(call, TN_ERR_DTYPE,
                            "a reduction accumulates in its output: expected dtype %s, got %s",
                            tn__dtype_name(it->out_dtype), tn__dtype_name(out->dtype));
        }
    }
    return TN_OK;
}

static tn_status check_overlap(tn_call *call, const tn_iter *it)
{
    for (int32_t o = 0; o < it->n_out; o++) {
        TN__TRY(tn__check_no_internal_overlap(call, it->operands[o]));
        for (int32_t k = o + 1; k < it->n_operands; k++) {
            if (k < it->n_out &&
                tn__impl(it->operands[k])->offset == tn__impl(it->operands[o])->offset &&
                tn__impl(it->operands[k])->storage == tn__impl(it->operands[o])->storage &&
                it->numel > 0) {
                return tn__fail(call, TN_ERR_OVERLAP,
                                "outputs %d and %d share memory; expected separate tensors", (int)o,
                                (int)k);
            }
            TN__TRY(tn__check_no_overlap(call, it->operands[o], it->operands[k]));
        }
    }
    return TN_OK;
}

/* ---- the long way --------------------------------------------------------------------------- */
static void set_operands(tn_iter *it, tn_tensor *const *operands)
{
    it->cast = 0;
    for (int32_t k = 0; k < it->n_operands; k++) {
        it->cast |= set_cast(it, k, operands[k], k < it->n_out ? it->out_dtype : it->dtype);
    }
}

static tn_status init_strided(tn_call *call, tn_iter *it, tn_tensor *const *operands, int reduce)
{
    int64_t ndim, sizes[TN_MAX_DIMS];
    const int32_t n = it->n_operands;
    TN__TRY(check_operands(call, it->n_out, n, operands));
    set_operands(it, operands);
    TN__TRY(tn__broadcast(call, operands, n, &ndim, sizes));
    TN__TRY(check_outputs(call, it, ndim, sizes, reduce));
    TN__TRY(tn__numel(call, ndim, sizes, &it->numel));
    TN__TRY(check_overlap(call, it));
    return tn__iter_set_dimensions(call, it, ndim, sizes);
}

static __attribute__((noinline)) tn_status init_any(tn_call *call, tn_iter *it,
                                                    tn_tensor *const *operands, int reduce)
{
    const int32_t n = it->n_operands, n_out = it->n_out;
    if (n < 1 || n > TN_MAX_OPERANDS || n_out < 0 || n_out > n) {
        return tn__fail(call, TN_ERR_ARGUMENT,
                        "an iteration has 1 to %d operands, got %d of which %d are written",
                        TN_MAX_OPERANDS, (int)n, (int)n_out);
    }
    if (!valid(it->dtype) || !valid(it->out_dtype)) {
        return tn__fail(call, TN_ERR_DTYPE,
                        "an iteration cannot compute in dtype %d (%s) and store dtype %d (%s)",
                        (int)it->dtype, tn__dtype_name(it->dtype), (int)it->out_dtype,
                        tn__dtype_name(it->out_dtype));
    }
    if (n_out == 1 && !reduce && init_mixed(it, n, operands))
        return TN_OK;
    return init_strided(call, it, operands, reduce);
}

tn_status tn__iter_init(tn_call *call, tn_iter *it, int32_t n_out, int32_t n_operands,
                        tn_tensor *const *operands, tn_dtype dtype, tn_dtype out_dtype, int reduce)
{
    it->n_operands = n_operands;
    it->n_out = n_out;
    it->dtype = dtype;
    it->out_dtype = out_dtype;
    if (TN__UNLIKELY(((n_out ^ 1) | reduce) || (uint32_t)n_operands - 2 > 1)) {
        return init_any(call, it, operands, reduce);
    }
    tn_tensor *out = operands[0], *a = operands[1], *b = operands[n_operands - 1];
    uint64_t differ;
    if (TN__UNLIKELY(!look_alike(out, a, b, &differ)))
        return init_any(call, it, operands, reduce);
    const tn_dtype own = out->dtype;
    if (differ & word(&shape_and_dtype) || !is_own(dtype, own) || !is_own(out_dtype, own)) {
        return init_cast(call, it, operands, reduce);
    }
    const int64_t stride = tn__dtype_sizes[own], numel = out->numel;
    const int ndim = out->ndim;
    set_flat(it, 0, out, stride);
    set_flat(it, 1, a, stride);
    set_flat(it, n_operands - 1, b, stride);
    set_shape(it, numel, 0);
    memset(it->dtypes, own, sizeof it->dtypes);
    return TN__LIKELY(ndim < 2) ? TN_OK : confirm_sizes(call, it, operands, reduce);
}

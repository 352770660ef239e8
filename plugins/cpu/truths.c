/* truths.c - walking truth values. Neighbouring dimensions become one where both tensors' strides
 * allow, so contiguous ones are a single row; values that are no bytes are converted piece by
 * piece. */
#include "truths.h"

#include <string.h>

enum { CHUNK = 1 << 15 };

#define TYPE uint8_t
#define OF(name) name##_1
#include "truths.inc"
#define TYPE uint16_t
#define OF(name) name##_2
#include "truths.inc"
#define TYPE uint32_t
#define OF(name) name##_4
#include "truths.inc"
#define TYPE uint64_t
#define OF(name) name##_8
#include "truths.inc"

/* Numbers as bytes of 0 and 1. Of floating numbers the sign does not count: -0 is zero, NaN is not. */
static void find_truth(tn_dtype dtype, const char *p, int64_t stride, int64_t n, uint8_t *out)
{
    bool is_signed = tn_dtype_in(dtype, TN_DTYPES_FLOATING);
    switch (tn->dtype_size(dtype)) {
    case 1:
        truth_1(p, stride, UINT8_MAX, n, out);
        return;
    case 2:
        truth_2(p, stride, is_signed ? INT16_MAX : UINT16_MAX, n, out);
        return;
    case 4:
        truth_4(p, stride, is_signed ? INT32_MAX : UINT32_MAX, n, out);
        return;
    case 8:
        truth_8(p, stride,
                dtype == TN_C64 ? UINT64_C(0x7fffffff7fffffff)
                : is_signed     ? INT64_MAX
                                : UINT64_MAX,
                n, out);
        return;
    default:
        tn->convert(NULL, out, TN_BOOL, 1, p, dtype, stride, n);
    }
}

void cpu_broadcast_strides(const tn_tensor *t, int64_t ndim, int64_t *strides)
{
    int64_t shift = ndim - t->ndim;
    for (int64_t d = 0; d < ndim; d++)
        strides[d] = d < shift || t->sizes[d - shift] == 1 ? 0 : t->strides[d - shift];
}

void cpu_truths_begin(cpu_truths *t, const tn_tensor *mask, int64_t ndim, const int64_t *sizes,
                      const int64_t *strides, const int64_t *other, int64_t other_size)
{
    int64_t size = (int64_t)tn->dtype_size(mask->dtype);
    t->data = (const char *)mask->data;
    t->dtype = mask->dtype;
    t->numel = 1;
    t->ndim = 0;
    for (int64_t d = 0; d < ndim; d++) {
        int64_t a = strides[d] * size, b = other ? other[d] * other_size : 0;
        t->numel *= sizes[d];
        if (sizes[d] == 1)
            continue;
        int64_t last = t->ndim - 1;
        bool joins = last >= 0 && t->strides[last] == a * sizes[d] &&
                     t->other[last] == b * sizes[d];
        if (joins)
            t->sizes[last] *= sizes[d];
        else
            t->sizes[last = t->ndim++] = sizes[d];
        t->strides[last] = a;
        t->other[last] = b;
    }
    if (t->ndim == 0) {
        t->sizes[t->ndim] = 1;
        t->strides[t->ndim] = t->other[t->ndim] = 0;
        t->ndim = 1;
    }
    t->n_chunks = (t->numel + CHUNK - 1) / CHUNK;
    t->before = NULL;
}

/* ---- the walk -------------------------------------------------------------------------------- */
typedef struct place { /* of an element */
    int64_t coords[TN_MAX_DIMS], mask, other;
} place;

static void find(const cpu_truths *t, int64_t at, place *p)
{
    p->mask = p->other = 0;
    for (int64_t d = t->ndim - 1; d >= 0; d--) {
        p->coords[d] = at % t->sizes[d];
        at /= t->sizes[d];
        p->mask += p->coords[d] * t->strides[d];
        p->other += p->coords[d] * t->other[d];
    }
}

/* n elements on, which end at a row's end at most. */
static void move_on(const cpu_truths *t, int64_t n, place *p)
{
    int64_t d = t->ndim - 1;
    p->coords[d] += n;
    p->mask += n * t->strides[d];
    p->other += n * t->other[d];
    for (; d > 0 && p->coords[d] == t->sizes[d]; d--) {
        p->coords[d] = 0;
        p->mask += t->strides[d - 1] - t->sizes[d] * t->strides[d];
        p->other += t->other[d - 1] - t->sizes[d] * t->other[d];
        p->coords[d - 1]++;
    }
}

static int64_t count_bytes(const uint8_t *truth, int64_t n)
{
    uint32_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += truth[i] != 0;
    return count;
}

/* fn NULL: only counts. */
static int64_t walk(const cpu_truths *t, int64_t begin, int64_t nth, cpu_piece_fn fn, void *arg)
{
    uint8_t converted[CPU_TRUTHS_PIECE];
    int64_t last = t->ndim - 1, end = begin + CHUNK < t->numel ? begin + CHUNK : t->numel;
    bool direct = (t->dtype == TN_BOOL || t->dtype == TN_U8) && t->strides[last] == 1;
    place p;
    find(t, begin, &p);
    for (int64_t at = begin, n; at < end; at += n) {
        n = t->sizes[last] - p.coords[last];
        n = n < end - at ? n : end - at;
        n = n < CPU_TRUTHS_PIECE ? n : CPU_TRUTHS_PIECE;
        if (!direct)
            find_truth(t->dtype, t->data + p.mask, t->strides[last], n, converted);
        const uint8_t *truth = direct ? (const uint8_t *)t->data + p.mask : converted;
        cpu_piece piece = {truth, n, at, nth, p.other, t->other[last]};
        nth += fn ? fn(arg, &piece) : count_bytes(truth, n);
        move_on(t, n, &p);
    }
    return nth;
}

/* ---- counting and running -------------------------------------------------------------------- */
static void count_chunks(void *arg, int64_t begin, int64_t end)
{
    const cpu_truths *t = arg;
    for (int64_t k = begin; k < end; k++)
        t->before[k + 1] = walk(t, k * CHUNK, 0, NULL, NULL);
}

tn_status cpu_truths_count(tn_call *call, cpu_truths *t, int64_t *count)
{
    t->before = tn->scratch(call, ((size_t)t->n_chunks + 1) * sizeof *t->before);
    if (!t->before)
        return TN_ERR_MEMORY;
    t->before[0] = 0;
    TN_TRY(tn->parallel_for(call, t->n_chunks, 1, count_chunks, t));
    for (int64_t k = 0; k < t->n_chunks; k++)
        t->before[k + 1] += t->before[k];
    *count = t->before[t->n_chunks];
    return TN_OK;
}

typedef struct job {
    const cpu_truths *t;
    cpu_piece_fn fn;
    void *arg;
} job;

static void run_chunks(void *arg, int64_t begin, int64_t end)
{
    const job *j = arg;
    for (int64_t k = begin; k < end; k++)
        if (j->t->before[k] != j->t->before[k + 1])
            walk(j->t, k * CHUNK, j->t->before[k], j->fn, j->arg);
}

tn_status cpu_truths_run(tn_call *call, const cpu_truths *t, cpu_piece_fn fn, void *arg)
{
    job j = {t, fn, arg};
    return tn->parallel_for(call, t->n_chunks, 1, run_chunks, &j);
}

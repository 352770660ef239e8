/* nonzero.c - nonzero, masked_select, masked_scatter: what truth values choose, in row-major order.
 *
 * Each counts first, so that results have their size, and mistakes are found, before anything is
 * written; then each chunk of the walk (truths.h) knows where its share begins. */
#include <string.h>

#include "moves.h"
#include "truths.h"

/* ---- nonzero --------------------------------------------------------------------------------- */
typedef struct listing {
    int64_t *out;
    int64_t ndim;
    const int64_t *sizes;
} listing;

/* The coordinates of element `at`; returns how many elements of its row are left, itself included. */
static int64_t find(const listing *l, int64_t at, int64_t *coords)
{
    for (int64_t d = l->ndim - 1; d >= 0; d--) {
        coords[d] = at % l->sizes[d];
        at /= l->sizes[d];
    }
    return l->sizes[l->ndim - 1] - coords[l->ndim - 1];
}

/* Coordinates of the next row. */
static void next_row(const listing *l, int64_t *coords)
{
    int64_t d = l->ndim - 1;
    coords[d] = 0;
    while (d-- > 0 && ++coords[d] == l->sizes[d])
        coords[d] = 0;
}

/* First which elements, without a branch; then row by row, in which one coordinate changes. */
static int64_t list_piece(void *arg, const cpu_piece *p)
{
    const listing *l = arg;
    int64_t coords[TN_MAX_DIMS], found[CPU_TRUTHS_PIECE], n = 0, last = l->ndim - 1, k = 0;
    int64_t *to = l->out + p->nth * l->ndim;
    for (int64_t i = 0; i < p->n; i++) {
        found[n] = i;
        n += p->truth[i] != 0;
    }
    int64_t end = find(l, p->at, coords), shift = coords[last];
    while (k < n) {
        for (; k < n && found[k] < end; k++, to += l->ndim) {
            for (int64_t d = 0; d < last; d++)
                to[d] = coords[d];
            to[last] = found[k] + shift;
        }
        next_row(l, coords);
        shift = -end;
        end += l->sizes[last];
    }
    return n;
}

static tn_status nonzero(tn_call *call, struct tn_nonzero_args *a)
{
    const tn_tensor *self = a->self;
    cpu_truths t;
    int64_t count = 0;
    cpu_truths_begin(&t, self, self->ndim, self->sizes, self->strides, NULL, 0);
    TN_TRY(cpu_truths_count(call, &t, &count));
    tn_tensor *out;
    TN_TRY(
        tn->tensor_new(call, 2, (const int64_t[]){count, self->ndim}, TN_I64, self->device, &out));
    listing l = {(int64_t *)out->data, self->ndim, self->sizes};
    tn_status status = out->numel ? cpu_truths_run(call, &t, list_piece, &l) : TN_OK;
    if (status != TN_OK) {
        tn->tensor_release(out);
        return status;
    }
    a->result = out;
    return TN_OK;
}

/* ---- masked_select --------------------------------------------------------------------------- */
typedef struct selection {
    char *out;
    const char *self;
    int64_t size;
    const cpu_moves *moves;
} selection;

/* By way of memory of its own: what is written behind the chosen ones is another thread's. */
static int64_t select_piece(void *arg, const cpu_piece *p)
{
    const selection *s = arg;
    _Alignas(16) char chosen[CPU_TRUTHS_PIECE * 16];
    int64_t n = s->moves->choose(chosen, s->self + p->other, p->step, p->truth, p->n);
    memcpy(s->out + p->nth * s->size, chosen, (size_t)(n * s->size));
    return n;
}

/* The shape that self and mask have together. */
static tn_status broadcast(tn_call *call, tn_tensor *self, tn_tensor *mask, int64_t *ndim,
                           int64_t *sizes)
{
    *ndim = self->ndim > mask->ndim ? self->ndim : mask->ndim;
    for (int64_t d = 1; d <= *ndim; d++) {
        int64_t a = d <= self->ndim ? self->sizes[self->ndim - d] : 1;
        int64_t b = d <= mask->ndim ? mask->sizes[mask->ndim - d] : 1;
        if (a != b && a != 1 && b != 1)
            return tn->fail(call, TN_ERR_ARGUMENT,
                            "mask has size %lld where self has %lld, %lld from the last dim: they "
                            "do not broadcast",
                            (long long)b, (long long)a, (long long)(d - 1));
        sizes[*ndim - d] = a == 1 ? b : a;
    }
    return TN_OK;
}

tn_status cpu_select_masked(tn_call *call, tn_tensor *self, tn_tensor *mask, tn_tensor **result)
{
    tn_tensor *out;
    int64_t ndim, count = 0, sizes[TN_MAX_DIMS], of_self[TN_MAX_DIMS], of_mask[TN_MAX_DIMS];
    int64_t size = (int64_t)tn->dtype_size(self->dtype);
    cpu_truths t;
    TN_TRY(broadcast(call, self, mask, &ndim, sizes));
    cpu_broadcast_strides(self, ndim, of_self);
    cpu_broadcast_strides(mask, ndim, of_mask);
    cpu_truths_begin(&t, mask, ndim, sizes, of_mask, of_self, size);
    TN_TRY(cpu_truths_count(call, &t, &count));
    TN_TRY(tn->tensor_new(call, 1, &count, self->dtype, self->device, &out));
    selection s = {(char *)out->data, (const char *)self->data, size, cpu_moves_of(self->dtype)};
    tn_status status = count ? cpu_truths_run(call, &t, select_piece, &s) : TN_OK;
    if (status != TN_OK) {
        tn->tensor_release(out);
        return status;
    }
    *result = out;
    return TN_OK;
}

static tn_status masked_select(tn_call *call, struct tn_masked_select_args *a)
{
    if (a->mask->dtype != TN_BOOL)
        return tn->fail(call, TN_ERR_DTYPE, "mask has dtype %s; it must be bool",
                        tn->dtype_name(a->mask->dtype));
    TN_TRY(cpu_check_here(call, a->self, "self"));
    TN_TRY(cpu_check_here(call, a->mask, "mask"));
    return cpu_select_masked(call, a->self, a->mask, &a->result);
}

/* ---- masked_scatter -------------------------------------------------------------------------- */
typedef struct scattering {
    char *out;
    const char *source;
    int64_t size;
    const cpu_moves *moves;
} scattering;

static int64_t scatter_piece(void *arg, const cpu_piece *p)
{
    const scattering *s = arg;
    return s->moves->spread(s->out + p->other, p->step, s->source + p->nth * s->size, p->truth,
                            p->n);
}

/* source is row-major, and neither it nor mask shares memory with the result. */
static tn_status scatter(tn_call *call, struct tn_masked_scatter_args *a, const tn_tensor *mask,
                         const tn_tensor *source)
{
    tn_tensor *out = a->result;
    int64_t count = 0, of_mask[TN_MAX_DIMS], size = (int64_t)tn->dtype_size(out->dtype);
    cpu_truths t;
    cpu_broadcast_strides(mask, out->ndim, of_mask);
    cpu_truths_begin(&t, mask, out->ndim, out->sizes, of_mask, out->strides, size);
    TN_TRY(cpu_truths_count(call, &t, &count));
    if (count > source->numel)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "source has %lld elements, but %lld of the mask's are true; expected as "
                        "many or more",
                        (long long)source->numel, (long long)count);
    if (out != a->self)
        TN_TRY(cpu_copy_elements(call, out, a->self));
    scattering s = {(char *)out->data, (const char *)source->data, size, cpu_moves_of(out->dtype)};
    return count ? cpu_truths_run(call, &t, scatter_piece, &s) : TN_OK;
}

static tn_status masked_scatter(tn_call *call, struct tn_masked_scatter_args *a)
{
    tn_tensor *mask = a->mask, *source = a->source, *mask_copy = NULL, *source_copy = NULL;
    TN_TRY(cpu_check_dtype(call, a->result, a->self->dtype));
    TN_TRY(tn->check_no_internal_overlap(call, a->result));
    tn_status status = cpu_apart(call, a->result, &mask, &mask_copy);
    if (status == TN_OK && !(source->flags & TN_TENSOR_CONTIGUOUS))
        status = cpu_copy_of(call, &source, &source_copy);
    else if (status == TN_OK)
        status = cpu_apart(call, a->result, &source, &source_copy);
    if (status == TN_OK)
        status = scatter(call, a, mask, source);
    tn->tensor_release(mask_copy);
    tn->tensor_release(source_copy);
    return status;
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(nonzero, "CPU", nonzero),
    TN_KERNEL(masked_select, "CPU", masked_select),
    TN_KERNEL(masked_scatter, "CPU", masked_scatter),
};
const cpu_kernels cpu_nonzero = {kernels, TN_COUNT(kernels)};

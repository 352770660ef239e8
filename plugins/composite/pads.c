/* pads.c - borders: constant_pad_nd; reflection, replication and circular ones; pad, which chooses.
 *
 * A border of other elements is a selection along one dimension after the other, so its gradient adds
 * up where an element was taken twice. Negative pads cut off. */
#include "tables.h"

#include <inttypes.h>
#include <string.h>

typedef enum border { REFLECT, REPLICATE, CIRCULAR } border;

static tn_status check_pad(tn_call *call, const tn_tensor *self, tn_ints pad)
{
    if (pad.len % 2 != 0 || pad.len > 2 * self->ndim)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "pad: expected two numbers for each padded dimension of %d, got %" PRId64,
                        self->ndim, pad.len);
    return TN_OK;
}

/* ---- constant -------------------------------------------------------------------------------- */
static int64_t positive(int64_t x)
{
    return x > 0 ? x : 0;
}

/* The part of t that both have: without its border, or without what is cut off. */
static tn_tensor *kept(work *w, tn_tensor *t, tn_ints pad, int64_t sign)
{
    for (int64_t i = 0; t && i < pad.len / 2; i++) {
        int64_t dim = t->ndim - 1 - i, size = t->sizes[dim];
        int64_t before = positive(sign * pad.data[2 * i]);
        int64_t after = positive(sign * pad.data[2 * i + 1]);
        if (before || after)
            t = work_slice(w, t, dim, before, size - after);
    }
    return t;
}

static tn_status padded_sizes(tn_call *call, const tn_tensor *self, tn_ints pad, int64_t *sizes)
{
    TN_TRY(check_pad(call, self, pad));
    for (int d = 0; d < self->ndim; d++)
        sizes[d] = self->sizes[d];
    for (int64_t i = 0; i < pad.len / 2; i++) {
        int64_t *size = &sizes[self->ndim - 1 - i];
        if (__builtin_add_overflow(*size, pad.data[2 * i], size) ||
            __builtin_add_overflow(*size, pad.data[2 * i + 1], size))
            return tn->fail(call, TN_ERR_OVERFLOW, "pad: a size overflows");
        if (*size < 0)
            return tn->fail(call, TN_ERR_ARGUMENT,
                            "pad: %" PRId64 " and %" PRId64 " leave a negative size of dimension "
                            "%" PRId64 ", which has %" PRId64,
                            pad.data[2 * i], pad.data[2 * i + 1], self->ndim - 1 - i,
                            self->sizes[self->ndim - 1 - i]);
    }
    return TN_OK;
}

static tn_status constant(tn_call *call, tn_tensor *self, tn_ints pad, const tn_scalar *value,
                          tn_tensor **out)
{
    work w = work_on(call);
    int64_t sizes[TN_MAX_DIMS];
    tn_tensor *fresh = NULL;
    TN_TRY(padded_sizes(call, self, pad, sizes));
    TN_TRY(composite_new(call, (tn_ints){sizes, self->ndim}, TN_CONTIGUOUS, NULL, self->dtype,
                         self->device, &fresh));
    TN_TRY(composite_filled(call, fresh, value, &fresh));
    fresh = work_hold(&w, fresh);
    tn_tensor *from = kept(&w, self, pad, -1);
    if (from && from->numel)
        work_copy_(&w, kept(&w, fresh, pad, 1), from, false);
    return work_end(&w, fresh, out);
}

static tn_status constant_pad_nd(tn_call *call, struct tn_constant_pad_nd_args *a)
{
    return constant(call, a->self, a->pad, &a->value, &a->result);
}

/* ---- elements -------------------------------------------------------------------------------- */
/* Which of n elements stands at position p, which is less than 0 before the first one. */
static int64_t source(border b, int64_t p, int64_t n)
{
    switch (b) {
    case REFLECT:
        return p < 0 ? -p : p >= n ? 2 * (n - 1) - p : p;
    case REPLICATE:
        return p < 0 ? 0 : p >= n ? n - 1 : p;
    default:
        return p < 0 ? p + n : p >= n ? p - n : p;
    }
}

static tn_status check_border(tn_call *call, border b, int64_t dim, int64_t n, const int64_t pad[2])
{
    int64_t most = b == REFLECT ? n - 1 : b == CIRCULAR ? n : INT64_MAX / 4 - n;
    if (pad[0] > most || pad[1] > most)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "padding: %" PRId64 " and %" PRId64 " are too wide for dimension %" PRId64
                        ", which has %" PRId64 " elements",
                        pad[0], pad[1], dim, n);
    if (n < 1 || pad[0] < -n || pad[1] < -n || n + pad[0] + pad[1] < 1)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "padding: %" PRId64 " and %" PRId64 " leave nothing of dimension %" PRId64
                        ", which has %" PRId64 " elements",
                        pad[0], pad[1], dim, n);
    return TN_OK;
}

static tn_tensor *bordered_dim(work *w, tn_tensor *t, int64_t dim, border b, const int64_t pad[2])
{
    int64_t n = t->sizes[dim], size = n + pad[0] + pad[1];
    int64_t *numbers = tn->scratch(w->call, (size_t)size * sizeof *numbers);
    if (!numbers) {
        w->status = TN_ERR_MEMORY;
        return NULL;
    }
    for (int64_t i = 0; i < size; i++)
        numbers[i] = source(b, i - pad[0], n);
    return work_picked(w, t, dim, numbers, size);
}

/* The last pad.len / 2 dimensions. */
static tn_status bordered(tn_call *call, tn_tensor *self, tn_ints pad, border b, tn_tensor **out)
{
    work w = work_on(call);
    tn_tensor *t = self;
    TN_TRY(check_pad(call, self, pad));
    for (int64_t i = 0; i < pad.len / 2; i++) {
        int64_t dim = self->ndim - 1 - i;
        TN_TRY(check_border(call, b, dim, self->sizes[dim], pad.data + 2 * i));
    }
    for (int64_t i = 0; t && i < pad.len / 2; i++)
        if (pad.data[2 * i] || pad.data[2 * i + 1])
            t = bordered_dim(&w, t, self->ndim - 1 - i, b, pad.data + 2 * i);
    t = t == self ? work_clone(&w, self, TN_CONTIGUOUS) : t;
    return work_end(&w, t, out);
}

/* Over `dims` dimensions behind the channels, with or without a batch. */
static tn_status of_image(tn_call *call, tn_tensor *self, tn_ints pad, int dims, border b,
                          tn_tensor **out)
{
    if (pad.len != 2 * dims)
        return tn->fail(call, TN_ERR_ARGUMENT, "padding: expected %d numbers, got %" PRId64,
                        2 * dims, pad.len);
    bool empty = false;
    for (int d = self->ndim == dims + 2; d < self->ndim; d++)
        empty |= self->sizes[d] == 0;
    if ((self->ndim != dims + 1 && self->ndim != dims + 2) || empty)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "self: expected %d or %d dimensions, of which only the batch may be empty, "
                        "got %d%s",
                        dims + 1, dims + 2, self->ndim, empty ? ", one of them empty" : "");
    return bordered(call, self, pad, b, out);
}

static tn_status reflection_pad1d(tn_call *call, struct tn_reflection_pad1d_args *a)
{
    return of_image(call, a->self, a->padding, 1, REFLECT, &a->result);
}

static tn_status reflection_pad2d(tn_call *call, struct tn_reflection_pad2d_args *a)
{
    return of_image(call, a->self, a->padding, 2, REFLECT, &a->result);
}

static tn_status reflection_pad3d(tn_call *call, struct tn_reflection_pad3d_args *a)
{
    return of_image(call, a->self, a->padding, 3, REFLECT, &a->result);
}

static tn_status replication_pad1d(tn_call *call, struct tn_replication_pad1d_args *a)
{
    return of_image(call, a->self, a->padding, 1, REPLICATE, &a->result);
}

static tn_status replication_pad2d(tn_call *call, struct tn_replication_pad2d_args *a)
{
    return of_image(call, a->self, a->padding, 2, REPLICATE, &a->result);
}

static tn_status replication_pad3d(tn_call *call, struct tn_replication_pad3d_args *a)
{
    return of_image(call, a->self, a->padding, 3, REPLICATE, &a->result);
}

/* ---- pad ------------------------------------------------------------------------------------- */
static tn_status pad(tn_call *call, struct tn_pad_args *a)
{
    static const char *const modes[] = {"reflect", "replicate", "circular"};
    if (strcmp(a->mode, "constant") == 0) {
        tn_scalar value = work_number(a->value.has ? a->value.value : 0);
        return constant(call, a->self, a->pad, &value, &a->result);
    }
    if (a->value.has && a->value.value != 0)
        return tn->fail(call, TN_ERR_ARGUMENT, "value: a border of mode '%.40s' takes no value",
                        a->mode);
    if (a->pad.len != 2 && a->pad.len != 4 && a->pad.len != 6)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "pad: mode '%.40s' takes 2, 4 or 6 numbers, got %" PRId64, a->mode,
                        a->pad.len);
    for (int b = REFLECT; b <= CIRCULAR; b++)
        if (strcmp(a->mode, modes[b]) == 0)
            return of_image(call, a->self, a->pad, (int)a->pad.len / 2, (border)b, &a->result);
    return tn->fail(call, TN_ERR_ARGUMENT,
                    "mode: expected 'constant', 'reflect', 'replicate' or 'circular', got '%.40s'",
                    a->mode);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(constant_pad_nd, IMPLICIT, constant_pad_nd),
    TN_KERNEL(reflection_pad1d, IMPLICIT, reflection_pad1d),
    TN_KERNEL(reflection_pad2d, IMPLICIT, reflection_pad2d),
    TN_KERNEL(reflection_pad3d, IMPLICIT, reflection_pad3d),
    TN_KERNEL(replication_pad1d, IMPLICIT, replication_pad1d),
    TN_KERNEL(replication_pad2d, IMPLICIT, replication_pad2d),
    TN_KERNEL(replication_pad3d, IMPLICIT, replication_pad3d),
    TN_KERNEL(pad, IMPLICIT, pad),
};
const composite_kernels composite_pads = {kernels, TN_COUNT(kernels)};

/* arrange.c - the same elements elsewhere: flip, roll, repeat, tile, triangles, diagonals, unflatten,
 * sum_to_size.
 *
 * flip and the triangles have gradients of their own kind, so they are explicit; the others are
 * made of views, copies and cat. */
#include "work.h"

#include <inttypes.h>

/* ---- order ----------------------------------------------------------------------------------- */
static tn_status flip(tn_call *call, struct tn_flip_args *a)
{
    work w = work_on(call);
    tn_tensor *t = a->self;
    uint64_t seen = 0;
    for (int64_t i = 0; i < a->dims.len; i++) {
        int64_t d = 0;
        TN_TRY(composite_wrap_dim(call, "dims", a->dims.data[i], t->ndim, &d));
        if (seen >> d & 1)
            return tn->fail(call, TN_ERR_ARGUMENT, "dims: dimension %" PRId64 " appears twice", d);
        seen |= UINT64_C(1) << d;
    }
    for (int64_t d = 0; t && d < a->self->ndim; d++)
        if (seen >> d & 1 && t->sizes[d] > 1)
            t = work_index_select(&w, t, d,
                                  work_arange(&w, t->sizes[d] - 1, -1, t->sizes[d], t->device));
    return work_end(&w, t == a->self ? work_clone(&w, t, TN_CONTIGUOUS) : t, &a->result);
}

static tn_tensor *rolled(work *w, tn_tensor *t, int64_t shift, int64_t d)
{
    int64_t n = t->sizes[d];
    if (n < 2)
        return t;
    int64_t by = (shift % n + n) % n;
    tn_tensor *pair[] = {work_slice(w, t, d, n - by, n), work_slice(w, t, d, 0, n - by)};
    return work_cat(w, (tn_tensors){pair, 2}, d);
}

static tn_status roll(tn_call *call, struct tn_roll_args *a)
{
    work w = work_on(call);
    tn_tensor *t = a->self;
    if (a->dims.len <= 0) {
        if (a->shifts.len != 1)
            return tn->fail(call, TN_ERR_ARGUMENT,
                            "shifts: expected one without dims, got %" PRId64, a->shifts.len);
        t = rolled(&w, work_reshape(&w, t, (tn_ints){&t->numel, 1}), a->shifts.data[0], 0);
        t = work_reshape(&w, t, composite_sizes(a->self));
        return work_end(&w, work_clone(&w, t, TN_CONTIGUOUS), &a->result);
    }
    if (a->dims.len != a->shifts.len)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "shifts and dims: expected equally many, got %" PRId64 " and %" PRId64,
                        a->shifts.len, a->dims.len);
    for (int64_t i = 0; i < a->dims.len; i++) {
        int64_t d = 0;
        tn_status status =
            a->self->ndim ? composite_wrap_dim(call, "dims", a->dims.data[i], a->self->ndim, &d)
                          : TN_OK;
        if (status != TN_OK)
            return work_fail(&w, status);
        if (t && t->ndim)
            t = rolled(&w, t, a->shifts.data[i], d);
    }
    return work_end(&w, t == a->self ? work_clone(&w, t, TN_CONTIGUOUS) : t, &a->result);
}

/* ---- repeats --------------------------------------------------------------------------------- */
static tn_status check_repeats(tn_call *call, const tn_tensor *self, tn_ints repeats)
{
    TN_TRY(composite_check_rank(call, repeats.len));
    if (repeats.len < self->ndim)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "repeats: expected one for each of the %d dimensions, got %" PRId64,
                        self->ndim, repeats.len);
    if (repeats.len > TN_MAX_DIMS / 2)
        return tn->fail(call, TN_ERR_ARGUMENT, "repeats: at most %d dimensions, got %" PRId64,
                        TN_MAX_DIMS / 2, repeats.len);
    for (int64_t d = 0; d < repeats.len; d++)
        if (repeats.data[d] < 0)
            return tn->fail(call, TN_ERR_ARGUMENT, "repeats: expected 0 or more, got %" PRId64,
                            repeats.data[d]);
    return TN_OK;
}

/* [n] seen as [1, n], expanded to [times, n], copied as [times * n]; for every dimension at once. */
static tn_status repeated(tn_call *call, tn_tensor *self, tn_ints repeats, tn_tensor **out)
{
    int64_t split[TN_MAX_DIMS], wide[TN_MAX_DIMS], joined[TN_MAX_DIMS];
    work w = work_on(call);
    TN_TRY(check_repeats(call, self, repeats));
    for (int64_t d = 0; d < repeats.len; d++) {
        int64_t own = d - (repeats.len - self->ndim), n = own < 0 ? 1 : self->sizes[own];
        split[2 * d] = 1;
        wide[2 * d] = repeats.data[d];
        split[2 * d + 1] = wide[2 * d + 1] = n;
        if (__builtin_mul_overflow(repeats.data[d], n, &joined[d]))
            return tn->fail(call, TN_ERR_OVERFLOW,
                            "overflow: dimension %" PRId64 " grows too large", d);
    }
    tn_tensor *t = work_reshape(&w, self, (tn_ints){split, 2 * repeats.len});
    t = work_clone(&w, work_expand(&w, t, (tn_ints){wide, 2 * repeats.len}), TN_CONTIGUOUS);
    return work_end(&w, work_reshape(&w, t, (tn_ints){joined, repeats.len}), out);
}

static tn_status repeat(tn_call *call, struct tn_repeat_args *a)
{
    return repeated(call, a->self, a->repeats, &a->result);
}

static tn_status tile(tn_call *call, struct tn_tile_args *a)
{
    int64_t full[TN_MAX_DIMS], lead = a->self->ndim - a->dims.len;
    if (lead <= 0)
        return repeated(call, a->self, a->dims, &a->result);
    for (int64_t d = 0; d < a->self->ndim; d++)
        full[d] = d < lead ? 1 : a->dims.data[d - lead];
    return repeated(call, a->self, (tn_ints){full, a->self->ndim}, &a->result);
}

/* ---- triangles and diagonals ----------------------------------------------------------------- */
/* self where column - row <= diagonal (lower) or >= diagonal, else 0. */
static tn_status triangle(tn_call *call, tn_tensor *self, int64_t diagonal, bool lower,
                          tn_tensor **out)
{
    work w = work_on(call);
    if (self->ndim < 2)
        return tn->fail(call, TN_ERR_ARGUMENT, "self: expected 2 dimensions or more, got %d",
                        self->ndim);
    int64_t rows = self->sizes[self->ndim - 2], columns = self->sizes[self->ndim - 1];
    tn_tensor *row = work_unsqueeze(&w, work_arange(&w, 0, 1, rows, self->device), 1);
    tn_tensor *column = work_arange(&w, 0, 1, columns, self->device);
    tn_tensor *shifted = work_add_number(&w, row, work_whole(diagonal));
    tn_tensor *inside = lower ? work_le(&w, column, shifted) : work_le(&w, shifted, column);
    return work_end(&w, work_only_where(&w, inside, self), out);
}

static tn_status tril(tn_call *call, struct tn_tril_args *a)
{
    return triangle(call, a->self, a->diagonal, true, &a->result);
}

static tn_status triu(tn_call *call, struct tn_triu_args *a)
{
    return triangle(call, a->self, a->diagonal, false, &a->result);
}

static tn_status trace(tn_call *call, struct tn_trace_args *a)
{
    work w = work_on(call);
    if (a->self->ndim != 2)
        return tn->fail(call, TN_ERR_ARGUMENT, "self: expected a matrix, got %d dimensions",
                        a->self->ndim);
    tn_tensor *t = work_diagonal(&w, a->self, 0, 0, 1);
    return work_end(&w, work_sum(&w, t, work_all_dims, false), &a->result);
}

/* Zeros with self on the diagonals of dimensions dim1 and dim2. */
static tn_status embedded(tn_call *call, tn_tensor *self, int64_t offset, int64_t dim1,
                          int64_t dim2, tn_tensor **out)
{
    int64_t sizes[TN_MAX_DIMS], d1 = 0, d2 = 0, ndim = self->ndim + 1, next = 0;
    work w = work_on(call);
    if (self->ndim == 0)
        return tn->fail(call, TN_ERR_ARGUMENT, "self: expected 1 dimension or more, got 0");
    TN_TRY(composite_check_rank(call, ndim));
    TN_TRY(composite_wrap_dim(call, "dim1", dim1, ndim, &d1));
    TN_TRY(composite_wrap_dim(call, "dim2", dim2, ndim, &d2));
    if (d1 == d2)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "dim1 and dim2 must differ, both are dimension %" PRId64, d1);
    for (int64_t d = 0; d < ndim; d++)
        sizes[d] = d == d1 || d == d2
                       ? self->sizes[self->ndim - 1] + (offset < 0 ? -offset : offset)
                       : self->sizes[next++];
    tn_tensor *whole = work_zeros(&w, (tn_ints){sizes, ndim}, self->dtype, self->device);
    work_copy_(&w, work_diagonal(&w, whole, offset, d1, d2), self, false);
    return work_end(&w, whole, out);
}

static tn_status diag_embed(tn_call *call, struct tn_diag_embed_args *a)
{
    return embedded(call, a->self, a->offset, a->dim1, a->dim2, &a->result);
}

static tn_tensor *call_diag_embed(work *w, tn_tensor *self, int64_t offset)
{
    if (!self)
        return NULL;
    struct tn_diag_embed_args f = {TN_FRAME(diag_embed), .self = self, .offset = offset, .dim1 = 0,
                                   .dim2 = 1};
    return work_call(w, OP_DIAG_EMBED, &f, &f.result);
}

static tn_status diag(tn_call *call, struct tn_diag_args *a)
{
    work w = work_on(call);
    int ndim = a->self->ndim;
    if (ndim != 1 && ndim != 2)
        return tn->fail(call, TN_ERR_ARGUMENT, "self: expected 1 or 2 dimensions, got %d", ndim);
    if (ndim == 1)
        return work_end(&w, call_diag_embed(&w, a->self, a->diagonal), &a->result);
    tn_tensor *part = work_diagonal(&w, a->self, a->diagonal, 0, 1);
    return work_end(&w, work_clone(&w, part, TN_CONTIGUOUS), &a->result);
}

static tn_status diagflat(tn_call *call, struct tn_diagflat_args *a)
{
    work w = work_on(call);
    tn_tensor *row = work_reshape(&w, a->self, (tn_ints){&a->self->numel, 1});
    return work_end(&w, call_diag_embed(&w, row, a->offset), &a->result);
}

/* ---- shapes ---------------------------------------------------------------------------------- */
static tn_status unflatten(tn_call *call, struct tn_unflatten_int_args *a)
{
    int64_t sizes[TN_MAX_DIMS], d = 0, n = 0, known = 1, guess = -1;
    const tn_tensor *self = a->self;
    if (self->ndim == 0 || a->sizes.len <= 0)
        return tn->fail(call, TN_ERR_ARGUMENT, "expected a dimension to take apart, and its sizes");
    TN_TRY(composite_wrap_dim(call, "dim", a->dim, self->ndim, &d));
    TN_TRY(composite_check_rank(call, self->ndim - 1 + a->sizes.len));
    for (int64_t i = 0; i < self->ndim; i++) {
        if (i != d) {
            sizes[n++] = self->sizes[i];
            continue;
        }
        for (int64_t k = 0; k < a->sizes.len; k++, n++) {
            sizes[n] = a->sizes.data[k];
            if (sizes[n] == -1)
                guess = n;
            else if (sizes[n] < 0 || __builtin_mul_overflow(known, sizes[n], &known))
                return tn->fail(call, TN_ERR_ARGUMENT, "sizes: %" PRId64 " is not a size",
                                sizes[n]);
        }
    }
    if (guess >= 0)
        sizes[guess] = known ? self->sizes[d] / known : 0;
    known *= guess >= 0 ? sizes[guess] : 1;
    if (known != self->sizes[d])
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "sizes: their product must be %" PRId64 ", the size of dimension %" PRId64,
                        self->sizes[d], d);
    return op_view(a->self, (tn_ints){sizes, n}, &a->result);
}

/* The inverse of broadcasting: sums where size is smaller. */
static tn_status sum_to_size(tn_call *call, struct tn_sum_to_size_args *a)
{
    const tn_tensor *self = a->self;
    char want[COMPOSITE_SHAPE_CHARS], got[COMPOSITE_SHAPE_CHARS];
    int64_t dims[TN_MAX_DIMS], n = 0, lead = self->ndim - a->size.len;
    bool fits = lead >= 0 && a->size.len >= 0;
    for (int64_t d = 0; fits && d < self->ndim; d++) {
        bool sums = d < lead || (a->size.data[d - lead] == 1 && self->sizes[d] != 1);
        fits = sums || a->size.data[d - lead] == self->sizes[d];
        if (sums)
            dims[n++] = d;
    }
    if (!fits)
        return tn->fail(call, TN_ERR_ARGUMENT, "size %s does not broadcast to self's shape %s",
                        composite_shape_text(want, a->size.len < 0 ? 0 : a->size.len, a->size.data),
                        composite_shape_text(got, self->ndim, self->sizes));
    work w = work_on(call);
    if (a->size.len == 0)
        return work_end(&w, work_sum(&w, a->self, work_all_dims, false), &a->result);
    tn_tensor *t = n ? work_sum(&w, a->self, (tn_ints){dims, n}, true) : a->self;
    if (lead > 0)
        t = work_reshape(&w, t, a->size);
    return work_end(&w, t, &a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(flip, EXPLICIT, flip),
    TN_KERNEL(roll, IMPLICIT, roll),
    TN_KERNEL(repeat, IMPLICIT, repeat),
    TN_KERNEL(tile, IMPLICIT, tile),
    TN_KERNEL(tril, EXPLICIT, tril),
    TN_KERNEL(triu, EXPLICIT, triu),
    TN_KERNEL(trace, IMPLICIT, trace),
    TN_KERNEL(diag_embed, EXPLICIT, diag_embed),
    TN_KERNEL(diag, IMPLICIT, diag),
    TN_KERNEL(diagflat, IMPLICIT, diagflat),
    TN_KERNEL(unflatten_int, IMPLICIT, unflatten),
    TN_KERNEL(sum_to_size, IMPLICIT, sum_to_size),
};
const composite_kernels composite_arrange = {kernels, TN_COUNT(kernels)};

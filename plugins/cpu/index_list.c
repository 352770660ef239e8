/* index_list.c - index, index_put, index_copy, index_fill; take and put.
 *
 * All name places (places.h) and move elements between them and another tensor (transfer.h). What
 * can be wrong with indices is found while the places are made, before self is copied into the
 * result and anything is written. */
#include "transfer.h"
#include "truths.h"

/* ---- reading --------------------------------------------------------------------------------- */
/* x[mask], with a mask of x's shape. */
static bool is_select(const tn_tensor *self, tn_tensors indices)
{
    const tn_tensor *mask = indices.len == 1 ? indices.data[0] : NULL;
    return mask && tn_indexing_is_mask(mask) && self->ndim && mask->ndim == self->ndim &&
           memcmp(mask->sizes, self->sizes, (size_t)self->ndim * sizeof *self->sizes) == 0;
}

static tn_status index_tensor(tn_call *call, struct tn_index_Tensor_args *a)
{
    cpu_places p;
    tn_indexing x;
    tn_tensor *out;
    TN_TRY(cpu_check_here(call, a->self, "self"));
    if (is_select(a->self, a->indices)) {
        TN_TRY(cpu_check_here(call, a->indices.data[0], "indices[0]"));
        return cpu_select_masked(call, a->self, a->indices.data[0], &a->result);
    }
    TN_TRY(cpu_places_of_list(call, &p, &x, a->self, a->indices));
    TN_TRY(tn->tensor_new(call, x.ndim, x.sizes, a->self->dtype, a->self->device, &out));
    tn_status status = cpu_transfer(call, CPU_READ, &p, &x, a->self, out);
    if (status != TN_OK) {
        tn->tensor_release(out);
        return status;
    }
    a->result = out;
    return TN_OK;
}

static tn_status take(tn_call *call, struct tn_take_args *a)
{
    cpu_places p;
    tn_tensor *out = a->result, *fresh = NULL;
    TN_TRY(cpu_check_dtype(call, out, a->self->dtype));
    TN_TRY(cpu_places_in_whole(call, &p, a->self, a->index));
    if (!(out->flags & TN_TENSOR_CONTIGUOUS))
        TN_TRY(tn->tensor_new(call, out->ndim, out->sizes, out->dtype, out->device, &fresh));
    tn_status status = cpu_transfer_whole(call, CPU_READ, &p, a->self, fresh ? fresh : out);
    if (status == TN_OK && fresh)
        status = cpu_copy_elements(call, out, fresh);
    tn->tensor_release(fresh);
    return status;
}

/* ---- writing --------------------------------------------------------------------------------- */
typedef struct writing {
    tn_tensor *result, *self, *values;
    cpu_places places;
    tn_indexing x; /* unless the places are in the whole */
    bool in_whole, adds;
} writing;

static tn_status move(tn_call *call, const writing *w, tn_tensor *result, tn_tensor *values)
{
    cpu_transfer_kind kind = w->adds ? CPU_ADD : CPU_WRITE;
    return w->in_whole ? cpu_transfer_whole(call, kind, &w->places, result, values)
                       : cpu_transfer(call, kind, &w->places, &w->x, result, values);
}

/* result = self first; what values share with the result counts as it was before. */
static tn_status write(tn_call *call, writing *w)
{
    tn_tensor *copy = NULL, *values = w->values;
    tn_status status = w->in_whole && !(values->flags & TN_TENSOR_CONTIGUOUS)
                           ? cpu_copy_of(call, &values, &copy)
                           : cpu_apart(call, w->result, &values, &copy);
    if (status == TN_OK && w->result != w->self)
        status = cpu_copy_elements(call, w->result, w->self);
    if (status == TN_OK)
        status = move(call, w, w->result, values);
    tn->tensor_release(copy);
    return status;
}

static tn_status as_dtype(tn_call *call, tn_tensor *t, tn_dtype dtype, tn_tensor **out)
{
    TN_TRY(tn->tensor_new(call, t->ndim, t->sizes, dtype, t->device, out));
    return cpu_copy_elements(call, *out, t);
}

typedef tn_status (*places_fn)(tn_call *call, writing *w, const tn_tensor *t, const void *args);

/* Halves are added up in float32 and rounded once. */
static tn_status write_halves(tn_call *call, writing *w, places_fn find, const void *args)
{
    tn_tensor *wide = NULL, *values = NULL;
    tn_status status = as_dtype(call, w->self, TN_F32, &wide);
    if (status == TN_OK)
        status = find(call, w, wide, args);
    if (status == TN_OK)
        status = as_dtype(call, w->values, TN_F32, &values);
    if (status == TN_OK)
        status = move(call, w, wide, values);
    if (status == TN_OK)
        status = cpu_copy_elements(call, w->result, wide);
    tn->tensor_release(wide);
    tn->tensor_release(values);
    return status;
}

/* `find` makes the places in a tensor of self's shape. */
static tn_status find_and_write(tn_call *call, writing *w, places_fn find, const void *args)
{
    TN_TRY(cpu_check_dtype(call, w->result, w->self->dtype));
    TN_TRY(tn->check_no_internal_overlap(call, w->result));
    if (w->adds && (w->self->dtype == TN_F16 || w->self->dtype == TN_BF16))
        return write_halves(call, w, find, args);
    TN_TRY(find(call, w, w->result, args));
    return write(call, w);
}

/* ---- index_put ------------------------------------------------------------------------------- */
static tn_status find_list(tn_call *call, writing *w, const tn_tensor *t, const void *args)
{
    const tn_tensors *indices = args;
    TN_TRY(cpu_places_of_list(call, &w->places, &w->x, t, *indices));
    tn_status status = tn_indexing_check_values(&w->x, w->values);
    return status == TN_OK ? TN_OK : tn->fail(call, status, "%s", w->x.text);
}

static tn_status index_put(tn_call *call, struct tn_index_put_args *a)
{
    writing w = {.result = a->result, .self = a->self, .values = a->values, .adds = a->accumulate};
    tn_tensor *cast = NULL;
    if (a->values->dtype != a->self->dtype) { /* one value, for a mask */
        TN_TRY(as_dtype(call, a->values, a->self->dtype, &cast));
        w.values = cast;
    }
    tn_status status = find_and_write(call, &w, find_list, &a->indices);
    tn->tensor_release(cast);
    return status;
}

/* ---- slices ---------------------------------------------------------------------------------- */
typedef struct slices {
    int64_t dim;
    tn_tensor *index; /* of one dimension */
    bool from_end;    /* negative indices are allowed */
} slices;

/* A 0-dim tensor as one of a single element; others as they are. */
static tn_status as_vector(tn_call *call, tn_tensor *t, tn_tensor **out)
{
    const int64_t one = 1;
    if (t->ndim == 0)
        return tn->tensor_view(call, t, 1, &one, &one, tn->tensor_offset(t), t->dtype, out);
    tn->tensor_retain(t);
    *out = t;
    return TN_OK;
}

static tn_status find_slices(tn_call *call, writing *w, const tn_tensor *t, const void *args)
{
    const slices *s = args;
    tn_tensor *list[TN_MAX_DIMS] = {NULL};
    int64_t dim = s->dim < 0 ? s->dim + t->ndim : s->dim;
    if (!s->from_end)
        TN_TRY(cpu_check_indices(call, s->index, "index", t->sizes[dim], "self"));
    else
        TN_TRY(cpu_check_range(call, s->index, "index", -t->sizes[dim], t->sizes[dim], "self"));
    list[dim] = s->index;
    return cpu_places_of_list(call, &w->places, &w->x, t, (tn_tensors){list, dim + 1});
}

/* Of 0-dim tensors their vectors take part. */
static tn_status write_slices(tn_call *call, writing *w, slices *s)
{
    tn_tensor *result = NULL, *self = NULL, *index = NULL;
    bool inplace = w->result == w->self;
    tn_status status = as_vector(call, w->result, &result);
    if (status == TN_OK)
        status = as_vector(call, w->self, &self);
    if (status == TN_OK)
        status = as_vector(call, s->index, &index);
    if (status == TN_OK) {
        w->result = result;
        w->self = inplace ? result : self;
        s->index = index;
        status = find_and_write(call, w, find_slices, s);
    }
    tn->tensor_release(result);
    tn->tensor_release(self);
    tn->tensor_release(index);
    return status;
}

static tn_status index_copy(tn_call *call, struct tn_index_copy_args *a)
{
    writing w = {.result = a->result, .self = a->self, .values = a->source};
    slices s = {a->dim, a->index, false};
    return write_slices(call, &w, &s);
}

/* value is an element of self's dtype. */
static tn_status fill(tn_call *call, tn_tensor *result, tn_tensor *self, slices *s,
                      const tn_number *value)
{
    writing w = {.result = result, .self = self};
    TN_TRY(tn->tensor_new(call, 0, NULL, self->dtype, self->device, &w.values));
    tn_tensor *made = w.values;
    memcpy(made->data, value, tn->dtype_size(self->dtype));
    tn_status status = write_slices(call, &w, s);
    tn->tensor_release(made);
    return status;
}

static tn_status index_fill_scalar(tn_call *call, struct tn_index_fill_int_Scalar_args *a)
{
    slices s = {a->dim, a->index, true};
    tn_number value;
    TN_TRY(cpu_fill_value(call, &a->value, a->self->dtype, &value));
    return fill(call, a->result, a->self, &s, &value);
}

static tn_status index_fill_tensor(tn_call *call, struct tn_index_fill_int_Tensor_args *a)
{
    slices s = {a->dim, a->index, true};
    tn_number value;
    TN_TRY(tn->convert(call, &value, a->self->dtype, 16, a->value->data, a->value->dtype, 16, 1));
    return fill(call, a->result, a->self, &s, &value);
}

/* ---- put ------------------------------------------------------------------------------------- */
static tn_status find_in_whole(tn_call *call, writing *w, const tn_tensor *t, const void *args)
{
    return cpu_places_in_whole(call, &w->places, t, args);
}

static tn_status put(tn_call *call, struct tn_put_args *a)
{
    writing w = {.result = a->result,
                 .self = a->self,
                 .values = a->source,
                 .in_whole = true,
                 .adds = a->accumulate};
    return find_and_write(call, &w, find_in_whole, a->index);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(index_Tensor, "CPU", index_tensor),
    TN_KERNEL(index_put, "CPU", index_put),
    TN_KERNEL(index_copy, "CPU", index_copy),
    TN_KERNEL(index_fill_int_Scalar, "CPU", index_fill_scalar),
    TN_KERNEL(index_fill_int_Tensor, "CPU", index_fill_tensor),
    TN_KERNEL(take, "CPU", take),
    TN_KERNEL(put, "CPU", put),
};
const cpu_kernels cpu_index_list = {kernels, TN_COUNT(kernels)};

/* indexing.c - nonzero_numpy, argwhere, count_nonzero, take_along_dim; the scatters that write src
 * into a part of a copy of self; and out= of operators whose results have sizes that values decide.
 *
 * The scatters are a clone, a view of it and copy_, so that their gradients are those of these. */
#include "work.h"

#include <inttypes.h>

/* ---- what is not zero ------------------------------------------------------------------------ */
static tn_status argwhere(tn_call *call, struct tn_argwhere_args *a)
{
    work w = work_on(call);
    return work_end(&w, work_nonzero(&w, a->self), &a->result);
}

static tn_status nonzero_numpy(tn_call *call, struct tn_nonzero_numpy_args *a)
{
    work w = work_on(call);
    tn_tensors list = {NULL, 0};
    tn_tensor *self = a->self->ndim ? a->self : work_unsqueeze(&w, a->self, 0), *last = NULL;
    tn_tensor *all = work_nonzero(&w, self);
    if (w.status == TN_OK)
        w.status = tn->tensors_new(call, all->sizes[1], &list);
    for (int64_t i = 0; i < list.len; i++) {
        last = work_select(&w, all, 1, i);
        if (last)
            composite_return_self(last, &list.data[i]);
    }
    tn_status status = work_end(&w, all, &all);
    if (status != TN_OK) {
        tn->tensors_release(&list);
        return status;
    }
    tn->tensor_release(all);
    a->result = list;
    return TN_OK;
}

static tn_status count(tn_call *call, tn_tensor *self, tn_ints dims, tn_tensor **out)
{
    work w = work_on(call);
    tn_tensor *truth = work_ne(&w, self, work_whole(0));
    return work_end(&w, work_sum(&w, truth, dims, false), out);
}

static tn_status count_nonzero(tn_call *call, struct tn_count_nonzero_args *a)
{
    return count(call, a->self, (tn_ints){&a->dim.value, a->dim.has ? 1 : 0}, &a->result);
}

static tn_status count_nonzero_dims(tn_call *call, struct tn_count_nonzero_dim_IntList_args *a)
{
    return count(call, a->self, a->dim, &a->result);
}

/* ---- take_along_dim -------------------------------------------------------------------------- */
typedef struct taking { /* what gather is to be called with */
    tn_tensor *self, *indices;
    int64_t dim;
} taking;

/* Both are broadcast together but for dim, where each keeps its own size. */
static tn_status broadcast(work *w, taking *t)
{
    int64_t of_self[TN_MAX_DIMS], of_indices[TN_MAX_DIMS], sizes[TN_MAX_DIMS];
    int64_t n = t->self->ndim, ndim = 0, d = t->dim;
    if (n != t->indices->ndim)
        return tn->fail(w->call, TN_ERR_ARGUMENT,
                        "self has %d dimensions and indices %d; they must have equally many",
                        t->self->ndim, t->indices->ndim);
    TN_TRY(composite_wrap_dim(w->call, "dim", t->dim, n, &d));
    t->dim = d;
    for (int64_t i = 0; i < n; i++) {
        of_self[i] = i == d ? 1 : t->self->sizes[i];
        of_indices[i] = i == d ? 1 : t->indices->sizes[i];
    }
    TN_TRY(composite_broadcast(w->call, (tn_ints){of_self, n}, sizes, &ndim));
    TN_TRY(composite_broadcast(w->call, (tn_ints){of_indices, n}, sizes, &ndim));
    if (n == 0)
        return TN_OK;
    sizes[d] = t->self->sizes[d];
    t->self = work_expand(w, t->self, (tn_ints){sizes, n});
    sizes[d] = t->indices->sizes[d];
    t->indices = work_expand(w, t->indices, (tn_ints){sizes, n});
    return w->status;
}

static tn_status prepare(work *w, tn_opt_int dim, taking *t)
{
    const int64_t flat = -1;
    if (t->indices->dtype != TN_I64)
        return tn->fail(w->call, TN_ERR_DTYPE, "indices must be int64, got %s",
                        tn->dtype_name(t->indices->dtype));
    t->dim = dim.has ? dim.value : 0;
    if (dim.has)
        return broadcast(w, t);
    t->self = work_reshape(w, t->self, (tn_ints){&flat, 1});
    t->indices = work_reshape(w, t->indices, (tn_ints){&flat, 1});
    return w->status;
}

static tn_status take_along_dim(tn_call *call, struct tn_take_along_dim_args *a)
{
    work w = work_on(call);
    taking t = {a->self, a->indices, 0};
    tn_status status = prepare(&w, a->dim, &t);
    if (status != TN_OK)
        return work_fail(&w, status);
    return work_end(&w, work_gather(&w, t.self, t.dim, t.indices), &a->result);
}

static tn_status take_along_dim_out(tn_call *call, struct tn_take_along_dim_out_args *a)
{
    work w = work_on(call);
    taking t = {a->self, a->indices, 0};
    tn_status status = prepare(&w, a->dim, &t);
    if (status != TN_OK)
        return work_fail(&w, status);
    struct tn_gather_out_args f = {TN_FRAME(gather_out), .self = t.self,       .dim = t.dim,
                                   .index = t.indices,   .sparse_grad = false, .out = a->out};
    return work_end(&w, work_call(&w, OP_GATHER_OUT, &f, &f.result), &a->result);
}

/* ---- a part of a copy is written ------------------------------------------------------------- */
static bool same_shape(work *w, const tn_tensor *src, const tn_tensor *part)
{
    char want[COMPOSITE_SHAPE_CHARS], got[COMPOSITE_SHAPE_CHARS];
    bool fits = part->ndim == src->ndim;
    for (int d = 0; fits && d < part->ndim; d++)
        fits = part->sizes[d] == src->sizes[d];
    if (!fits)
        w->status = tn->fail(w->call, TN_ERR_ARGUMENT,
                             "src has shape %s, but the part of self that it is written to has %s",
                             composite_shape_text(got, src->ndim, src->sizes),
                             composite_shape_text(want, part->ndim, part->sizes));
    return fits;
}

/* copy's `part`, which src must have the shape of, becomes src. */
static tn_status write_part(work *w, tn_tensor *copy, tn_tensor *part, tn_tensor *src,
                            tn_tensor **out)
{
    if (part && same_shape(w, src, part))
        work_copy_(w, part, src, false);
    return work_end(w, copy, out);
}

static tn_status select_scatter(tn_call *call, struct tn_select_scatter_args *a)
{
    work w = work_on(call);
    tn_tensor *copy = work_clone(&w, a->self, TN_PRESERVE);
    return write_part(&w, copy, work_select(&w, copy, a->dim, a->index), a->src, &a->result);
}

static tn_status slice_scatter(tn_call *call, struct tn_slice_scatter_args *a)
{
    work w = work_on(call);
    tn_tensor *copy = work_clone(&w, a->self, TN_PRESERVE), *part = NULL;
    if (copy) {
        struct tn_slice_Tensor_args f = {TN_FRAME(slice_Tensor), .self = copy,  .dim = a->dim,
                                         .start = a->start,      .end = a->end, .step = a->step};
        part = work_call(&w, OP_SLICE, &f, &f.result);
    }
    return write_part(&w, copy, part, a->src, &a->result);
}

static tn_status diagonal_scatter(tn_call *call, struct tn_diagonal_scatter_args *a)
{
    work w = work_on(call);
    tn_tensor *copy = work_clone(&w, a->self, TN_PRESERVE);
    return write_part(&w, copy, work_diagonal(&w, copy, a->offset, a->dim1, a->dim2), a->src,
                      &a->result);
}

/* The strides count in the copy's storage, which has self's order of dimensions where self has no
 * gaps. Parts of the part may share elements: the last one counts, so this is put_ at the places
 * that as_strided gives to the numbers of a range. */
static tn_status as_strided_scatter(tn_call *call, struct tn_as_strided_scatter_args *a)
{
    work w = work_on(call);
    const int64_t one = 1;
    tn_opt_int begin = {a->storage_offset.has ? a->storage_offset.value : 0, 1}, first = {0, 1};
    tn_tensor *copy = work_clone(&w, a->self, TN_PRESERVE);
    if (!copy)
        return work_fail(&w, TN_OK);
    tn_tensor *storage =
        work_as_strided(&w, copy, (tn_ints){&copy->numel, 1}, (tn_ints){&one, 1}, first);
    tn_tensor *places = work_arange(&w, 0, 1, copy->numel, copy->device);
    places = work_as_strided(&w, places, a->size, a->stride, begin);
    tn_tensor *src = places && same_shape(&w, a->src, places) ? a->src : NULL;
    src = src && src->dtype != copy->dtype ? work_as_dtype(&w, src, copy->dtype) : src;
    work_put_(&w, storage, places, src);
    return work_end(&w, copy, &a->result);
}

/* ---- out= where values decide the size ------------------------------------------------------- */
static tn_status check_out(tn_call *call, const tn_tensor *fresh, const tn_tensor *out)
{
    char want[COMPOSITE_SHAPE_CHARS], got[COMPOSITE_SHAPE_CHARS];
    bool fits = fresh->ndim == out->ndim;
    for (int d = 0; fits && d < fresh->ndim; d++)
        fits = fresh->sizes[d] == out->sizes[d];
    if (out->device.type != fresh->device.type || out->device.index != fresh->device.index)
        return tn->fail(call, TN_ERR_DEVICE, "out is on another device than the result");
    if (out->dtype != fresh->dtype)
        return tn->fail(call, TN_ERR_DTYPE, "out has dtype %s; expected the result's %s",
                        tn->dtype_name(out->dtype), tn->dtype_name(fresh->dtype));
    if (!fits && out->numel > 0)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "out has shape %s, but the result has shape %s; give a tensor of that "
                        "shape, or one without elements to be resized",
                        composite_shape_text(got, out->ndim, out->sizes),
                        composite_shape_text(want, fresh->ndim, fresh->sizes));
    return tn->check_no_internal_overlap(call, out);
}

static tn_status check_apart(tn_call *call, const tn_tensor *out, tn_tensors inputs)
{
    for (int64_t i = 0; i < inputs.len; i++)
        if (inputs.data[i])
            TN_TRY(tn->check_no_overlap(call, out, inputs.data[i]));
    return TN_OK;
}

/* A tensor of no elements may be a view into an input's storage: only its new shape shows. */
static tn_status resize_out(tn_call *call, const tn_tensor *fresh, tn_tensor *out,
                            const tn_tensors *inputs)
{
    composite_geometry before;
    composite_geometry_of(out, &before);
    TN_TRY(tn->tensor_resize(call, out, fresh->ndim, fresh->sizes));
    tn_status status = check_apart(call, out, inputs[0]);
    if (status == TN_OK)
        status = check_apart(call, out, inputs[1]);
    if (status != TN_OK)
        tn->tensor_set_geometry(NULL, out, before.ndim, before.sizes, before.strides,
                                before.offset);
    return status;
}

/* Takes over `fresh`. */
static tn_status give(tn_call *call, tn_tensor *fresh, tn_tensor *out, const tn_tensors *inputs,
                      tn_tensor **result)
{
    tn_status status = check_out(call, fresh, out);
    if (status == TN_OK)
        status = resize_out(call, fresh, out, inputs);
    if (status == TN_OK)
        status = op_copy_(out, fresh, false, NULL);
    tn->tensor_release(fresh);
    return status == TN_OK ? composite_return_self(out, result) : status;
}

static tn_status index_out(tn_call *call, struct tn_index_Tensor_out_args *a)
{
    tn_tensor *fresh;
    TN_TRY(op_index(a->self, a->indices, &fresh));
    return give(call, fresh, a->out, (tn_tensors[]){{&a->self, 1}, a->indices}, &a->result);
}

static tn_status masked_select_out(tn_call *call, struct tn_masked_select_out_args *a)
{
    tn_tensor *fresh;
    TN_TRY(op_masked_select(a->self, a->mask, &fresh));
    return give(call, fresh, a->out, (tn_tensors[]){{&a->self, 1}, {&a->mask, 1}}, &a->result);
}

static tn_status nonzero_out(tn_call *call, struct tn_nonzero_out_args *a)
{
    tn_tensor *fresh;
    TN_TRY(op_nonzero(a->self, &fresh));
    return give(call, fresh, a->out, (tn_tensors[]){{&a->self, 1}, {NULL, 0}}, &a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(argwhere, IMPLICIT, argwhere),
    TN_KERNEL(nonzero_numpy, IMPLICIT, nonzero_numpy),
    TN_KERNEL(count_nonzero, IMPLICIT, count_nonzero),
    TN_KERNEL(count_nonzero_dim_IntList, IMPLICIT, count_nonzero_dims),
    TN_KERNEL(take_along_dim, IMPLICIT, take_along_dim),
    TN_KERNEL(take_along_dim_out, IMPLICIT, take_along_dim_out),
    TN_KERNEL(select_scatter, IMPLICIT, select_scatter),
    TN_KERNEL(slice_scatter, IMPLICIT, slice_scatter),
    TN_KERNEL(diagonal_scatter, IMPLICIT, diagonal_scatter),
    TN_KERNEL(as_strided_scatter, IMPLICIT, as_strided_scatter),
    TN_KERNEL(index_Tensor_out, EXPLICIT, index_out),
    TN_KERNEL(masked_select_out, EXPLICIT, masked_select_out),
    TN_KERNEL(nonzero_out, EXPLICIT, nonzero_out),
};
const composite_kernels composite_indexing = {kernels, TN_COUNT(kernels)};

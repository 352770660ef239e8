/* structured.c - what stands between the dispatcher and a structured kernel: the results.
 *
 * The functional, in-place and out= forms of one declaration have frames with the same beginning,
 * and a structured kernel takes its outputs from the frame's result fields. So one kernel serves
 * the three: here the results are allocated (functional), set to self (in-place) or to the out
 * arguments, checked against the shape rule, and then the kernel runs on the caller's own frame. */
#include <string.h>

#include "core/dispatch/dispatch.h"
#include "core/dispatch/pointwise.h"

static tn_tensor **result_at(const tn_op *op, void *frame, int i)
{
    return (tn_tensor **)((char *)frame + op->layout->fields[i].offset);
}

/* The tensor that receives result i of an in-place or out= call. */
static tn_tensor *given(const tn_op *op, void *frame, int i)
{
    const tn__structure *s = op->structure;
    if (op->form == TN__FORM_INPLACE)
        return *(tn_tensor **)((char *)frame + s->tensors[0]);
    const tn_field *fields = op->layout->fields + op->layout->n_results;
    return *(tn_tensor **)((char *)frame + fields[op->layout->n_args - s->n_results + i].offset);
}

const char *tn__given_name(const tn_op *op, int i)
{
    if (op->form == TN__FORM_INPLACE)
        return "self";
    return op->layout
        ->fields[op->layout->n_results + op->layout->n_args - op->structure->n_results + i]
        .name;
}

tn_status tn__check_given(tn_call *call, const char *name, tn_tensor *t, int64_t ndim,
                          const int64_t *sizes, tn_dtype dtype, tn_device device)
{
    char want[TN__SHAPE_CHARS], got[TN__SHAPE_CHARS], d1[32], d2[32];
    if (!t)
        return tn__fail(call, TN_ERR_ARGUMENT, "%s is missing", name);
    if ((uint32_t)dtype >= TN_DTYPE_COUNT)
        return tn__fail(call, TN_ERR_DTYPE, "dtype %d does not exist", dtype);
    if (!tn__same_device_as(t->device, device))
        return tn__fail(call, TN_ERR_DEVICE, "%s is on %s, the result is on %s", name,
                        tn__device_text(d1, t->device), tn__device_text(d2, device));
    if (!tn__can_cast(dtype, t->dtype))
        return tn__fail(call, TN_ERR_DTYPE,
                        "the result's dtype %s cannot be cast to %s, the dtype of %s",
                        tn__dtype_name(dtype), tn__dtype_name(t->dtype), name);
    if (tn__has_sizes(t, ndim, sizes))
        return TN_OK;
    if (call->op->form == TN__FORM_OUT && t->numel == 0)
        return TN_OK;
    return tn__fail(call, TN_ERR_ARGUMENT, "%s has shape %s, but the result has shape %s%s", name,
                    tn__shape_text(got, t->ndim, t->sizes), tn__shape_text(want, ndim, sizes),
                    call->op->form == TN__FORM_OUT
                        ? "; give a tensor of that shape, or one without elements to be resized"
                        : "");
}

/* Whether the result may be written into t while the operands are read. */
static tn_status check_no_shared_memory(tn_call *call, const void *frame, const tn_tensor *t)
{
    const tn_op *op = call->op;
    for (int i = op->form == TN__FORM_INPLACE; i < op->structure->n_tensors; i++) {
        const tn_tensor *in =
            *(tn_tensor *const *)((const char *)frame + op->structure->tensors[i]);
        if (in)
            TN__TRY(tn__check_no_overlap(call, t, in));
    }
    for (int i = 0; i < op->n_list_args; i++) {
        const tn_tensors *list = (const tn_tensors *)((const char *)frame + op->list_offsets[i]);
        for (int64_t j = 0; j < list->len; j++)
            if (list->data[j])
                TN__TRY(tn__check_no_overlap(call, t, list->data[j]));
    }
    return TN_OK;
}

/* An operand that is the tensor to be resized, or without elements in the same storage, would grow
 * with it. */
static tn_status check_not_resized(tn_call *call, const void *frame, const tn_tensor *t)
{
    const tn_op *op = call->op;
    for (int i = 0; i < op->n_list_args; i++) {
        const tn_tensors *list = (const tn_tensors *)((const char *)frame + op->list_offsets[i]);
        for (int64_t j = 0; j < list->len; j++) {
            const tn_tensor *in = list->data[j];
            if (in && in->numel == 0 && tn__impl(in)->storage == tn__impl(t)->storage)
                return tn__fail(call, TN_ERR_OVERLAP,
                                "out is to be resized, and an operand (number %lld of its list) "
                                "shares its storage; give another out",
                                (long long)j);
        }
    }
    return TN_OK;
}

/* A tensor of no elements may be a view into a storage that an operand uses: only its new shape
 * shows. */
tn_status tn__resize_given(tn_call *call, const void *frame, tn_tensor *t, int64_t ndim,
                           const int64_t *sizes)
{
    int64_t before = t->ndim, held[2 * TN_MAX_DIMS];
    for (int64_t d = 0; d < before; d++) {
        held[d] = t->sizes[d];
        held[TN_MAX_DIMS + d] = t->strides[d];
    }
    TN__TRY(check_not_resized(call, frame, t));
    TN__TRY(tn__tensor_resize(call, t, ndim, sizes));
    tn_status status = check_no_shared_memory(call, frame, t);
    if (status != TN_OK)
        tn__tensor_set_geometry(NULL, t, before, held, held + TN_MAX_DIMS, tn__impl(t)->offset);
    return status;
}

/* ---- by shape rule --------------------------------------------------------------------------- */
static tn_status make_result(tn_call *call, const tn_result *r, tn_tensor **out)
{
    if (r->has_strides)
        return tn__tensor_new_strided(call, r->ndim, r->sizes, r->strides, r->dtype, r->device,
                                      out);
    return tn__tensor_new(call, r->ndim, r->sizes, r->dtype, r->device, out);
}

/* A dtype that the caller asked for is no request to cast to another one. */
static tn_status check_asked_dtype(tn_call *call, const void *frame, const tn_tensor *t, int i)
{
    uint16_t offset = call->op->structure->dtype_offset;
    tn_dtype asked = offset ? *(const tn_dtype *)((const char *)frame + offset) : TN_DTYPE_NONE;
    if (asked == TN_DTYPE_NONE || asked == t->dtype)
        return TN_OK;
    return tn__fail(call, TN_ERR_DTYPE, "dtype %s was asked for, but %s has dtype %s",
                    tn__dtype_name(asked), tn__given_name(call->op, i), tn__dtype_name(t->dtype));
}

/* Everything that can be refused is refused before anything is changed. */
static tn_status check_all_given(tn_call *call, void *frame, const tn_result *specs)
{
    const tn_op *op = call->op;
    for (int i = 0; i < op->structure->n_results; i++) {
        const tn_result *r = &specs[i];
        const tn_tensor *t = given(op, frame, i);
        TN__TRY(tn__check_given(call, tn__given_name(op, i), (tn_tensor *)t, r->ndim, r->sizes,
                                r->dtype, r->device));
        TN__TRY(check_asked_dtype(call, frame, t, i));
        TN__TRY(tn__check_no_internal_overlap(call, t));
        TN__TRY(check_no_shared_memory(call, frame, t));
        for (int j = 0; j < i; j++) {
            const tn_tensor *other = given(op, frame, j);
            if (other == t)
                return tn__fail(call, TN_ERR_OVERLAP,
                                "%s and %s are one tensor; each result needs its own",
                                tn__given_name(op, j), tn__given_name(op, i));
            TN__TRY(tn__check_no_overlap(call, t, other));
        }
    }
    return TN_OK;
}

static tn_status prepare_results(tn_call *call, void *frame, tn_result *specs)
{
    const tn_op *op = call->op;
    int n = op->structure->n_results;
    if (op->form != TN__FORM_FUNCTIONAL)
        TN__TRY(check_all_given(call, frame, specs));
    for (int i = 0; i < n; i++) {
        tn_result *r = &specs[i];
        if (op->form == TN__FORM_FUNCTIONAL) {
            TN__TRY(make_result(call, r, result_at(op, frame, i)));
            continue;
        }
        tn_tensor *t = given(op, frame, i);
        if (!tn__has_sizes(t, r->ndim, r->sizes))
            TN__TRY(tn__resize_given(call, frame, t, r->ndim, r->sizes));
        tn__tensor_retain(t);
        *result_at(op, frame, i) = t;
    }
    return TN_OK;
}

static void drop_results(const tn_op *op, void *frame)
{
    for (int i = 0; i < op->structure->n_results; i++) {
        tn_tensor **r = result_at(op, frame, i);
        tn__tensor_release(*r);
        *r = NULL;
    }
}

static tn_status run(tn_call *call, void *frame, tn__kernel *inner)
{
    const tn_op *op = call->op;
    call->kernel = inner;
    call->data = inner->data;
    tn_status status = inner->fn(call, frame);
    if (TN__LIKELY(status == TN_OK) && op->form != TN__FORM_FUNCTIONAL)
        for (int i = 0; i < op->structure->n_results; i++)
            tn__mark_written(*result_at(op, frame, i), call->file, call->line);
    return status;
}

static tn_status call_by_shape(tn_call *call, void *frame, tn__kernel *inner)
{
    const tn__structure *s = call->op->structure;
    tn_result specs[4];
    for (int i = 0; i < s->n_results; i++)
        specs[i].has_strides = 0;
    const tn_tensor *first = s->n_tensors ? *(tn_tensor **)((char *)frame + s->tensors[0]) : NULL;
    if (first && !(s->dtypes & TN_DTYPE_BIT(first->dtype)))
        return tn__refuse_dtype(call, first->dtype);
    TN__TRY(s->shape(call, frame, specs));
    for (int i = 0; i < s->n_results; i++)
        *result_at(call->op, frame, i) = NULL;
    tn_status status = prepare_results(call, frame, specs);
    if (status == TN_OK)
        status = run(call, frame, inner);
    if (TN__UNLIKELY(status != TN_OK))
        drop_results(call->op, frame);
    return status;
}

/* A pointwise operator has one result, right behind the frame's header. */
static tn_status call_pointwise(tn_call *call, void *frame, tn__kernel *inner)
{
    const tn_op *op = call->op;
    tn_iter it;
    tn_tensor **result = (tn_tensor **)((char *)frame + sizeof(tn_frame));
    *result = op->given_offset ? *(tn_tensor **)((char *)frame + op->given_offset) : NULL;
    TN__TRY(tn__pointwise_prepare(call, frame, result, &it));
    call->iter = &it;
    call->kernel = inner;
    call->data = inner->data;
    tn_status status = inner->fn(call, frame);
    if (TN__UNLIKELY(status != TN_OK))
        drop_results(op, frame);
    else if (op->given_offset)
        tn__mark_written(*result, call->file, call->line);
    return status;
}

tn_status tn__structured_call(tn_call *call, void *frame)
{
    const tn__kernel *k = call->kernel;
    tn__kernel *inner = k->inner;
    call->kernel = NULL; /* what fails before the kernel runs is not the plugin's doing */
    return call->op->structure->shape ? call_by_shape(call, frame, inner)
                                      : call_pointwise(call, frame, inner);
}

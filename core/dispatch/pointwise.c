/* pointwise.c - preparing a pointwise call: promote, broadcast, make or check the result, build the
 * iterator. Calls that need none of that have taken the short road (short.c) before. */
#include <inttypes.h>
#include <string.h>

#include "core/dispatch/pointwise.h"

typedef struct operands {
    tn_tensor *all[TN_MAX_OPERANDS + 1]; /* [0] is the result */
    int n;                               /* inputs that are present */
} operands;

static inline const tn_scalar *number_at(const void *frame, uint16_t offset)
{
    return (const tn_scalar *)((const char *)frame + offset);
}

/* ---- dtypes ---------------------------------------------------------------------------------- */
static tn_dtype computation_dtype(int32_t kind, tn_dtype common)
{
    return kind & TN_POINTWISE_FLOAT && tn_dtype_in(common, TN_DTYPES_WHOLE) ? tn__default_dtype()
                                                                             : common;
}

static TN_COLD tn_status refuse_number(tn_call *call, const tn_scalar *s, tn_dtype dtype)
{
    static const char *const kinds[] = {"floating-point", "integer", "bool", "complex"};
    return tn__fail(call, TN_ERR_DTYPE,
                    "a %s number cannot scale a %s result: it would be cut to that dtype",
                    kinds[s->kind], tn__dtype_name(dtype));
}

/* Numbers that do not take part in promotion (alpha) must hold in the computation's dtype. A whole
 * floating-point number passes as an integer, so that `.alpha = 2` may be written without saying
 * which. */
static tn_status check_cast_numbers(tn_call *call, const void *frame, tn_dtype dtype)
{
    const tn__structure *s = call->op->structure;
    for (int i = 0; i < s->n_numbers; i++) {
        const tn_scalar *x = number_at(frame, s->numbers[i]);
        if (!s->promotes[i] && !tn__number_holds(x, dtype))
            return refuse_number(call, x, dtype);
    }
    return TN_OK;
}

tn_status tn__refuse_dtype(tn_call *call, tn_dtype dtype)
{
    char list[160] = "";
    for (tn_dtype d = 0; d < TN_DTYPE_COUNT; d++) {
        if (!(call->op->structure->dtypes & TN_DTYPE_BIT(d)))
            continue;
        if (*list)
            strcat(list, ", ");
        strcat(list, tn__dtype_name(d));
    }
    return tn__fail(call, TN_ERR_UNSUPPORTED, "not defined for %s; defined for %s",
                    tn__dtype_name(dtype), list);
}

static tn_status common_device(tn_call *call, const operands *o, tn_device *out)
{
    const tn_tensor *owner = o->all[1];
    for (int i = 2; i <= o->n; i++)
        if (owner->device.type == TN_CPU && owner->ndim == 0)
            owner = o->all[i];
    for (int i = 1; i <= o->n; i++) {
        const tn_tensor *t = o->all[i];
        bool number = t->device.type == TN_CPU && t->ndim == 0;
        char a[32], b[32];
        if (!tn__same_device_as(t->device, owner->device) && !number)
            return tn__fail(call, TN_ERR_DEVICE,
                            "operands are on different devices, %s and %s; move one with to()",
                            tn__device_text(a, owner->device), tn__device_text(b, t->device));
    }
    *out = owner->device;
    return TN_OK;
}

/* A new result keeps the memory order of its inputs when they all agree on one that is dense. */
static tn_status new_result(tn_call *call, const operands *o, int64_t ndim, const int64_t *sizes,
                            tn_dtype dtype, tn_device device, tn_tensor **out)
{
    const tn_tensor *order = NULL;
    for (int i = 1; i <= o->n; i++) {
        const tn_tensor *t = o->all[i];
        if (t->ndim != ndim || memcmp(t->sizes, sizes, (size_t)ndim * sizeof *sizes) != 0)
            continue;
        if (!(t->flags & TN_TENSOR_DENSE) ||
            (order && memcmp(order->strides, t->strides, (size_t)ndim * sizeof *sizes) != 0))
            return tn__tensor_new(call, ndim, sizes, dtype, device, out);
        order = t;
    }
    if (!order || order->flags & TN_TENSOR_CONTIGUOUS)
        return tn__tensor_new(call, ndim, sizes, dtype, device, out);
    return tn__tensor_new_strided(call, ndim, sizes, order->strides, dtype, device, out);
}

static tn_dtype promoted(const tn__structure *s, const void *frame, const operands *o)
{
    tn_scalar numbers[TN_MAX_OPERANDS];
    int n = 0;
    for (int i = 0; i < s->n_numbers; i++) {
        const tn_scalar *x = number_at(frame, s->numbers[i]);
        if (s->promotes[i] && x->kind != TN_SCALAR_NONE)
            numbers[n++] = *x;
    }
    return tn__result_type(o->all + 1, o->n, numbers, n);
}

tn_status tn__pointwise_prepare(tn_call *call, void *frame, tn_tensor **result, tn_iter *it)
{
    const tn__structure *s = call->op->structure;
    operands list = {.n = 0}, *o = &list;
    for (int i = 0; i < s->n_tensors; i++) {
        tn_tensor *t = *(tn_tensor **)((char *)frame + s->tensors[i]);
        if (t)
            list.all[++list.n] = t;
    }
    tn_dtype common = promoted(s, frame, o), dtype = computation_dtype(s->pointwise, common);
    tn_dtype out_dtype = s->pointwise & TN_POINTWISE_BOOL ? TN_BOOL : dtype;
    if (!(s->dtypes & TN_DTYPE_BIT(common)))
        return tn__refuse_dtype(call, common);
    TN__TRY(check_cast_numbers(call, frame, dtype));
    int64_t ndim, sizes[TN_MAX_DIMS];
    tn_device device;
    TN__TRY(common_device(call, o, &device));
    TN__TRY(tn__broadcast(call, o->all + 1, o->n, &ndim, sizes));
    if (*result) {
        TN__TRY(tn__check_given(call, tn__given_name(call->op, 0), *result, ndim, sizes, out_dtype,
                                device));
        if (!tn__has_sizes(*result, ndim, sizes))
            TN__TRY(tn__resize_given(call, frame, *result, ndim, sizes));
        tn__tensor_retain(*result);
    } else {
        TN__TRY(new_result(call, o, ndim, sizes, out_dtype, device, result));
    }
    o->all[0] = *result;
    tn_status status = tn__iter_init(call, it, 1, o->n + 1, o->all, dtype, out_dtype, 0);
    if (status != TN_OK) {
        tn__tensor_release(*result);
        *result = NULL;
    }
    return status;
}

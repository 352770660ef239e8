/* pointwise.c - preparing a pointwise call.
 *
 * Two roads. The short one is for operands that are all alike (one dtype, one shape, row-major, one device) and numbers that
 * do not outrank them: the result is one allocation and the iterator one dimension. The long one promotes,
 * broadcasts, keeps a dense input's memory order and asks the iterator for the rest. */
#include <inttypes.h>
#include <string.h>

#include "core/dispatch/pointwise.h"

typedef struct operands {
    tn_tensor *all[TN_MAX_OPERANDS + 1]; /* [0] is the result */
    int n;                               /* inputs that are present */
} operands;

enum { CATEGORY_BOOL, CATEGORY_INT, CATEGORY_FLOAT, CATEGORY_COMPLEX };

static inline int category_of_dtype(tn_dtype d)
{
    return d == TN_BOOL ? CATEGORY_BOOL : d <= TN_I64 ? CATEGORY_INT : d <= TN_F64 ? CATEGORY_FLOAT : CATEGORY_COMPLEX;
}

static inline int category_of_number(const tn_scalar *s)
{
    static const int8_t categories[] = {CATEGORY_FLOAT, CATEGORY_INT, CATEGORY_BOOL, CATEGORY_COMPLEX};
    return s->kind == TN_SCALAR_NONE ? CATEGORY_BOOL : categories[s->kind];
}

static inline const tn_scalar *number_at(const void *frame, uint16_t offset)
{
    return (const tn_scalar *)((const char *)frame + offset);
}

/* ---- dtypes ---------------------------------------------------------------------------------------- */
static tn_dtype computation_dtype(int32_t kind, tn_dtype common)
{
    return kind & TN_POINTWISE_FLOAT && common <= TN_I64 ? tn__default_dtype() : common;
}

static TN_COLD tn_status refuse_number(tn_call *call, const tn_scalar *s, tn_dtype dtype)
{
    static const char *const kinds[] = {"floating-point", "integer", "bool", "complex"};
    return tn__fail(call, TN_ERR_DTYPE, "a %s number cannot scale a %s result: it would be cut to that dtype",
                    kinds[s->kind], tn__dtype_name(dtype));
}

/* Numbers that do not take part in promotion (alpha) must hold in the computation's dtype. A whole floating-point number
 * passes as an integer, so that `.alpha = 2` may be written without saying which. */
static tn_status check_cast_numbers(tn_call *call, const void *frame, tn_dtype dtype)
{
    const tn__structure *s = call->op->structure;
    int category = category_of_dtype(dtype);
    for (int i = 0; i < s->n_cast; i++) {
        const tn_scalar *x = number_at(frame, s->cast[i]);
        if (category_of_number(x) <= category || x->kind == TN_SCALAR_INT) continue;
        bool whole = x->kind == TN_SCALAR_FLOAT && x->v.f >= -0x1p63 && x->v.f < 0x1p63 && x->v.f == (double)(int64_t)x->v.f;
        if (!whole) return refuse_number(call, x, dtype);
    }
    return TN_OK;
}

static TN_COLD tn_status refuse_dtype(tn_call *call, tn_dtype dtype)
{
    char list[160] = "";
    for (tn_dtype d = 0; d < TN_DTYPE_COUNT; d++) {
        if (!(call->op->structure->dtypes & TN_DTYPE_BIT(d))) continue;
        if (*list) strcat(list, ", ");
        strcat(list, tn__dtype_name(d));
    }
    return tn__fail(call, TN_ERR_UNSUPPORTED, "not defined for %s; defined for %s", tn__dtype_name(dtype), list);
}

/* ---- the short road --------------------------------------------------------------------------------- */
static inline bool all_alike(const tn__structure *s, const void *frame, const operands *o)
{
    const tn_tensor *first = o->all[1];
    if (!(first->flags & TN_TENSOR_CONTIGUOUS)) return false;
    for (int i = 2; i <= o->n; i++) {
        const tn_tensor *t = o->all[i];
        if (t->dtype != first->dtype || t->ndim != first->ndim || t->numel != first->numel ||
            t->keys != first->keys || !(t->flags & TN_TENSOR_CONTIGUOUS))
            return false;
        for (int d = 0; d < first->ndim; d++)
            if (t->sizes[d] != first->sizes[d]) return false;
    }
    int category = category_of_dtype(first->dtype);
    for (int i = 0; i < s->n_promoting; i++)
        if (category_of_number(number_at(frame, s->promoting[i])) > category) return false;
    return true;
}

static inline bool fits_as_is(const tn_tensor *out, const tn_tensor *like, tn_dtype dtype)
{
    if (out->dtype != dtype || out->ndim != like->ndim || out->keys != like->keys || !(out->flags & TN_TENSOR_CONTIGUOUS))
        return false;
    for (int d = 0; d < like->ndim; d++)
        if (out->sizes[d] != like->sizes[d]) return false;
    return true;
}

/* In place the result is an input; otherwise it must not share a storage, or the long road looks closer. */
static inline bool shares_oddly(const tn_tensor *out, const operands *o)
{
    const tn__storage *storage = tn__impl(out)->storage;
    for (int i = 1; i <= o->n; i++)
        if (tn__impl(o->all[i])->storage == storage && o->all[i]->data != out->data) return true;
    return false;
}

static inline void one_dimension(tn_iter *it, const operands *o, tn_dtype dtype, tn_dtype out_dtype)
{
    int64_t numel = o->all[0]->numel;
    it->n_operands = o->n + 1;
    it->n_out = 1;
    it->ndim = 1;
    it->dtype = dtype;
    it->out_dtype = out_dtype;
    it->cast = 0;
    it->numel = numel;
    it->sizes[0] = numel;
    for (int i = 0; i <= o->n; i++) {
        tn_tensor *t = o->all[i];
        it->data[i] = t->data;
        it->operands[i] = t;
        it->dtypes[i] = t->dtype;
        it->strides[i][0] = tn__dtype_sizes[t->dtype];
    }
}

/* ---- the long road ---------------------------------------------------------------------------------- */
static tn_status common_device(tn_call *call, const operands *o, tn_device *out)
{
    const tn_tensor *owner = o->all[1];
    for (int i = 2; i <= o->n; i++)
        if (owner->device.type == TN_CPU && owner->ndim == 0) owner = o->all[i];
    for (int i = 1; i <= o->n; i++) {
        const tn_tensor *t = o->all[i];
        bool number = t->device.type == TN_CPU && t->ndim == 0;
        char a[32], b[32];
        if (t->device.type != owner->device.type && !number)
            return tn__fail(call, TN_ERR_DEVICE, "operands are on different devices, %s and %s; move one with to()",
                            tn__device_text(a, owner->device), tn__device_text(b, t->device));
    }
    *out = owner->device;
    return TN_OK;
}

/* A new result keeps the memory order of its inputs when they all agree on one that is dense. */
static tn_status new_result(tn_call *call, const operands *o, int64_t ndim, const int64_t *sizes, tn_dtype dtype,
                            tn_device device, tn_tensor **out)
{
    const tn_tensor *order = NULL;
    for (int i = 1; i <= o->n; i++) {
        const tn_tensor *t = o->all[i];
        if (t->ndim != ndim || memcmp(t->sizes, sizes, (size_t)ndim * sizeof *sizes) != 0) continue;
        if (!(t->flags & TN_TENSOR_DENSE) || (order && memcmp(order->strides, t->strides, (size_t)ndim * sizeof *sizes) != 0))
            return tn__tensor_new(call, ndim, sizes, dtype, device, out);
        order = t;
    }
    if (!order || order->flags & TN_TENSOR_CONTIGUOUS) return tn__tensor_new(call, ndim, sizes, dtype, device, out);
    return tn__tensor_new_strided(call, ndim, sizes, order->strides, dtype, device, out);
}

static tn_dtype promoted(const tn__structure *s, const void *frame, const operands *o)
{
    tn_scalar numbers[TN_MAX_OPERANDS];
    int n = 0;
    for (int i = 0; i < s->n_promoting; i++) {
        const tn_scalar *x = number_at(frame, s->promoting[i]);
        if (x->kind != TN_SCALAR_NONE) numbers[n++] = *x;
    }
    return tn__result_type(o->all + 1, o->n, numbers, n);
}

static tn_status take_long_road(tn_call *call, void *frame, const char *name, operands *o, tn_tensor **result, tn_iter *it)
{
    const tn__structure *s = call->op->structure;
    tn_dtype dtype = computation_dtype(s->pointwise, promoted(s, frame, o));
    tn_dtype out_dtype = s->pointwise & TN_POINTWISE_BOOL ? TN_BOOL : dtype;
    if (!(s->dtypes & TN_DTYPE_BIT(dtype))) return refuse_dtype(call, dtype);
    TN__TRY(check_cast_numbers(call, frame, dtype));
    int64_t ndim, sizes[TN_MAX_DIMS];
    tn_device device;
    TN__TRY(common_device(call, o, &device));
    TN__TRY(tn__broadcast(call, o->all + 1, o->n, &ndim, sizes));
    if (*result) {
        TN__TRY(tn__check_given(call, name, *result, ndim, sizes, out_dtype, device));
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

tn_status tn__pointwise_prepare(tn_call *call, void *frame, const char *name, tn_tensor **result, tn_iter *it)
{
    const tn__structure *s = call->op->structure;
    operands o = {.n = 0};
    for (int i = 0; i < s->n_tensors; i++) {
        tn_tensor *t = *(tn_tensor **)((char *)frame + s->tensors[i]);
        if (t) o.all[++o.n] = t;
    }
    if (TN__UNLIKELY(!all_alike(s, frame, &o))) return take_long_road(call, frame, name, &o, result, it);
    tn_tensor *first = o.all[1];
    tn_dtype dtype = computation_dtype(s->pointwise, first->dtype);
    tn_dtype out_dtype = s->pointwise & TN_POINTWISE_BOOL ? TN_BOOL : dtype;
    if (TN__UNLIKELY(dtype != first->dtype || !(s->dtypes & TN_DTYPE_BIT(dtype))))
        return take_long_road(call, frame, name, &o, result, it);
    TN__TRY(check_cast_numbers(call, frame, dtype));
    if (*result) {
        if (!fits_as_is(*result, first, out_dtype) || shares_oddly(*result, &o))
            return take_long_road(call, frame, name, &o, result, it);
        tn__tensor_retain(*result);
    } else {
        TN__TRY(tn__tensor_new(call, first->ndim, first->sizes, out_dtype, first->device, result));
    }
    o.all[0] = *result;
    one_dimension(it, &o, dtype, out_dtype);
    return TN_OK;
}

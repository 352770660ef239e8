/* scatter_reduce.c - scatter_reduce, index_reduce, scatter with a `reduce`: self combined with src at
 * places that an index decides, as a sum, product, mean or extreme.
 *
 * The walk is scatter.c's. Without self the places that index names begin at the neutral number; a
 * mean is the sum over how many came together. Halves are combined in f32, rounded once. */
#include <math.h>
#include <string.h>

#include <tenon/math.h>

#include "scatter.h"

/* Rounded down; the count is positive. */
static int64_t floor_quotient(int64_t sum, int64_t count)
{
    return sum / count - (sum % count < 0);
}
#define FLOOR(sum, count) (__typeof__(sum))floor_quotient((int64_t)(sum), count)
#define DIVIDE(sum, count) (sum) / (__typeof__(sum))(count)

#define TYPE bool
#define OF(name) name##_bool
#define QUOTIENT FLOOR
#include "scatter_reduce.inc"
#define TYPE uint8_t
#define OF(name) name##_u8
#define QUOTIENT FLOOR
#include "scatter_reduce.inc"
#define TYPE int8_t
#define OF(name) name##_i8
#define QUOTIENT FLOOR
#include "scatter_reduce.inc"
#define TYPE int16_t
#define OF(name) name##_i16
#define QUOTIENT FLOOR
#include "scatter_reduce.inc"
#define TYPE int32_t
#define OF(name) name##_i32
#define QUOTIENT FLOOR
#include "scatter_reduce.inc"
#define TYPE int64_t
#define OF(name) name##_i64
#define QUOTIENT FLOOR
#include "scatter_reduce.inc"
#define TYPE float
#define OF(name) name##_f32
#define QUOTIENT DIVIDE
#include "scatter_reduce.inc"
#define TYPE double
#define OF(name) name##_f64
#define QUOTIENT DIVIDE
#include "scatter_reduce.inc"

static const cpu_scatter_fn greatest[TN_DTYPE_COUNT] = {
    [TN_BOOL] = most_bool, [TN_U8] = most_u8,   [TN_I8] = most_i8,   [TN_I16] = most_i16,
    [TN_I32] = most_i32,   [TN_I64] = most_i64, [TN_F32] = most_f32, [TN_F64] = most_f64};
static const cpu_scatter_fn smallest[TN_DTYPE_COUNT] = {
    [TN_BOOL] = least_bool, [TN_U8] = least_u8,   [TN_I8] = least_i8,   [TN_I16] = least_i16,
    [TN_I32] = least_i32,   [TN_I64] = least_i64, [TN_F32] = least_f32, [TN_F64] = least_f64};
static const tn_loop_fn quotients[TN_DTYPE_COUNT] = {
    [TN_BOOL] = divide_bool, [TN_U8] = divide_u8,   [TN_I8] = divide_i8,   [TN_I16] = divide_i16,
    [TN_I32] = divide_i32,   [TN_I64] = divide_i64, [TN_F32] = divide_f32, [TN_F64] = divide_f64};

/* ---- kinds ----------------------------------------------------------------------------------- */
typedef struct kind {
    const char *name;
    const cpu_scatter_fn *fns;
    int neutral; /* 0, 1, or an end of the dtype's range: its least, its greatest number */
    bool mean;
} kind;
enum { LEAST = -2, GREATEST = 2 };

/* The shape rule has seen to it that it is one of these. */
static const kind *kind_named(const char *reduce)
{
    static const kind kinds[] = {{"sum", cpu_adders, 0, false},
                                 {"prod", cpu_multipliers, 1, false},
                                 {"amax", greatest, LEAST, false},
                                 {"amin", smallest, GREATEST, false},
                                 {"mean", cpu_adders, 0, true}};
    size_t i = 0;
    while (i + 1 < TN_COUNT(kinds) && strcmp(kinds[i].name, reduce) != 0)
        i++;
    return &kinds[i];
}

static tn_scalar neutral(const kind *k, tn_dtype dtype)
{
    static const int64_t least[] = {0, 0, INT8_MIN, INT16_MIN, INT32_MIN, INT64_MIN},
                         greatest_of[] = {1, UINT8_MAX, INT8_MAX, INT16_MAX, INT32_MAX, INT64_MAX};
    bool least_one = k->neutral == LEAST;
    if (k->neutral == 0 || k->neutral == 1)
        return (tn_scalar){.v.i = k->neutral, .kind = TN_SCALAR_INT};
    if (tn_dtype_in(dtype, TN_DTYPES_WHOLE))
        return (tn_scalar){.v.i = (least_one ? least : greatest_of)[dtype], .kind = TN_SCALAR_INT};
    return (tn_scalar){.v.f = least_one ? -INFINITY : INFINITY, .kind = TN_SCALAR_FLOAT};
}

/* ---- the operation --------------------------------------------------------------------------- */
/* One number in the shape that the walk goes over, and what it is a view of. */
typedef struct constant {
    tn_tensor *number, *view;
} constant;

static tn_status make_constant(tn_call *call, const cpu_scatter_op *o, tn_dtype dtype,
                               tn_scalar value, constant *c)
{
    const tn_tensor *like = o->by_slices ? o->src : o->index;
    const int64_t strides[TN_MAX_DIMS] = {0};
    tn_number n = tn_number_of(dtype, &value);
    TN_TRY(tn->tensor_new(call, 0, NULL, dtype, like->device, &c->number));
    memcpy(c->number->data, &n, tn->dtype_size(dtype));
    return tn->tensor_view(call, c->number, like->ndim, like->sizes, strides, 0, dtype, &c->view);
}

static void free_constant(constant *c)
{
    tn->tensor_release(c->view);
    tn->tensor_release(c->number);
}

static tn_status begin_anew(tn_call *call, const cpu_scatter_op *o, const kind *k, tn_tensor *out)
{
    constant c = {NULL, NULL};
    tn_status status = make_constant(call, o, out->dtype, neutral(k, out->dtype), &c);
    if (status == TN_OK)
        cpu_scatter_into(o, NULL, out, c.view);
    free_constant(&c);
    return status;
}

static tn_status divide(tn_call *call, const cpu_scatter_op *o, bool include_self, tn_tensor *out)
{
    const tn_scalar one = {.v.i = 1, .kind = TN_SCALAR_INT};
    constant c = {NULL, NULL};
    tn_tensor *counts = NULL;
    tn_iter it;
    tn_status status = tn->tensor_new(call, out->ndim, out->sizes, TN_I64, out->device, &counts);
    if (status == TN_OK)
        status = make_constant(call, o, TN_I64, one, &c);
    if (status == TN_OK) {
        for (int64_t i = 0; i < counts->numel; i++)
            ((int64_t *)counts->data)[i] = include_self;
        cpu_scatter_into(o, cpu_adders, counts, c.view);
        tn_tensor *operands[] = {out, counts};
        status = tn->iter_init(call, &it, 1, 2, operands, TN_DTYPE_NONE, TN_DTYPE_NONE, 0);
    }
    if (status == TN_OK)
        status = tn->iter_run(call, &it, quotients[out->dtype], NULL);
    free_constant(&c);
    tn->tensor_release(counts);
    return status;
}

/* out holds self. */
static tn_status reduce(tn_call *call, const cpu_scatter_op *o, const kind *k, bool include_self,
                        tn_tensor *out, const tn_tensor *src)
{
    if (!include_self)
        TN_TRY(begin_anew(call, o, k, out));
    cpu_scatter_into(o, k->fns, out, src);
    return k->mean ? divide(call, o, include_self, out) : TN_OK;
}

static tn_status reduce_halves(tn_call *call, const cpu_scatter_op *o, const kind *k,
                               bool include_self)
{
    tn_tensor *out = NULL, *src = NULL;
    tn_status status =
        tn->tensor_new(call, o->self->ndim, o->self->sizes, TN_F32, o->self->device, &out);
    if (status == TN_OK)
        status = cpu_copy_elements(call, out, o->self);
    if (status == TN_OK)
        status = tn->tensor_new(call, o->src->ndim, o->src->sizes, TN_F32, o->src->device, &src);
    if (status == TN_OK)
        status = cpu_copy_elements(call, src, o->src);
    if (status == TN_OK)
        status = reduce(call, o, k, include_self, out, src);
    if (status == TN_OK)
        status = cpu_copy_elements(call, o->result, out);
    tn->tensor_release(out);
    tn->tensor_release(src);
    return status;
}

static tn_status apply(tn_call *call, const cpu_scatter_op *o, const kind *k, bool include_self)
{
    if (!cpu_multipliers[o->self->dtype])
        return reduce_halves(call, o, k, include_self);
    if (o->result != o->self)
        TN_TRY(cpu_copy_elements(call, o->result, o->self));
    return reduce(call, o, k, include_self, o->result, o->src);
}

static tn_status run(tn_call *call, cpu_scatter_op *o, const char *name, bool include_self)
{
    tn_tensor *src = NULL, *index = NULL;
    TN_TRY(cpu_scatter_check(call, o));
    tn_status status = cpu_apart(call, o->result, &o->src, &src);
    if (status == TN_OK)
        status = cpu_apart(call, o->result, &o->index, &index);
    if (status == TN_OK)
        status = apply(call, o, kind_named(name), include_self);
    tn->tensor_release(src);
    tn->tensor_release(index);
    return status;
}

/* ---- operators ------------------------------------------------------------------------------- */
static const tn_scalar once = {.v.i = 1, .kind = TN_SCALAR_INT};

static tn_status scatter_reduce(tn_call *call, struct tn_scatter_reduce_two_args *a)
{
    cpu_scatter_op o = {a->result, a->self, a->index, a->src, a->dim, once, true, false};
    return run(call, &o, a->reduce, a->include_self);
}

static tn_status index_reduce(tn_call *call, struct tn_index_reduce_args *a)
{
    cpu_scatter_op o = {a->result, a->self, a->index, a->source, a->dim, once, true, true};
    return run(call, &o, a->reduce, a->include_self);
}

/* The older names of two of them. */
static const char *by_older_name(const char *reduce)
{
    return strcmp(reduce, "add") == 0 ? "sum" : "prod";
}

static tn_status scatter_src(tn_call *call, struct tn_scatter_reduce_args *a)
{
    cpu_scatter_op o = {a->result, a->self, a->index, a->src, a->dim, once, true, false};
    return run(call, &o, by_older_name(a->reduce), true);
}

static tn_status scatter_value(tn_call *call, struct tn_scatter_value_reduce_args *a)
{
    cpu_scatter_op o = {a->result, a->self, a->index, NULL, a->dim, once, true, false};
    constant c = {NULL, NULL};
    tn_number value;
    TN_TRY(cpu_fill_value(call, &a->value, a->self->dtype, &value));
    tn_status status = make_constant(call, &o, a->self->dtype, once, &c);
    if (status == TN_OK) {
        memcpy(c.number->data, &value, tn->dtype_size(a->self->dtype));
        o.src = c.view;
        status = run(call, &o, by_older_name(a->reduce), true);
    }
    free_constant(&c);
    return status;
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(scatter_reduce, "CPU", scatter_src),
    TN_KERNEL(scatter_value_reduce, "CPU", scatter_value),
    TN_KERNEL(scatter_reduce_two, "CPU", scatter_reduce),
    TN_KERNEL(index_reduce, "CPU", index_reduce),
};
const cpu_kernels cpu_scatter_reduce = {kernels, TN_COUNT(kernels)};

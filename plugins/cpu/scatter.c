/* scatter.c - index_add, scatter, scatter_add: result = self, then result[..index..] += src or
 * = src.
 *
 * One walk serves all: over src's elements, in row-major order and on one thread, because two of
 * them may meet in one place and their order counts. It knows the result by strides along src's
 * dimensions, with 0 for the one that index decides. Halves are added up in f32, rounded once. */
#include <string.h>

#include <tenon/math.h>

#include "scatter.h"

typedef cpu_scatter_row row; /* the innermost dimension of the walk */
typedef cpu_scatter_op operation;

#define TYPE bool
#define OF(name) name##_bool
#define MEMBER b
#include "scatter.inc"
#define TYPE uint8_t
#define OF(name) name##_u8
#define MEMBER u8
#include "scatter.inc"
#define TYPE int8_t
#define OF(name) name##_i8
#define MEMBER i8
#include "scatter.inc"
#define TYPE int16_t
#define OF(name) name##_i16
#define MEMBER i16
#include "scatter.inc"
#define TYPE int32_t
#define OF(name) name##_i32
#define MEMBER i32
#include "scatter.inc"
#define TYPE int64_t
#define OF(name) name##_i64
#define MEMBER i64
#include "scatter.inc"
#define TYPE float
#define OF(name) name##_f32
#define MEMBER f32
#include "scatter.inc"
#define TYPE double
#define OF(name) name##_f64
#define MEMBER f64
#include "scatter.inc"
#define TYPE tn_c64
#define OF(name) name##_c64
#define MEMBER c64
#include "scatter.inc"
#define TYPE tn_c128
#define OF(name) name##_c128
#define MEMBER c128
#include "scatter.inc"

const cpu_scatter_fn cpu_adders[TN_DTYPE_COUNT] = {
    [TN_BOOL] = add_bool, [TN_U8] = add_u8,    [TN_I8] = add_i8,   [TN_I16] = add_i16,
    [TN_I32] = add_i32,   [TN_I64] = add_i64,  [TN_F32] = add_f32, [TN_F64] = add_f64,
    [TN_C64] = add_c64,   [TN_C128] = add_c128};

const cpu_scatter_fn cpu_multipliers[TN_DTYPE_COUNT] = {
    [TN_BOOL] = multiply_bool, [TN_U8] = multiply_u8,   [TN_I8] = multiply_i8,
    [TN_I16] = multiply_i16,   [TN_I32] = multiply_i32, [TN_I64] = multiply_i64,
    [TN_F32] = multiply_f32,   [TN_F64] = multiply_f64, [TN_C64] = multiply_c64,
    [TN_C128] = multiply_c128};

static void set(const row *r, const tn_number *alpha)
{
    (void)alpha;
    for (int64_t i = 0; i < r->n; i++)
        memcpy(cpu_scatter_place(r, i), r->src + i * r->src_stride, (size_t)r->bytes);
}

/* ---- the walk -------------------------------------------------------------------------------- */
/* Strides in bytes along the walk's dimensions; the last is the row's. */
typedef struct walk {
    int64_t ndim, sizes[TN_MAX_DIMS];
    int64_t out[TN_MAX_DIMS], src[TN_MAX_DIMS], index[TN_MAX_DIMS];
    row row;
    cpu_scatter_fn fn;
    tn_number alpha;
} walk;

static void run(walk *w, int64_t d)
{
    row *r = &w->row;
    if (d + 1 >= w->ndim) {
        r->n = w->ndim ? w->sizes[d] : 1;
        r->out_stride = w->ndim ? w->out[d] : 0;
        r->src_stride = w->ndim ? w->src[d] : 0;
        r->index_stride = w->ndim ? w->index[d] : 0;
        w->fn(r, &w->alpha);
        return;
    }
    for (int64_t i = 0; i < w->sizes[d]; i++) {
        run(w, d + 1);
        r->out += w->out[d], r->src += w->src[d], r->index += w->index[d];
    }
    r->out -= w->sizes[d] * w->out[d];
    r->src -= w->sizes[d] * w->src[d];
    r->index -= w->sizes[d] * w->index[d];
}

/* What the walk reads and writes; geometry is filled by the operators. */
static void begin(walk *w, const tn_tensor *out, const void *src, const tn_tensor *index)
{
    w->row.out = (char *)out->data;
    w->row.src = (const char *)src;
    w->row.index = (const char *)index->data;
    w->row.bytes = (int64_t)tn->dtype_size(out->dtype);
    w->row.narrow = index->dtype == TN_I32;
}

/* ---- arguments ------------------------------------------------------------------------------- */
static int64_t limit_of(const operation *o)
{
    int64_t ndim = o->self->ndim;
    return ndim ? o->self->sizes[o->dim < 0 ? o->dim + ndim : o->dim] : 1;
}

tn_status cpu_scatter_check(tn_call *call, const operation *o)
{
    TN_TRY(cpu_check_dtype(call, o->result, o->self->dtype));
    TN_TRY(tn->check_no_internal_overlap(call, o->result));
    return cpu_check_indices(call, o->index, "index", limit_of(o), "self");
}

static void fill_geometry(walk *w, const operation *o, const tn_tensor *out, const tn_tensor *src)
{
    const tn_tensor *over = o->by_slices ? src : o->index;
    int64_t dim = o->dim < 0 ? o->dim + out->ndim : o->dim;
    int64_t bytes = w->row.bytes, index_bytes = w->row.narrow ? 4 : 8;
    w->ndim = over->ndim;
    for (int d = 0; d < over->ndim; d++) {
        bool chosen = d == dim || out->ndim == 0;
        w->sizes[d] = over->sizes[d];
        w->out[d] = chosen ? 0 : out->strides[d] * bytes;
        w->src[d] = src && src->ndim ? src->strides[d] * bytes : 0;
        if (o->by_slices)
            w->index[d] = chosen && o->index->ndim ? o->index->strides[0] * index_bytes : 0;
        else
            w->index[d] = o->index->strides[d] * index_bytes;
    }
    w->row.step = out->ndim ? out->strides[dim] * bytes : 0;
}

void cpu_scatter_into(const operation *o, const cpu_scatter_fn *fns, const tn_tensor *out,
                      const tn_tensor *src)
{
    walk w = {.fn = fns ? fns[out->dtype] : set};
    tn_number value;
    if (fns)
        w.alpha = tn_number_of(out->dtype, &o->value);
    if (!src) {
        value = tn_number_of(out->dtype, &o->value);
        if (out->dtype == TN_F16 || out->dtype == TN_BF16)
            tn->convert(NULL, &value.i16, out->dtype, 2, &value.f32, TN_F32, 4, 1);
    }
    begin(&w, out, src ? src->data : &value, o->index);
    fill_geometry(&w, o, out, src);
    if (o->index->numel > 0 && (!src || src->numel > 0))
        run(&w, 0);
}

static tn_status widened(tn_call *call, tn_tensor *t, tn_tensor **out)
{
    TN_TRY(tn->tensor_new(call, t->ndim, t->sizes, TN_F32, t->device, out));
    return cpu_copy_elements(call, *out, t);
}

static tn_status add_halves(tn_call *call, const operation *o)
{
    tn_tensor *out = NULL, *src = NULL;
    tn_status status = widened(call, o->self, &out);
    if (status == TN_OK)
        status = widened(call, o->src, &src);
    if (status == TN_OK) {
        cpu_scatter_into(o, cpu_adders, out, src);
        status = cpu_copy_elements(call, o->result, out);
    }
    tn->tensor_release(out);
    tn->tensor_release(src);
    return status;
}

static tn_status apply(tn_call *call, const operation *o)
{
    if (o->adds && !cpu_adders[o->self->dtype])
        return add_halves(call, o);
    if (o->result != o->self)
        TN_TRY(cpu_copy_elements(call, o->result, o->self));
    cpu_scatter_into(o, o->adds ? cpu_adders : NULL, o->result, o->src);
    return TN_OK;
}

static tn_status scatter(tn_call *call, operation *o)
{
    tn_tensor *src = NULL, *index = NULL;
    TN_TRY(cpu_scatter_check(call, o));
    tn_status status = o->src ? cpu_apart(call, o->result, &o->src, &src) : TN_OK;
    if (status == TN_OK)
        status = cpu_apart(call, o->result, &o->index, &index);
    if (status == TN_OK)
        status = apply(call, o);
    tn->tensor_release(src);
    tn->tensor_release(index);
    return status;
}

/* ---- operators ------------------------------------------------------------------------------- */
static tn_status index_add(tn_call *call, struct tn_index_add_args *a)
{
    operation o = {a->result, a->self, a->index, a->source, a->dim, a->alpha, true, true};
    return scatter(call, &o);
}

static tn_status scatter_add(tn_call *call, struct tn_scatter_add_args *a)
{
    tn_scalar one = {{.i = 1}, TN_SCALAR_INT, 0};
    operation o = {a->result, a->self, a->index, a->src, a->dim, one, true, false};
    return scatter(call, &o);
}

static tn_status scatter_src(tn_call *call, struct tn_scatter_src_args *a)
{
    operation o = {
        .result = a->result, .self = a->self, .index = a->index, .src = a->src, .dim = a->dim};
    return scatter(call, &o);
}

static tn_status scatter_value(tn_call *call, struct tn_scatter_value_args *a)
{
    operation o = {
        .result = a->result, .self = a->self, .index = a->index, .dim = a->dim, .value = a->value};
    return scatter(call, &o);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(index_add, "CPU", index_add),
    TN_KERNEL(scatter_add, "CPU", scatter_add),
    TN_KERNEL(scatter_src, "CPU", scatter_src),
    TN_KERNEL(scatter_value, "CPU", scatter_value),
};
const cpu_kernels cpu_scatter = {kernels, TN_COUNT(kernels)};

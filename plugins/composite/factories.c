/* factories.c - new tensors from sizes and numbers: empty, zeros, ones, full, arange,
 * scalar_tensor.
 *
 * The dtype is the one asked for, else the default one, or (full, arange) the number's own. */
#include "work.h"

#include <inttypes.h>
#include <math.h>

static const tn_device host = {TN_CPU, -1};
static const tn_scalar zero = {.v.i = 0, .kind = TN_SCALAR_INT};
static const tn_scalar one = {.v.i = 1, .kind = TN_SCALAR_INT};

static tn_dtype or_default(tn_dtype asked)
{
    return asked != TN_DTYPE_NONE ? asked : tn->default_dtype();
}

static __attribute__((noinline)) tn_status empty_with_options(tn_call *call,
                                                              struct tn_empty_memory_format_args *a)
{
    TN_TRY(composite_check_options(call, a->layout, a->pin_memory));
    tn_dtype dtype = or_default(a->dtype);
    tn_device device = composite_device_or(a->device, host);
    if (a->memory_format > TN_CONTIGUOUS)
        return composite_new(call, a->size, a->memory_format, NULL, dtype, device, &a->result);
    return tn->tensor_new(call, a->size.len, a->size.data, dtype, device, &a->result);
}

/* Sizes, a dtype, a device and nothing else, the usual case, go straight to the core. */
static tn_status empty(tn_call *call, struct tn_empty_memory_format_args *a)
{
    if (a->layout > TN_STRIDED || a->pin_memory == 1 || a->memory_format > TN_CONTIGUOUS ||
        a->dtype == TN_DTYPE_NONE || a->device.type == TN_DEVICE_NONE)
        return empty_with_options(call, a);
    return tn->tensor_new(call, a->size.len, a->size.data, a->dtype, a->device, &a->result);
}

static tn_status empty_strided(tn_call *call, struct tn_empty_strided_args *a)
{
    TN_TRY(composite_check_options(call, a->layout, a->pin_memory));
    if (a->size.len != a->stride.len)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "size has %" PRId64 " dimensions, stride %" PRId64
                        "; they must be equally many",
                        a->size.len, a->stride.len);
    return tn->tensor_new_strided(call, a->size.len, a->size.data, a->stride.data,
                                  or_default(a->dtype), composite_device_or(a->device, host),
                                  &a->result);
}

/* ---- filled ---------------------------------------------------------------------------------- */
typedef struct options {
    tn_dtype dtype;
    tn_layout layout;
    tn_device device;
    tn_opt_bool pin_memory;
} options;

static tn_status filled(tn_call *call, tn_ints size, const tn_scalar *value, const options *o,
                        tn_tensor **out)
{
    tn_tensor *fresh;
    TN_TRY(composite_check_options(call, o->layout, o->pin_memory));
    TN_TRY(tn->tensor_new(call, size.len, size.data, o->dtype, composite_device_or(o->device, host),
                          &fresh));
    return composite_filled(call, fresh, value, out);
}

static tn_status zeros(tn_call *call, struct tn_zeros_args *a)
{
    options o = {or_default(a->dtype), a->layout, a->device, a->pin_memory};
    return filled(call, a->size, &zero, &o, &a->result);
}

static tn_status ones(tn_call *call, struct tn_ones_args *a)
{
    options o = {or_default(a->dtype), a->layout, a->device, a->pin_memory};
    return filled(call, a->size, &one, &o, &a->result);
}

static tn_dtype or_of_number(tn_dtype asked, const tn_scalar *number)
{
    return asked != TN_DTYPE_NONE ? asked : composite_dtype_of_number(number);
}

static tn_status full(tn_call *call, struct tn_full_args *a)
{
    options o = {or_of_number(a->dtype, &a->fill_value), a->layout, a->device, a->pin_memory};
    return filled(call, a->size, &a->fill_value, &o, &a->result);
}

static tn_status scalar_tensor(tn_call *call, struct tn_scalar_tensor_args *a)
{
    options o = {or_default(a->dtype), a->layout, a->device, a->pin_memory};
    return filled(call, (tn_ints){NULL, 0}, &a->s, &o, &a->result);
}

/* ---- arange ---------------------------------------------------------------------------------- */
typedef struct range {
    tn_scalar start, end, step;
} range;

static bool is_whole(const tn_scalar *s)
{
    return s->kind == TN_SCALAR_INT || s->kind == TN_SCALAR_BOOL;
}

static double as_double(const tn_scalar *s)
{
    return is_whole(s) ? (double)s->v.i : s->v.f;
}

static tn_status wrong_direction(tn_call *call, const range *r)
{
    return tn->fail(call, TN_ERR_ARGUMENT,
                    "step %g leads from start %g away from end %g: give it the other sign",
                    as_double(&r->step), as_double(&r->start), as_double(&r->end));
}

/* Exact for integers; the distance between two 64-bit numbers fits in 64 bits unsigned. */
static tn_status count_whole(tn_call *call, const range *r, int64_t *out)
{
    int64_t start = r->start.v.i, end = r->end.v.i, step = r->step.v.i;
    if (start != end && (start < end) != (step > 0))
        return wrong_direction(call, r);
    uint64_t distance = step > 0 ? (uint64_t)end - (uint64_t)start
                                 : (uint64_t)start - (uint64_t)end;
    uint64_t pace = step > 0 ? (uint64_t)step : -(uint64_t)step;
    uint64_t count = distance ? (distance - 1) / pace + 1 : 0;
    if (count > INT64_MAX)
        return tn->fail(call, TN_ERR_OVERFLOW, "overflow: the range has %" PRIu64 " elements",
                        count);
    *out = (int64_t)count;
    return TN_OK;
}

static tn_status count_real(tn_call *call, const range *r, int64_t *out)
{
    double start = as_double(&r->start), end = as_double(&r->end), step = as_double(&r->step);
    if (!isfinite(start) || !isfinite(end) || !isfinite(step))
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "start, end and step must be finite, got %g, %g and %g", start, end, step);
    if (start != end && (start < end) != (step > 0))
        return wrong_direction(call, r);
    double count = ceil((end - start) / step);
    if (!(count < 0x1p63))
        return tn->fail(call, TN_ERR_OVERFLOW, "overflow: the range has %g elements", count);
    *out = (int64_t)count;
    return TN_OK;
}

static tn_status count(tn_call *call, const range *r, tn_dtype dtype, int64_t *out)
{
    const tn_scalar *all[] = {&r->start, &r->end, &r->step};
    bool whole = true;
    for (int i = 0; i < 3; i++) {
        if (all[i]->kind == TN_SCALAR_COMPLEX || all[i]->kind == TN_SCALAR_NONE)
            return tn->fail(call, TN_ERR_DTYPE, "start, end and step must be real numbers");
        whole &= is_whole(all[i]);
    }
    if (as_double(&r->step) == 0)
        return tn->fail(call, TN_ERR_ARGUMENT, "step must not be 0");
    if (dtype == TN_BOOL || tn_dtype_in(dtype, TN_DTYPES_COMPLEX))
        return tn->fail(call, TN_ERR_DTYPE, "a range is not defined for %s; give a real dtype",
                        tn->dtype_name(dtype));
    return whole ? count_whole(call, r, out) : count_real(call, r, out);
}

/* An int64 range is computed in int64: its numbers lose their fractions first, as in ATen. */
static tn_status cut_to_whole(tn_call *call, range *r)
{
    tn_scalar *all[] = {&r->start, &r->end, &r->step};
    for (int i = 0; i < 3; i++) {
        if (all[i]->kind != TN_SCALAR_FLOAT)
            continue;
        if (!(all[i]->v.f >= -0x1p63 && all[i]->v.f < 0x1p63))
            return tn->fail(call, TN_ERR_ARGUMENT, "%g does not fit in int64, the range's dtype",
                            all[i]->v.f);
        *all[i] = (tn_scalar){.v.i = (int64_t)all[i]->v.f, .kind = TN_SCALAR_INT};
    }
    return TN_OK;
}

static tn_status ranged(tn_call *call, const range *r, const options *o, tn_tensor **out)
{
    tn_tensor *fresh;
    int64_t n;
    bool whole = is_whole(&r->start) && is_whole(&r->end) && is_whole(&r->step);
    tn_dtype dtype = o->dtype != TN_DTYPE_NONE ? o->dtype : whole ? TN_I64 : tn->default_dtype();
    range cut = *r;
    TN_TRY(composite_check_options(call, o->layout, o->pin_memory));
    if (dtype == TN_I64)
        TN_TRY(cut_to_whole(call, &cut));
    TN_TRY(count(call, &cut, dtype, &n));
    TN_TRY(tn->tensor_new(call, 1, &n, dtype, composite_device_or(o->device, host), &fresh));
    struct tn_arange_start_out_args f = {TN_FRAME(arange_start_out), .start = cut.start,
                                         .end = cut.end, .step = cut.step, .out = fresh};
    tn_status status = tn->op_call(composite_ops[OP_ARANGE_OUT], &f);
    tn->tensor_release(fresh); /* the frame's result holds it too */
    *out = f.result;
    return status;
}

static tn_status arange(tn_call *call, struct tn_arange_args *a)
{
    range r = {zero, a->end, one};
    options o = {a->dtype, a->layout, a->device, a->pin_memory};
    return ranged(call, &r, &o, &a->result);
}

static tn_status arange_start(tn_call *call, struct tn_arange_start_args *a)
{
    range r = {a->start, a->end, one};
    options o = {a->dtype, a->layout, a->device, a->pin_memory};
    return ranged(call, &r, &o, &a->result);
}

static tn_status arange_step(tn_call *call, struct tn_arange_start_step_args *a)
{
    range r = {a->start, a->end, a->step};
    options o = {a->dtype, a->layout, a->device, a->pin_memory};
    return ranged(call, &r, &o, &a->result);
}

/* ---- linspace -------------------------------------------------------------------------------- */
/* Each half is counted from its own end, so that both ends are exact; in double, and the quotient
 * last, so that whole numbers come out whole before integers cut the rest off. */
static tn_tensor *spaced(work *w, double start, double end, int64_t n, tn_device device)
{
    tn_tensor *i = work_as_dtype(w, work_arange(w, 0, 1, n, device), TN_F64);
    tn_scalar room = work_number(end - start), pieces = work_number((double)(n - 1));
    if (n == 1)
        return work_add_number(w, i, work_number(start));
    tn_tensor *from = work_div_number(w, work_mul_number(w, i, room), pieces);
    tn_tensor *back = work_rsub(w, i, pieces);
    tn_tensor *upto = work_div_number(w, work_mul_number(w, back, room), pieces);
    return work_where(w, work_lt_number(w, i, work_number((double)n / 2)),
                      work_add_number(w, from, work_number(start)),
                      work_rsub(w, upto, work_number(end)));
}

static tn_status linspace(tn_call *call, struct tn_linspace_args *a)
{
    work w = work_on(call);
    tn_dtype dtype = or_default(a->dtype);
    TN_TRY(composite_check_options(call, a->layout, a->pin_memory));
    if (a->steps < 0)
        return tn->fail(call, TN_ERR_ARGUMENT, "steps: expected 0 or more, got %" PRId64, a->steps);
    if (dtype == TN_BOOL || tn_dtype_in(dtype, TN_DTYPES_COMPLEX) ||
        a->start.kind == TN_SCALAR_COMPLEX || a->end.kind == TN_SCALAR_COMPLEX)
        return tn->fail(call, TN_ERR_UNSUPPORTED, "a range is defined for real numbers alone");
    tn_tensor *t = spaced(&w, as_double(&a->start), as_double(&a->end), a->steps,
                          composite_device_or(a->device, host));
    return work_end(&w, work_as_dtype(&w, t, dtype), &a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_LEAF_KERNEL(empty_memory_format, EXPLICIT, empty),
    TN_LEAF_KERNEL(empty_strided, EXPLICIT, empty_strided),
    TN_KERNEL(zeros, EXPLICIT, zeros),
    TN_KERNEL(ones, EXPLICIT, ones),
    TN_KERNEL(full, EXPLICIT, full),
    TN_KERNEL(scalar_tensor, EXPLICIT, scalar_tensor),
    TN_KERNEL(arange, EXPLICIT, arange),
    TN_KERNEL(linspace, EXPLICIT, linspace),
    TN_KERNEL(arange_start, EXPLICIT, arange_start),
    TN_KERNEL(arange_start_step, EXPLICIT, arange_step),
};
const composite_kernels composite_factories = {kernels, TN_COUNT(kernels)};

/* arange.c - arange into a given tensor: element i is start + i * step, computed from i, not summed
 * up. */
#include <math.h>

#include <tenon/math.h>
#include <tenon/range.h>

#include "cpu.h"

typedef struct progression {
    int64_t start, step; /* integers: exact, wrapping like every integer */
    double f_start, f_step;
    tn_dtype dtype;
    bool integral;
    char *out;
    int64_t stride, size;
} progression;

static double value_of(const tn_scalar *x)
{
    return tn_scalar_as_double(x);
}

static tn_status count(tn_call *call, const struct tn_arange_start_out_args *a, int64_t *n)
{
    const char *wrong = tn_range_count(&a->start, &a->end, &a->step, n);
    if (!wrong)
        return TN_OK;
    return tn->fail(call, TN_ERR_ARGUMENT, "%s: from %g to %g by %g", wrong, value_of(&a->start),
                    value_of(&a->end), value_of(&a->step));
}

enum { BLOCK = 256 };

static void write_block(const progression *r, int64_t begin, int64_t n)
{
    char *out = r->out + begin * r->stride * r->size;
    int64_t whole[BLOCK];
    double real[BLOCK];
    for (int64_t i = 0; i < n; i++) {
        whole[i] = (int64_t)((uint64_t)r->start + (uint64_t)(begin + i) * (uint64_t)r->step);
        real[i] = r->f_start + (double)(begin + i) * r->f_step;
    }
    if (r->integral)
        tn->convert(NULL, out, r->dtype, r->stride * r->size, whole, TN_I64, 8, n);
    else
        tn->convert(NULL, out, r->dtype, r->stride * r->size, real, TN_F64, 8, n);
}

static void write_range(void *arg, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i += BLOCK)
        write_block(arg, i, end - i < BLOCK ? end - i : BLOCK);
}

static int64_t to_int(const tn_scalar *x)
{
    return tn_scalar_is_integer(x)                ? x->v.i
           : x->v.f >= -0x1p63 && x->v.f < 0x1p63 ? (int64_t)x->v.f
                                                  : 0;
}

/* Row by row into any shape of n elements: all but the last dimension are walked here. */
static tn_status write(tn_call *call, tn_tensor *out, progression *r)
{
    if (out->ndim == 1) {
        r->out = (char *)out->data;
        r->stride = out->strides[0];
        return tn->parallel_for(call, out->numel, 32768, write_range, r);
    }
    tn_tensor *row;
    TN_TRY(tn->tensor_new(call, 1, &out->numel, out->dtype, out->device, &row));
    r->out = (char *)row->data;
    r->stride = 1;
    write_range(r, 0, out->numel);
    int64_t strides[TN_MAX_DIMS], next = 1;
    for (int d = out->ndim - 1; d >= 0; next *= out->sizes[d--])
        strides[d] = next;
    tn_tensor *shaped;
    tn_status status =
        tn->tensor_view(call, row, out->ndim, out->sizes, strides, 0, out->dtype, &shaped);
    if (status == TN_OK) {
        status = cpu_copy_elements(call, out, shaped);
        tn->tensor_release(shaped);
    }
    tn->tensor_release(row);
    return status;
}

static tn_status make_fit(tn_call *call, tn_tensor *out, int64_t n)
{
    if (out->numel == n)
        return TN_OK;
    if (out->numel == 0)
        return tn->tensor_resize(call, out, 1, &n);
    return tn->fail(
        call, TN_ERR_ARGUMENT,
        "out has %lld elements, the range has %lld; give a tensor of that size, or one without "
        "elements to be resized",
        (long long)out->numel, (long long)n);
}

static tn_status arange_out(tn_call *call, struct tn_arange_start_out_args *a)
{
    tn_dtype dtype = a->out->dtype;
    int64_t n = 0;
    if (a->start.kind == TN_SCALAR_COMPLEX || a->end.kind == TN_SCALAR_COMPLEX ||
        a->step.kind == TN_SCALAR_COMPLEX || tn_dtype_in(dtype, TN_DTYPES_COMPLEX) ||
        dtype == TN_BOOL)
        return tn->fail(call, TN_ERR_UNSUPPORTED, "a range of %s numbers is not defined",
                        dtype == TN_BOOL ? "bool" : "complex");
    TN_TRY(count(call, a, &n));
    if (tn_dtype_in(dtype, TN_DTYPES_WHOLE) && to_int(&a->step) == 0)
        return tn->fail(call, TN_ERR_ARGUMENT, "step %g is zero in out's dtype %s",
                        value_of(&a->step), tn->dtype_name(dtype));
    TN_TRY(tn->check_no_internal_overlap(call, a->out));
    TN_TRY(make_fit(call, a->out, n));
    progression r = {.start = to_int(&a->start),
                     .step = to_int(&a->step),
                     .f_start = value_of(&a->start),
                     .f_step = value_of(&a->step),
                     .dtype = dtype,
                     .integral = tn_dtype_in(dtype, TN_DTYPES_WHOLE),
                     .size = (int64_t)tn->dtype_size(dtype)};
    if (n > 0)
        TN_TRY(write(call, a->out, &r));
    tn->tensor_retain(a->out);
    a->result = a->out;
    return TN_OK;
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL_DTYPES(arange_start_out, "CPU", arange_out, TN_DTYPES_INTEGRAL | TN_DTYPES_FLOATING),
};
const cpu_kernels cpu_arange = {kernels, TN_COUNT(kernels)};

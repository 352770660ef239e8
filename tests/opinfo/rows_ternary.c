/* rows_ternary.c - elementwise operators of three operands: addcmul and its kin, where, clamp with
 * optional bounds, and masked_fill, whose value is cast to self's dtype and never promotes. */
#include "rows_impl.h"

#include <complex.h>
#include <math.h>
#include <string.h>

enum { ADDCMUL, ADDCDIV };

static oi_num addc(const oi_row *row, const oi_sample *s, tn_dtype d, const oi_num *in,
                   oi_real *mag)
{
    (void)s;
    if (oi_is_integral(d))
        return oi_int((int64_t)((uint64_t)in[0].i +
                                (uint64_t)in[3].i * (uint64_t)in[1].i * (uint64_t)in[2].i));
    if (!oi_is_complex(d)) {
        oi_real t = in[3].re * (row->kind == ADDCMUL ? in[1].re * in[2].re : in[1].re / in[2].re);
        *mag = fabsl(in[0].re) + fabsl(t);
        *mag = isfinite(*mag) ? *mag : 0;
        return oi_float(in[0].re + t);
    }
    _Complex long double a = oi_complex_of(in[0].re, in[0].im),
                         x = oi_complex_of(in[1].re, in[1].im),
                         y = oi_complex_of(in[2].re, in[2].im);
    _Complex long double t = oi_complex_of(in[3].re, in[3].im) *
                             (row->kind == ADDCMUL ? x * y : x / y);
    *mag = cabsl(a) + cabsl(t);
    return oi_complex(creall(a + t), cimagl(a + t));
}

static oi_num where(const oi_row *row, const oi_sample *s, tn_dtype d, const oi_num *in,
                    oi_real *mag)
{
    (void)row, (void)s, (void)d, (void)mag;
    return in[0].i ? in[1] : in[2];
}

/* ---- clamp ----------------------------------------------------------------------------------- */
static bool has(const oi_sample *s, const char *name)
{
    const oi_arg *a = oi_find(s, name);
    return a &&
           (a->kind == TN_FIELD_TENSOR ? !a->tensors->absent : a->scalar.kind != TN_SCALAR_NONE);
}

static oi_num clamp(const oi_row *row, const oi_sample *s, tn_dtype d, const oi_num *in,
                    oi_real *mag)
{
    (void)row, (void)mag;
    oi_num x = in[0];
    bool whole = oi_is_integral(d), lower = has(s, "min"), upper = has(s, "max");
    if (!whole && (isnan(x.re) || (lower && isnan(in[1].re)) || (upper && isnan(in[2].re))))
        return oi_float(NAN);
    if (lower && (whole ? x.i < in[1].i : x.re < in[1].re))
        x = in[1];
    if (upper && (whole ? x.i > in[2].i : x.re > in[2].re))
        x = in[2];
    return x;
}

static tn_scalar number(tn_dtype d, int v)
{
    return d == TN_BOOL        ? tn_scalar_bool(v & 1)
           : oi_is_integral(d) ? tn_scalar_int(v)
                               : tn_scalar_float(v + 0.25);
}

/* Every sample with both bounds, one of them, bounds that cross; none at all is an error. */
static void clamp_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    bool tensors = strcmp(row->op, "clamp.Tensor") == 0;
    oi_row self_only = *row;
    self_only.operands = tensors ? "self min" : "self";
    oi_elementwise_samples(&self_only, out, d, seed);
    for (int k = 0; k < out->n; k++) {
        oi_sample *s = &out->list[k];
        int which = k % 4;
        if (tensors) {
            oi_arg *lower = (oi_arg *)oi_find(s, "min");
            if (which == 1)
                lower->name = "max";
            else if (which == 2)
                oi_arg_tensor(s, "max", oi_array_cast(&lower->tensors->a, d), OI_ROW);
            continue;
        }
        if (which != 1)
            oi_arg_scalar(s, "min", number(d, which == 3 ? 3 : 1));
        if (which != 2)
            oi_arg_scalar(s, "max", number(d, 2));
    }
    oi_sample *none = oi_sample_new(out, "no bounds");
    oi_rng r = oi_rng_make(seed, row->op, d, none->number);
    oi_arg_tensor(none, "self", oi_values(row, &r, d, OI_SIZES(3)), OI_ROW);
    none->error = true;
}

/* ---- masked_fill ----------------------------------------------------------------------------- */
static tn_scalar fill_value(tn_dtype d)
{
    return d == TN_BOOL        ? tn_scalar_bool(true)
           : oi_is_integral(d) ? tn_scalar_int(7)
           : oi_is_complex(d)  ? tn_scalar_complex(1.5, -2)
                               : tn_scalar_float(-2.5);
}

static void masked_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    bool tensor = strcmp(row->op, "masked_fill.Tensor") == 0;
    oi_row without = *row;
    without.operands = "self mask";
    oi_elementwise_samples(&without, out, d, seed);
    for (int k = 0; k < out->n; k++) {
        tn_scalar v = fill_value(d);
        if (!tensor) {
            oi_arg_scalar(&out->list[k], "value", v);
            continue;
        }
        oi_array a = oi_array_new(d, 0, NULL);
        a.v[0] = oi_from_scalar(&v, d);
        oi_arg_tensor(&out->list[k], "value", a, OI_ROW);
    }
    oi_sample *bad = oi_sample_new(out, "a mask that is not bool");
    oi_arg_tensor(bad, "self", oi_array_new(d, OI_SIZES(3)), OI_ROW);
    oi_arg_tensor(bad, "mask", oi_array_new(TN_F32, OI_SIZES(3)), OI_ROW);
    bad->args[bad->n_args++] = *oi_find(&out->list[0], "value");
    bad->error = true;
}

static int masked_reference(const oi_row *row, const oi_sample *s, oi_array *results)
{
    (void)row;
    const oi_array *self = oi_input(s, "self"), *mask = oi_input(s, "mask"),
                   *value = oi_input(s, "value");
    const oi_array *both[] = {self, mask};
    int64_t sizes[OI_DIMS], coords[OI_DIMS];
    int ndim;
    if (!oi_broadcast(2, both, &ndim, sizes))
        return 0;
    oi_num v = value ? value->v[0] : oi_from_scalar(&oi_find(s, "value")->scalar, self->dtype);
    results[0] = oi_array_new(self->dtype, ndim, sizes);
    for (int64_t i = 0; i < results[0].numel; i++) {
        oi_coords(&results[0], i, coords);
        results[0].v[i] = mask->v[oi_broadcast_index(mask, ndim, coords)].i
                              ? v
                              : self->v[oi_broadcast_index(self, ndim, coords)];
    }
    return 1;
}

#define ELEMENTWISE(name, operands_, dtypes_, family, body, which)                                 \
    {                                                                                              \
        .op = name, .operands = operands_, .dtypes = dtypes_, .tolerance = family,                 \
        .element = body, .kind = which, .samples = oi_elementwise_samples,                         \
        .reference = oi_elementwise_reference                                                      \
    }

static const oi_row rows[] = {
    ELEMENTWISE("addcmul", "self tensor1 tensor2 value", INT | FLOAT | COMPLEX, "composed", addc,
                ADDCMUL),
    ELEMENTWISE("addcdiv", "self tensor1 tensor2 value", FLOAT | COMPLEX, "composed", addc,
                ADDCDIV),
    ELEMENTWISE("where.self", "condition self other", ALL, "exact", where, 0),
    {.op = "clamp",
     .operands = "self min max",
     .dtypes = INT | FLOAT,
     .tolerance = "exact",
     .element = clamp,
     .samples = clamp_samples,
     .reference = oi_elementwise_reference},
    {.op = "clamp.Tensor",
     .operands = "self min max",
     .dtypes = INT | FLOAT,
     .tolerance = "exact",
     .element = clamp,
     .samples = clamp_samples,
     .reference = oi_elementwise_reference},
    {.op = "masked_fill.Scalar",
     .dtypes = ALL,
     .tolerance = "exact",
     .samples = masked_samples,
     .reference = masked_reference},
    {.op = "masked_fill.Tensor",
     .dtypes = ALL,
     .tolerance = "exact",
     .samples = masked_samples,
     .reference = masked_reference},
};
const oi_rows oi_rows_ternary = ROWS(rows);

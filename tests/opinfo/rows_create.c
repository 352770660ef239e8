/* rows_create.c - operators that make a tensor from sizes and numbers. What empty and its kin hold
 * is not defined, so that of them only shape, dtype and strides are compared. */
#include "rows_impl.h"

#include <math.h>
#include <string.h>

enum { NOTHING, ZERO, ONE, GIVEN };

/* ---- constants ------------------------------------------------------------------------------- */
static tn_scalar value_for(tn_dtype d)
{
    return d == TN_BOOL        ? tn_scalar_bool(true)
           : oi_is_integral(d) ? tn_scalar_int(7)
           : oi_is_complex(d)  ? tn_scalar_complex(1.5, -2)
                               : tn_scalar_float(-2.5);
}

static int constant(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *self = oi_input(s, "self");
    const oi_arg *size = oi_find(s, "size"),
                 *value = oi_find(s, row->data ? row->data : "fill_value");
    tn_dtype d = (tn_dtype)oi_get_int(s, "dtype", self ? self->dtype : TN_F32);
    results[0] = size ? oi_array_new(d, (int)size->n, size->ints)
                      : oi_array_new(d, self ? self->ndim : 0, self ? self->sizes : NULL);
    for (int64_t i = 0; i < results[0].numel; i++)
        results[0].v[i] = row->kind == GIVEN ? oi_from_scalar(&value->scalar, d)
                                             : oi_cast(oi_int(row->kind == ONE), TN_I64, d);
    return 1;
}

static const struct {
    const char *what;
    int ndim;
    int64_t sizes[3], strides[3];
} shapes[] = {
    {"two dims", 2, {3, 4}, {1, 3}},         {"0-dim", 0, {0}, {0}},
    {"no elements", 2, {0, 3}, {3, 1}},      {"a vector", 1, {37}, {2}},
    {"three dims", 3, {2, 1, 5}, {5, 5, 1}},
};

/* Gives the arguments that the operator has: size, stride, fill_value, dtype. */
static void samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    int n_results, n_args;
    const tn_op *op = tn_op_find(row->op);
    const tn_field *f = op ? tn_op_fields(op, &n_results, &n_args) : NULL;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes + 1; k++) {
        bool bad = k == sizeof shapes / sizeof *shapes;
        oi_sample *s = oi_sample_new(out, bad ? "a negative size" : shapes[k].what);
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        bool sized = false, self = false;
        for (int i = 0; f && i < n_args; i++) {
            const char *name = f[n_results + i].name;
            if (strcmp(name, "self") == 0)
                oi_arg_tensor(
                    s, name,
                    oi_values(row, &r, d, shapes[bad ? 0 : k].ndim, shapes[bad ? 0 : k].sizes),
                    k % 2 ? OI_ROW : OI_TRANSPOSED),
                    self = true;
            if (strcmp(name, "size") == 0)
                oi_arg_ints(s, name, bad ? 2 : shapes[k].ndim,
                            bad ? (const int64_t[]){2, -1} : shapes[k].sizes),
                    sized = true;
            if (strcmp(name, "stride") == 0)
                oi_arg_ints(s, name, bad ? 2 : shapes[k].ndim,
                            bad ? (const int64_t[]){1, 2} : shapes[k].strides);
            if (f[n_results + i].kind == TN_FIELD_SCALAR)
                oi_arg_scalar(s, name, value_for(d));
            if (strcmp(name, "dtype") == 0 && !(self && k % 2))
                oi_arg_int(s, name, TN_FIELD_DTYPE, d);
        }
        if (bad && !sized)
            out->n--;
        s->error = bad;
    }
}

/* ---- arange ---------------------------------------------------------------------------------- */
static oi_num number_at(const oi_sample *s, const char *name, int64_t or_else)
{
    const oi_arg *a = oi_find(s, name);
    return !a                                ? oi_int(or_else)
           : a->scalar.kind == TN_SCALAR_INT ? oi_int(a->scalar.v.i)
                                             : oi_float(a->scalar.v.f);
}

static int arange(const oi_row *row, const oi_sample *s, oi_array *results)
{
    (void)row;
    const oi_array *out = oi_input(s, "out");
    oi_num start = number_at(s, "start", 0), end = number_at(s, "end", 0),
           step = number_at(s, "step", 1);
    tn_dtype d = out ? out->dtype : (tn_dtype)oi_get_int(s, "dtype", TN_F32);
    int64_t n = (int64_t)ceill((end.re - start.re) / step.re);
    results[0] = oi_array_new(d, 1, &n);
    oi_array_mags(&results[0]);
    for (int64_t i = 0; i < n; i++) {
        oi_real x = start.re + (oi_real)i * step.re;
        results[0].v[i] = oi_is_integral(d) ? oi_cast(oi_int(start.i + i * step.i), TN_I64, d)
                                            : oi_float(x);
        results[0].mag[i] = fabsl(start.re) + fabsl((oi_real)i * step.re);
    }
    return 1;
}

static tn_scalar number(bool whole, double x)
{
    return whole ? tn_scalar_int((int64_t)x) : tn_scalar_float(x);
}

static void arange_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const double settings[][3] = {{0, 9, 1},  {2, 40, 3}, {1, 1, 1}, {0, 131, 1},
                                         {0, -5, 1}, {9, 1, -2}, {0, 5, 0}};
    (void)seed;
    bool whole = oi_is_integral(d), has_start = strcmp(row->op, "arange") != 0,
         has_step = has_start && strcmp(row->op, "arange.start") != 0;
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        const double *v = settings[k];
        bool bad = v[2] == 0 || (v[1] < v[0] && (v[2] > 0 || !has_step));
        if ((!has_step && v[2] != 1) || (!has_start && v[0] != 0) || (bad && k > 4 && !has_step))
            continue;
        oi_sample *s = oi_sample_new(out, bad ? "a range that leads nowhere" : "a range");
        oi_arg_scalar(s, "end", number(whole, v[1]));
        if (has_start)
            oi_arg_scalar(s, "start", number(whole, v[0]));
        if (has_step)
            oi_arg_scalar(s, "step", number(whole, whole ? v[2] : v[2] * 0.75));
        if (strcmp(row->op, "arange.start_out") == 0)
            oi_arg_tensor(
                s, "out",
                oi_array_new(
                    d, 1,
                    &(int64_t){bad ? 3
                                   : (int64_t)ceil((v[1] - v[0]) / (whole ? v[2] : v[2] * 0.75))}),
                OI_GAPPED);
        else
            oi_arg_int(s, "dtype", TN_FIELD_DTYPE, d);
        s->error = bad;
    }
}

/* ---- linspace -------------------------------------------------------------------------------- */
static int linspace(const oi_row *row, const oi_sample *s, oi_array *results)
{
    (void)row;
    int64_t n = oi_get_int(s, "steps", 0);
    tn_dtype d = (tn_dtype)oi_get_int(s, "dtype", TN_F32);
    oi_real start = number_at(s, "start", 0).re, end = number_at(s, "end", 0).re;
    results[0] = oi_array_new(d, 1, &n);
    oi_array_mags(&results[0]);
    for (int64_t i = 0; i < n; i++) {
        oi_real x = n == 1 ? start : start + (end - start) * (oi_real)i / (oi_real)(n - 1);
        results[0].v[i] = oi_is_integral(d) ? oi_cast(oi_int((int64_t)x), TN_I64, d) : oi_float(x);
        results[0].mag[i] = fabsl(start) + fabsl(end);
    }
    return 1;
}

static void linspace_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const double settings[][3] = {{0, 100, 8}, {10, 1, 6},  {0, 1, 0}, {5, 9, 1},
                                         {2, 2, 5},   {0, 9, 131}, {0, 1, -1}};
    (void)row, (void)seed;
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        oi_sample *s = oi_sample_new(out, settings[k][2] < 0 ? "steps below 0" : "a range");
        oi_arg_scalar(s, "start", number(oi_is_integral(d), settings[k][0]));
        oi_arg_scalar(s, "end", number(oi_is_integral(d), settings[k][1]));
        oi_arg_int(s, "steps", TN_FIELD_INT, (int64_t)settings[k][2]);
        oi_arg_int(s, "dtype", TN_FIELD_DTYPE, d);
        s->error = settings[k][2] < 0;
    }
}

#define CONSTANT(name, which, flags_)                                                              \
    {                                                                                              \
        .op = name, .dtypes = ALL, .flags = flags_, .tolerance = "exact", .kind = which,           \
        .samples = samples, .reference = constant                                                  \
    }
#define ARANGE(name)                                                                               \
    {                                                                                              \
        .op = name, .dtypes = INT | FLOAT, .tolerance = "arithmetic", .samples = arange_samples,   \
        .reference = arange                                                                        \
    }

static const oi_row rows[] = {
    CONSTANT("empty.memory_format", NOTHING, OI_META_ONLY),
    CONSTANT("empty_strided", NOTHING, OI_META_ONLY),
    CONSTANT("zeros", ZERO, 0),
    CONSTANT("ones", ONE, 0),
    CONSTANT("full", GIVEN, 0),
    CONSTANT("empty_like", NOTHING, OI_META_ONLY),
    CONSTANT("zeros_like", ZERO, 0),
    CONSTANT("ones_like", ONE, 0),
    CONSTANT("full_like", GIVEN, 0),
    CONSTANT("new_empty", NOTHING, OI_META_ONLY),
    CONSTANT("new_zeros", ZERO, 0),
    CONSTANT("new_ones", ONE, 0),
    CONSTANT("new_full", GIVEN, 0),
    CONSTANT("new_empty_strided", NOTHING, OI_META_ONLY),
    /* scalar_tensor is a full of no dims, whose value has another name. */
    {.op = "scalar_tensor",
     .dtypes = ALL,
     .tolerance = "exact",
     .kind = GIVEN,
     .data = "s",
     .samples = samples,
     .reference = constant},
    ARANGE("arange"),
    {.op = "linspace",
     .dtypes = INT | FLOAT,
     .tolerance = "arithmetic",
     .samples = linspace_samples,
     .reference = linspace},
    ARANGE("arange.start"),
    ARANGE("arange.start_step"),
    ARANGE("arange.start_out"),
};
const oi_rows oi_rows_create = ROWS(rows);

/* elementwise.c - the road that all elementwise rows share: samples made from the operator's own
 * schema, and a reference that promotes, broadcasts and asks the row for one element at a time.
 *
 * Numbers with a default (alpha) do not take part in promotion, numbers without one do, and a mask
 * decides nothing. */
#include "opinfo.h"

#include <math.h>
#include <string.h>

enum { MAX_OPERANDS = 5 };

/* ---- operands by name
 * ------------------------------------------------------------------------------ */
static int split(const char *names, char out[][32])
{
    int n = 0;
    while (*names && n < MAX_OPERANDS) {
        size_t k = strcspn(names, " ");
        snprintf(out[n++], 32, "%.*s", (int)k, names);
        names += k;
        names += strspn(names, " ");
    }
    return n;
}

static const tn_field *argument(const tn_op *op, const char *name)
{
    int n_results, n_args;
    const tn_field *f = op ? tn_op_fields(op, &n_results, &n_args) : NULL;
    for (int k = 0; f && k < n_args; k++)
        if (strcmp(f[n_results + k].name, name) == 0)
            return &f[n_results + k];
    return NULL;
}

/* The schema's default of a number; none when it has none. */
static tn_scalar default_of(const tn_op *op, const tn_field *f)
{
    if (!f || f->kind != TN_FIELD_SCALAR)
        return tn_scalar_none();
    void *frame = oi_alloc(tn_op_frame_size(op));
    tn_op_frame_init(op, frame);
    return *(const tn_scalar *)((const char *)frame + f->offset);
}

static bool is_mask(const char *name)
{
    return strcmp(name, "condition") == 0 || strcmp(name, "mask") == 0;
}

static int category(tn_dtype d)
{
    return d == TN_DTYPE_NONE  ? -1
           : d == TN_BOOL      ? 0
           : oi_is_integral(d) ? 1
           : oi_is_floating(d) ? 2
                               : 3;
}

static tn_dtype join(tn_dtype a, tn_dtype b)
{
    return a == TN_DTYPE_NONE ? b : b == TN_DTYPE_NONE ? a : oi_promote(a, b);
}

/* Tensors with dimensions decide; 0-dim ones and then numbers count when they are of a higher
 * kind. */
tn_dtype oi_elementwise_dtype(const oi_row *row, const oi_sample *s)
{
    char names[MAX_OPERANDS][32];
    int n = split(row->operands, names);
    const tn_op *op = tn_op_find(row->op);
    tn_dtype classes[3] = {TN_DTYPE_NONE, TN_DTYPE_NONE, TN_DTYPE_NONE};
    for (int k = 0; k < n; k++) {
        const oi_arg *a = oi_find(s, names[k]);
        const tn_field *f = argument(op, names[k]);
        if (!a || is_mask(names[k]))
            continue;
        if (a->kind == TN_FIELD_TENSOR && !a->tensors->absent) {
            tn_dtype *of = &classes[a->tensors->a.ndim == 0];
            *of = join(*of, a->tensors->a.dtype);
        } else if (a->kind == TN_FIELD_SCALAR && a->scalar.kind != TN_SCALAR_NONE &&
                   !(f && f->flags & TN_FIELD_DEFAULTED && !(f->flags & TN_FIELD_OPTIONAL))) {
            classes[2] = join(classes[2], oi_scalar_dtype(&a->scalar));
        }
    }
    tn_dtype d = classes[0];
    for (int k = 1; k < 3; k++)
        if (category(classes[k]) > category(d))
            d = join(d, classes[k]);
    return row->flags & OI_TO_FLOAT && oi_is_integral(d) ? TN_F32 : d;
}

/* ---- the reference
 * --------------------------------------------------------------------------------- */
typedef struct operand {
    const oi_array *array; /* NULL: a number */
    oi_num number;
    bool mask;
} operand;

/* Half precision is computed in float32, and so is a number's part in it. */
static oi_num number_in(const tn_scalar *s, tn_dtype dtype)
{
    return oi_from_scalar(s, dtype == TN_F16 || dtype == TN_BF16 ? TN_F32 : dtype);
}

/* What a call without the number computes with: the schema's default. */
static oi_num default_number(const oi_row *row, const char *name, tn_dtype dtype)
{
    const tn_op *op = tn_op_find(row->op);
    tn_scalar s = default_of(op, argument(op, name));
    return s.kind == TN_SCALAR_NONE ? oi_cast(oi_int(1), TN_I64, dtype) : number_in(&s, dtype);
}

static int operands_of(const oi_row *row, const oi_sample *s, tn_dtype dtype, operand *out)
{
    char names[MAX_OPERANDS][32];
    int n = split(row->operands, names), used = 0;
    for (int k = 0; k < n; k++) {
        const oi_arg *a = oi_find(s, names[k]);
        operand o = {.mask = is_mask(names[k])};
        if (!a)
            o.number = default_number(row, names[k], dtype);
        if (a && a->kind == TN_FIELD_TENSOR)
            o.array = &a->tensors->a;
        else if (a)
            o.number = number_in(&a->scalar, dtype);
        out[used++] = o;
    }
    return used;
}

int oi_elementwise_reference(const oi_row *row, const oi_sample *s, oi_array *results)
{
    operand operands[MAX_OPERANDS];
    const oi_array *arrays[MAX_OPERANDS];
    int64_t sizes[OI_DIMS], coords[OI_DIMS];
    tn_dtype dtype = oi_elementwise_dtype(row, s);
    int n = operands_of(row, s, dtype, operands), n_arrays = 0, ndim;
    for (int k = 0; k < n; k++)
        if (operands[k].array)
            arrays[n_arrays++] = operands[k].array;
    if (!oi_broadcast(n_arrays, arrays, &ndim, sizes))
        return 0;
    oi_array *r = &results[0];
    *r = oi_array_new(row->flags & OI_TO_BOOL ? TN_BOOL : dtype, ndim, sizes);
    oi_array_mags(r);
    for (int64_t i = 0; i < r->numel; i++) {
        oi_num in[MAX_OPERANDS];
        oi_coords(r, i, coords);
        for (int k = 0; k < n; k++) {
            const oi_array *a = operands[k].array;
            in[k] = operands[k].number;
            if (a)
                in[k] = oi_cast(a->v[oi_broadcast_index(a, ndim, coords)], a->dtype,
                                operands[k].mask ? TN_BOOL : dtype);
        }
        r->v[i] = row->element(row, s, dtype, in, &r->mag[i]);
        if (oi_is_integral(r->dtype))
            r->v[i] = oi_cast(r->v[i], TN_I64, r->dtype);
    }
    return 1;
}

/* ---- samples
 * --------------------------------------------------------------------------------------- */
typedef struct pattern {
    const char *what;
    int ndim[3];
    int64_t sizes[3][4]; /* of the first, second and third tensor operand */
    oi_layout layout[3];
} pattern;

static const pattern patterns[] = {
    {"row-major", {2, 2, 2}, {{3, 5}, {3, 5}, {3, 5}}, {OI_ROW, OI_ROW, OI_ROW}},
    {"0-dim", {0, 0, 0}, {{0}}, {OI_ROW, OI_ROW, OI_ROW}},
    {"one element", {1, 1, 1}, {{1}, {1}, {1}}, {OI_ROW, OI_ROW, OI_ROW}},
    {"no elements", {1, 1, 1}, {{0}, {0}, {0}}, {OI_ROW, OI_ROW, OI_ROW}},
    {"no elements, 3 dims", {3, 3, 3}, {{2, 0, 3}, {2, 0, 3}, {2, 0, 3}}, {OI_ROW, OI_ROW, OI_ROW}},
    {"an odd length", {1, 1, 1}, {{131}, {131}, {131}}, {OI_ROW, OI_ROW, OI_ROW}},
    {"transposed",
     {2, 2, 2},
     {{4, 6}, {4, 6}, {4, 6}},
     {OI_TRANSPOSED, OI_TRANSPOSED, OI_TRANSPOSED}},
    {"transposed and row-major",
     {2, 2, 2},
     {{5, 7}, {5, 7}, {5, 7}},
     {OI_TRANSPOSED, OI_ROW, OI_GAPPED}},
    {"gaps", {3, 3, 3}, {{3, 4, 5}, {3, 4, 5}, {3, 4, 5}}, {OI_GAPPED, OI_GAPPED, OI_GAPPED}},
    {"a gapped vector", {1, 1, 1}, {{37}, {37}, {37}}, {OI_GAPPED, OI_ROW, OI_GAPPED}},
    {"stride 0", {2, 2, 2}, {{4, 3}, {4, 3}, {4, 3}}, {OI_EXPANDED, OI_ROW, OI_ROW}},
    {"broadcast", {3, 2, 1}, {{4, 1, 3}, {5, 1}, {3}}, {OI_ROW, OI_ROW, OI_ROW}},
    {"broadcast to self", {2, 1, 2}, {{3, 7}, {7}, {3, 1}}, {OI_ROW, OI_ROW, OI_ROW}},
    {"0-dim with a vector", {1, 0, 1}, {{7}, {0}, {7}}, {OI_ROW, OI_ROW, OI_ROW}},
    {"a stride over 2 GiB", {2, 2, 2}, {{2, 5}, {2, 5}, {2, 5}}, {OI_HUGE, OI_ROW, OI_HUGE}},
    {"a vector with a stride over 2 GiB", {1, 1, 1}, {{2}, {2}, {2}}, {OI_HUGE, OI_HUGE, OI_ROW}},
    {"misaligned", {1, 1, 1}, {{33}, {33}, {33}}, {OI_SHIFTED, OI_SHIFTED, OI_SHIFTED}},
    {"five dims",
     {4, 4, 4},
     {{2, 3, 1, 4}, {2, 1, 5, 4}, {1, 3, 5, 1}},
     {OI_TRANSPOSED, OI_ROW, OI_GAPPED}},
};

/* Equal along a dimension of stride 0. */
static void make_equal_along_first(oi_array *a)
{
    if (a->ndim == 0 || a->sizes[0] == 0)
        return;
    int64_t row = a->numel / a->sizes[0];
    for (int64_t i = row; i < a->numel; i++)
        a->v[i] = a->v[i % row];
}

static tn_scalar number_for(const oi_row *row, oi_rng *r, tn_dtype d)
{
    double lo = row->lo || row->hi ? row->lo : -3, hi = row->lo || row->hi ? row->hi : 3;
    if (d == TN_BOOL)
        return tn_scalar_bool(true);
    if (oi_is_integral(d)) {
        int64_t v =
            oi_uniform_int(r, d == TN_U8 && lo < 0 ? 0 : (int64_t)ceil(lo), (int64_t)floor(hi));
        return tn_scalar_int(v ? v : 1);
    }
    double x = (double)oi_round(oi_uniform(r, lo, hi), TN_BF16);
    if (oi_is_complex(d))
        return tn_scalar_complex(x, (double)oi_round(oi_uniform(r, lo, hi), TN_BF16));
    return tn_scalar_float(x);
}

/* One operand of a sample; returns whether it was a tensor. */
static bool add_operand(const oi_row *row, oi_sample *s, oi_rng *r, const tn_field *f, tn_dtype d,
                        const pattern *p, int at)
{
    if (f->kind == TN_FIELD_SCALAR) {
        tn_scalar left_out = default_of(tn_op_find(row->op), f);
        bool optional = f->flags & TN_FIELD_DEFAULTED &&
                        !(oi_is_integral(d) && left_out.kind == TN_SCALAR_FLOAT);
        if (!optional || s->number % 2)
            oi_arg_scalar(s, f->name, number_for(row, r, d));
        return false;
    }
    oi_array a = oi_values(row, r, is_mask(f->name) ? TN_BOOL : d, p->ndim[at], p->sizes[at]);
    if (p->layout[at] == OI_EXPANDED)
        make_equal_along_first(&a);
    oi_arg_tensor(s, f->name, a, p->layout[at]);
    return true;
}

static oi_sample *add_sample(const oi_row *row, oi_samples *out, tn_dtype d, tn_dtype second,
                             uint64_t seed, const pattern *p)
{
    char names[MAX_OPERANDS][32];
    int n = split(row->operands, names), tensors = 0;
    const tn_op *op = tn_op_find(row->op);
    oi_sample *s = oi_sample_new(out, p->what);
    oi_rng r = oi_rng_make(seed, row->op, d, s->number);
    for (int k = 0; k < n; k++) {
        const tn_field *f = argument(op, names[k]);
        if (f)
            tensors += add_operand(row, s, &r, f,
                                   tensors == 1 || f->kind == TN_FIELD_SCALAR ? second : d, p,
                                   tensors < 3 ? tensors : 2);
    }
    return s;
}

static void set_special(oi_array *a, tn_dtype d, int place, bool no_zero)
{
    static const double floats[] = {0.0, -0.0,     1,         -1,  0.5,  -2.5,
                                    3,   INFINITY, -INFINITY, NAN, 1e30, -1e-30};
    enum { N = sizeof floats / sizeof *floats };
    int64_t bits = 8 * oi_size_of(d) - 1;
    int64_t least = d == TN_U8 ? 0 : -(INT64_C(1) << (bits - 1)) * 2,
            most = d == TN_U8 ? 255 : -(least + 1);
    const int64_t ints[N] = {
        0, 1, d == TN_U8 ? 2 : -1, 2, 3, 7, d == TN_U8 ? 9 : -7, 100, least, most, most - 1, 5};
    for (int64_t i = 0; i < a->numel; i++) {
        int64_t k = place == 0 ? i % N : place == 1 ? i / N % N : (i * 7 + 3) % N;
        if (oi_is_integral(d)) {
            int64_t v = no_zero && place == 1 && ints[k] == 0 ? 4 : ints[k];
            a->v[i] = oi_int(d == TN_BOOL ? v & 1 : v);
        } else {
            a->v[i] = oi_cast(oi_float(floats[k]), TN_F64, d);
        }
    }
}

/* Zeros, infinities, NaN, the ends of the range, each with each. A row with a domain of integers
 * keeps to it. */
static void add_special(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const pattern p = {
        "special values", {1, 1, 1}, {{144}, {144}, {144}}, {OI_ROW, OI_ROW, OI_ROW}};
    if (oi_is_complex(d) || (oi_is_integral(d) && row->flags & OI_NO_SPECIAL_INT))
        return;
    oi_sample *s = add_sample(row, out, d, d, seed, &p);
    int place = 0;
    for (int k = 0; k < s->n_args; k++)
        if (s->args[k].kind == TN_FIELD_TENSOR && !is_mask(s->args[k].name))
            set_special(&s->args[k].tensors->a, d, place++, row->flags & OI_NO_ZERO);
}

static int count_tensors(const oi_sample *s)
{
    int n = 0;
    for (int k = 0; k < s->n_args; k++)
        n += s->args[k].kind == TN_FIELD_TENSOR;
    return n;
}

/* Another dtype for the second operand, of a lower or equal kind, so that the row's dtypes still
 * say it all. */
static void add_mixed(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const tn_dtype others[TN_DTYPE_COUNT] = {
        [TN_BOOL] = TN_BOOL, [TN_U8] = TN_BOOL, [TN_I8] = TN_U8,   [TN_I16] = TN_I8,
        [TN_I32] = TN_U8,    [TN_I64] = TN_I32, [TN_F16] = TN_I64, [TN_BF16] = TN_F16,
        [TN_F32] = TN_F16,   [TN_F64] = TN_F32, [TN_C64] = TN_F32, [TN_C128] = TN_C64};
    tn_dtype other = others[d];
    if (other == d || !(row->dtypes >> other & 1))
        return;
    static const pattern p = {
        "two dtypes", {2, 2, 2}, {{3, 4}, {3, 4}, {3, 4}}, {OI_ROW, OI_ROW, OI_ROW}};
    static const pattern zero = {
        "two dtypes, one 0-dim", {1, 0, 1}, {{5}, {0}, {5}}, {OI_ROW, OI_ROW, OI_ROW}};
    if (oi_promote(d, other) == d || row->dtypes >> oi_promote(d, other) & 1)
        add_sample(row, out, d, other, seed, &p);
    add_sample(row, out, d, other, seed, &zero);
}

void oi_elementwise_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const pattern large = {
        "large", {1, 1, 1}, {{20011}, {20011}, {20011}}, {OI_ROW, OI_ROW, OI_ROW}};
    static const pattern wide = {
        "large, broadcast", {2, 1, 2}, {{41, 501}, {501}, {41, 1}}, {OI_GAPPED, OI_ROW, OI_ROW}};
    static const pattern apart = {
        "shapes that do not broadcast", {1, 1, 1}, {{3}, {4}, {5}}, {OI_ROW, OI_ROW, OI_ROW}};
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++)
        add_sample(row, out, d, d, seed, &patterns[k]);
    add_special(row, out, d, seed);
    if (count_tensors(&out->list[0]) > 1) {
        add_mixed(row, out, d, seed);
        add_sample(row, out, d, d, seed, &apart)->error = true;
    }
    add_sample(row, out, d, d, seed, &large)->large = true;
    add_sample(row, out, d, d, seed, &wide)->large = true;
}

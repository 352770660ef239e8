/* rows_margin.c - losses of pairs, distances and classes with a margin, cross entropies of
 * probabilities, and pairwise_distance: each term by its definition, then summed or averaged. */
#include "rows_impl.h"

#include <math.h>
#include <string.h>

enum {
    BCE,
    KL_DIV,
    SOFT_MARGIN,
    HINGE,
    RANKING,
    COSINE,
    TRIPLET,
    DISTANCE,
    MULTI,
    LABELS,
    LABELS_FORWARD
};

static oi_real number(const oi_sample *s, const char *name, oi_real or_else)
{
    const oi_arg *a = oi_find(s, name);
    return !a                                  ? or_else
           : a->scalar.kind == TN_SCALAR_FLOAT ? (oi_real)a->scalar.v.f
                                               : (oi_real)a->scalar.v.i;
}

static oi_real positive(oi_real x)
{
    return x > 0 ? x : 0;
}

/* ---- terms ----------------------------------------------------------------------------------- */
static oi_real element(const oi_row *row, const oi_sample *s, int64_t i, oi_real x, oi_real y)
{
    const oi_array *weight = oi_input(s, "weight");
    oi_real margin = number(s, "margin", row->kind == HINGE ? 1 : 0), z = -y * x;
    switch (row->kind) {
    case BCE:
        return -(y * fmaxl(logl(x), -100) + (1 - y) * fmaxl(log1pl(-x), -100)) *
               (weight ? weight->v[i].re : 1);
    case KL_DIV:
        return oi_get_int(s, "log_target", 0) ? expl(y) * (y - x)
                                              : (y == 0 ? 0 : y * logl(y)) - y * x;
    case SOFT_MARGIN:
        return positive(z) + log1pl(expl(-fabsl(z)));
    default:
        return (y != 1 ? positive(margin - x) : 0) + (y != -1 ? x : 0);
    }
}

/* A difference as integers without a sign hold it. */
static oi_real apart(tn_dtype d, oi_real x)
{
    return d == TN_U8 && x < 0 ? x + 256 : x;
}

/* |a - b + eps|_2 of row r; magnitudes of its terms. */
static oi_real length(const oi_array *a, const oi_array *b, int64_t r, int64_t n, oi_real *mag)
{
    oi_real sum = 0, size = 0;
    for (int64_t k = r * n; k < (r + 1) * n; k++) {
        oi_real re = apart(a->dtype, a->v[k].re - b->v[k].re) + 1e-6L;
        oi_real im = oi_is_complex(a->dtype) ? a->v[k].im - b->v[k].im : 0;
        sum += re * re + im * im;
        size += fabsl(a->v[k].re) + fabsl(b->v[k].re) + 2;
    }
    *mag += size;
    return sqrtl(sum);
}

static oi_real cosine(const oi_array *a, const oi_array *b, int64_t r, int64_t n)
{
    oi_real ab = 0, aa = 1e-12L, bb = 1e-12L;
    for (int64_t k = r * n; k < (r + 1) * n; k++) {
        ab += a->v[k].re * b->v[k].re;
        aa += a->v[k].re * a->v[k].re;
        bb += b->v[k].re * b->v[k].re;
    }
    return ab / sqrtl(aa * bb);
}

static oi_real multi_margin(const oi_sample *s, const oi_array *x, int64_t r, int64_t n,
                            oi_real *mag)
{
    const oi_array *weight = oi_input(s, "weight");
    int64_t t = oi_input(s, "target")->v[r].i;
    oi_real sum = 0, w = weight ? weight->v[t].re : 1;
    for (int64_t k = 0; k < n; k++) {
        oi_real z = positive(number(s, "margin", 1) - x->v[r * n + t].re + x->v[r * n + k].re);
        sum += k == t ? 0 : w * (number(s, "p", 1) == 2 ? z * z : z) / n;
        *mag += (1 + fabsl(x->v[r * n + t].re) + fabsl(x->v[r * n + k].re)) * (1 + z) * w;
    }
    return sum;
}

static bool is_label(const oi_array *target, int64_t r, int64_t n, int64_t k)
{
    for (int64_t j = 0; j < n && target->v[r * n + j].i >= 0; j++)
        if (target->v[r * n + j].i == k)
            return true;
    return false;
}

static oi_real multilabel(const oi_sample *s, const oi_array *x, int64_t r, int64_t n, oi_real *mag)
{
    const oi_array *target = oi_input(s, "target");
    oi_real sum = 0;
    for (int64_t j = 0; j < n && target->v[r * n + j].i >= 0; j++)
        for (int64_t k = 0; k < n; k++) {
            oi_real right = x->v[r * n + target->v[r * n + j].i].re, v = x->v[r * n + k].re;
            sum += is_label(target, r, n, k) ? 0 : positive(1 - right + v) / n;
            *mag += (1 + fabsl(right) + fabsl(v)) / n;
        }
    return sum;
}

static oi_real row_term(const oi_row *row, const oi_sample *s, int64_t r, int64_t n, oi_real *mag)
{
    const oi_array *x = oi_input(s, row->kind == TRIPLET    ? "anchor"
                                    : row->kind == COSINE   ? "input1"
                                    : row->kind == DISTANCE ? "x1"
                                                            : "self");
    const oi_array *y = oi_input(s, row->kind == TRIPLET    ? "positive"
                                    : row->kind == DISTANCE ? "x2"
                                                            : "input2");
    const oi_array *z = oi_input(s, "negative");
    oi_real near, far, cos;
    switch (row->kind) {
    case DISTANCE:
        return length(x, y, r, n, mag);
    case TRIPLET:
        near = length(x, y, r, n, mag);
        far = length(x, z, r, n, mag);
        if (oi_get_int(s, "swap", 0))
            far = fminl(far, length(y, z, r, n, mag));
        return positive(number(s, "margin", 1) + near - far);
    case COSINE:
        cos = cosine(x, y, r, n);
        *mag = 4;
        return oi_input(s, "target")->v[r].re == 1 ? 1 - cos
                                                   : positive(cos - number(s, "margin", 0));
    case MULTI:
        return multi_margin(s, x, r, n, mag);
    default:
        return multilabel(s, x, r, n, mag);
    }
}

/* ---- results --------------------------------------------------------------------------------- */
static tn_dtype result_dtype(tn_dtype d)
{
    return oi_is_integral(d) ? TN_F32 : oi_real_of(d);
}

static oi_array reduced(const oi_sample *s, const oi_array *all)
{
    int64_t reduction = oi_get_int(s, "reduction", 1);
    if (reduction == 0)
        return *all;
    oi_array r = oi_array_new(all->dtype, 0, NULL);
    oi_array_mags(&r);
    oi_real n = reduction == 1 ? (oi_real)all->numel : 1;
    for (int64_t i = 0; i < all->numel; i++) {
        r.v[0].re += all->v[i].re / n;
        r.mag[0] += all->mag[i] / n;
    }
    return r;
}

static int by_element(const oi_row *row, const oi_sample *s, oi_array *results)
{
    bool pair = row->kind == RANKING;
    const oi_array *x = oi_input(s, pair ? "input1" : "self"), *y = oi_input(s, "target");
    oi_array all = oi_array_new(result_dtype(x->dtype), x->ndim, x->sizes);
    oi_array_mags(&all);
    for (int64_t i = 0; i < x->numel; i++) {
        oi_real a = x->v[i].re, b = y->v[i].re;
        oi_real other = pair ? oi_input(s, "input2")->v[i].re : 0;
        oi_real v = pair ? positive(number(s, "margin", 0) + apart(x->dtype, -b * (a - other)))
                         : element(row, s, i, a, b);
        all.v[i] = oi_float(v);
        all.mag[i] = fabsl(v) + (fabsl(a) + fabsl(other) + 1) * (fabsl(b) + 1) * 2;
    }
    results[0] = reduced(s, &all);
    return 1;
}

static int by_row(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = &s->args[0].tensors->a;
    bool classes = row->kind >= MULTI;
    int64_t n = x->ndim ? x->sizes[x->ndim - 1] : 1, rows = x->numel / n;
    oi_array all = oi_array_new(result_dtype(x->dtype), x->ndim > 1, x->sizes);
    oi_array_mags(&all);
    for (int64_t r = 0; r < rows; r++) {
        all.v[r] = oi_float(row_term(row, s, r, n, &all.mag[r]));
        all.mag[r] += fabsl(all.v[r].re);
    }
    results[0] = row->kind == DISTANCE ? all : reduced(s, &all);
    if (!classes || row->kind != LABELS_FORWARD)
        return 1;
    results[1] = oi_array_new(x->dtype, x->ndim, x->sizes);
    for (int64_t i = 0; i < x->numel; i++)
        results[1].v[i] = oi_float(is_label(oi_input(s, "target"), i / n, n, i % n));
    return 2;
}

/* ---- samples --------------------------------------------------------------------------------- */
/* 1 or -1: what pairs are labelled with. */
static oi_array signs(oi_rng *r, tn_dtype d, int ndim, const int64_t *sizes)
{
    oi_array a = oi_array_new(d, ndim, sizes);
    for (int64_t i = 0; i < a.numel; i++) {
        bool minus = oi_random(r) >> 63 && d != TN_U8 && d != TN_BOOL;
        a.v[i] = oi_is_integral(d) ? oi_int(minus ? -1 : 1) : oi_float(minus ? -1 : 1);
    }
    return a;
}

static oi_array target_of(const oi_row *row, oi_rng *r, tn_dtype d, int ndim, const int64_t *sizes)
{
    if (row->kind == BCE || row->kind == KL_DIV)
        return oi_values_in(r, d, ndim, sizes, 0.05, 0.95);
    return signs(r, d, ndim, sizes);
}

static void element_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    bool pair = row->kind == RANKING;
    for (int k = 0; k < 7; k++) {
        oi_sample *s = oi_sample_new(out, k == 6 ? "another number of dims" : "two shapes");
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        oi_layout layout = k % 3 == 1 ? OI_TRANSPOSED : k % 3 == 2 ? OI_GAPPED : OI_ROW;
        bool strange = k == 6 && !pair && row->kind != BCE;
        oi_arg_tensor(s, pair ? "input1" : "self", oi_values(row, &r, d, OI_SIZES(3, 4)), layout);
        if (pair)
            oi_arg_tensor(s, "input2", oi_values(row, &r, d, OI_SIZES(3, 4)), OI_ROW);
        oi_array target = k < 6     ? target_of(row, &r, d, OI_SIZES(3, 4))
                          : strange ? target_of(row, &r, d, OI_SIZES(5))
                                    : target_of(row, &r, d, OI_SIZES(4));
        oi_arg_tensor(s, "target", target, OI_ROW);
        if (row->kind == BCE && k > 2)
            oi_arg_tensor(s, "weight", oi_values_in(&r, d, OI_SIZES(3, 4), 0.5, 2), OI_ROW);
        if ((row->kind == HINGE || pair) && k % 2)
            oi_arg_scalar(s, "margin", tn_scalar_float(0.75));
        oi_arg_int(s, "reduction", TN_FIELD_INT, k % 3);
        if (row->kind == KL_DIV)
            oi_arg_int(s, "log_target", TN_FIELD_BOOL, k > 2);
        s->error = k == 6;
    }
}

static void add_classes(const oi_row *row, oi_sample *s, oi_rng *r, tn_dtype d, int k, int64_t n,
                        int64_t rows, bool flat)
{
    const int64_t both[] = {rows, n};
    if (row->kind == MULTI) {
        oi_array target = oi_values_in(r, TN_I64, !flat, &rows, 0, (double)n - 1);
        oi_arg_tensor(s, "target", target, OI_ROW);
        oi_arg_scalar(s, "p", tn_scalar_int(k == 6 ? 3 : 1 + k % 2));
        oi_arg_scalar(s, "margin", k % 2 ? tn_scalar_float(0.75) : tn_scalar_int(1));
        if (k > 2)
            oi_arg_tensor(s, "weight", oi_values_in(r, d, 1, &n, 0.5, 2), OI_ROW);
        return;
    }
    oi_array target = oi_values_in(r, TN_I64, 2 - flat, flat ? &n : both, 0, (double)n - 1);
    for (int64_t i = 0; i < rows; i++)
        target.v[i * n + (i + k) % n] = oi_int(-1);
    if (k == 6)
        target = oi_array_new(TN_I64, OI_SIZES(2));
    oi_arg_tensor(s, "target", target, OI_ROW);
}

static void row_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const char *const inputs[][3] = {
        [COSINE] = {"input1", "input2", NULL}, [TRIPLET] = {"anchor", "positive", "negative"},
        [DISTANCE] = {"x1", "x2", NULL},       [MULTI] = {"self", NULL, NULL},
        [LABELS] = {"self", NULL, NULL},       [LABELS_FORWARD] = {"self", NULL, NULL}};
    for (int k = 0; k < 7; k++) {
        oi_sample *s = oi_sample_new(out, k == 6 ? "shapes that do not fit" : "rows");
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        bool flat = k == 3 || k == 6;
        int64_t rows = flat ? 1 : 3 + k, n = 4, sizes[] = {rows, n};
        for (int i = 0; i < 3 && inputs[row->kind][i]; i++) {
            const int64_t longer[] = {2, 3, 5}; /* rows that do not broadcast */
            bool other = k == 6 && i == 1;
            oi_array x = other ? oi_values(row, &r, d, row->kind == DISTANCE ? 2 : 3, longer)
                               : oi_values(row, &r, d, 2 - flat, flat ? &n : sizes);
            oi_arg_tensor(s, inputs[row->kind][i], x, k % 3 == 1 ? OI_TRANSPOSED : OI_ROW);
        }
        if (row->kind == COSINE)
            oi_arg_tensor(s, "target", signs(&r, d, !flat, &rows), OI_ROW);
        if (row->kind >= MULTI)
            add_classes(row, s, &r, d, k, n, rows, flat);
        if ((row->kind == TRIPLET || row->kind == COSINE) && k % 2)
            oi_arg_scalar(s, "margin", tn_scalar_float(0.25));
        if (row->kind == TRIPLET)
            oi_arg_int(s, "swap", TN_FIELD_BOOL, k > 2);
        if (row->kind != DISTANCE)
            oi_arg_int(s, "reduction", TN_FIELD_INT, k % 3);
        s->error = k == 6;
    }
}

#define ELEMENTS(name, which, lo_, hi_, dtypes_)                                                   \
    {                                                                                              \
        .op = name, .dtypes = dtypes_, .tolerance = "loss", .kind = which,                         \
        .samples = element_samples, .lo = lo_, .hi = hi_, .reference = by_element                  \
    }
#define BY_ROW(name, which, dtypes_)                                                               \
    {                                                                                              \
        .op = name, .dtypes = dtypes_, .tolerance = "loss", .kind = which, .samples = row_samples, \
        .lo = -3, .hi = 3, .reference = by_row                                                     \
    }

static const oi_row rows[] = {
    ELEMENTS("binary_cross_entropy", BCE, 0.05, 0.95, FLOAT),
    ELEMENTS("kl_div", KL_DIV, -3, 3, FLOAT),
    ELEMENTS("soft_margin_loss", SOFT_MARGIN, -3, 3, FLOAT),
    ELEMENTS("hinge_embedding_loss", HINGE, -3, 3, FLOAT),
    ELEMENTS("margin_ranking_loss", RANKING, -3, 3, INT | FLOAT),
    BY_ROW("cosine_embedding_loss", COSINE, REAL),
    BY_ROW("triplet_margin_loss", TRIPLET, INT | FLOAT | COMPLEX),
    BY_ROW("pairwise_distance", DISTANCE, INT | FLOAT | COMPLEX),
    BY_ROW("multi_margin_loss", MULTI, FLOAT),
    BY_ROW("multilabel_margin_loss", LABELS, FLOAT),
    BY_ROW("multilabel_margin_loss_forward", LABELS_FORWARD, FLOAT),
};
const oi_rows oi_rows_margin = ROWS(rows);

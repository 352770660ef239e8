/* replay_exact.c - second opinions: elements of a few operators' results, computed in double.
 *
 * Used only where a recorded value and ours differ, to prove which is wrong: each function
 * computes one element from the arguments by the operator's definition, and nothing else. */
#include "replay_impl.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* ---- arguments ------------------------------------------------------------------------------ */
static const void *find(const replay_args *args, const char *name, tn_field_kind *kind)
{
    for (int i = 0; i < args->n; i++)
        if (strcmp(args->fields[i].name, name) == 0) {
            *kind = args->fields[i].kind;
            return args->frame + args->fields[i].offset;
        }
    return NULL;
}

bool replay_arg_tensor(const replay_args *args, const char *name, replay_array *out)
{
    tn_field_kind kind;
    const void *at = find(args, name, &kind);
    const json_t *v = json_object_get(args->recorded, name);
    replay_outcome ignored;
    st_entry entry;
    if (!at || kind != TN_FIELD_TENSOR || !*(tn_tensor *const *)at)
        return false;
    if (json_object_get(v, "tensor"))
        return replay_recorded(args->build->file, args->build->n, v, out, &entry, &ignored);
    replay_array_of(*(tn_tensor *const *)at, out);
    return true;
}

bool replay_arg_number(const replay_args *args, const char *name, double *out)
{
    tn_field_kind kind;
    const void *at = find(args, name, &kind);
    if (!at)
        return false;
    const tn_scalar *s = at;
    switch (kind) {
    case TN_FIELD_INT:
        *out = (double)*(const int64_t *)at;
        return true;
    case TN_FIELD_FLOAT:
        *out = *(const double *)at;
        return true;
    case TN_FIELD_OPT_INT:
        *out = (double)((const tn_opt_int *)at)->value;
        return ((const tn_opt_int *)at)->has;
    case TN_FIELD_SCALAR:
        *out = s->kind == TN_SCALAR_INT || s->kind == TN_SCALAR_BOOL ? (double)s->v.i : s->v.f;
        return s->kind >= TN_SCALAR_FLOAT && s->kind <= TN_SCALAR_BOOL;
    default:
        return false;
    }
}

const char *replay_arg_text(const replay_args *args, const char *name)
{
    tn_field_kind kind;
    const void *at = find(args, name, &kind);
    return at && kind == TN_FIELD_STR ? *(const char *const *)at : NULL;
}

/* ---- places --------------------------------------------------------------------------------- */
static void place_of(const replay_array *a, int64_t i, int64_t *place)
{
    for (int d = a->ndim - 1; d >= 0; d--) {
        place[d] = i % a->sizes[d];
        i /= a->sizes[d];
    }
}

/* The element of a at a place of n dimensions to which a is broadcast. */
static void complex_at(const replay_array *a, const int64_t *place, int n, double v[2])
{
    int64_t i = 0;
    for (int d = 0; d < a->ndim; d++)
        i = i * a->sizes[d] + (a->sizes[d] == 1 ? 0 : place[n - a->ndim + d]);
    replay_number(a, i, v);
}

static double broadcast_at(const replay_array *a, const int64_t *place, int n)
{
    double v[2];
    complex_at(a, place, n, v);
    return v[0];
}

static bool is_half(tn_dtype dtype)
{
    return dtype == TN_F16 || dtype == TN_BF16;
}

/* What lies beyond the largest number of a dtype is infinite in it. */
static double in_range_of(tn_dtype dtype, double v)
{
    double largest = dtype == TN_F16                      ? 65504.0
                     : dtype == TN_BF16                   ? 0x1.fep127
                     : dtype == TN_F32 || dtype == TN_C64 ? (double)FLT_MAX
                                                          : DBL_MAX;
    return fabs(v) > largest ? copysign(INFINITY, v) : v;
}

/* ---- quotients and remainders --------------------------------------------------------------- */
static bool operands_at(const replay_args *args, const replay_array *want, int64_t i, double *x,
                        double *y)
{
    replay_array self, other;
    int64_t place[TN_MAX_DIMS];
    if (!replay_arg_tensor(args, "self", &self) || !replay_arg_tensor(args, "other", &other) ||
        tn_dtype_in(self.dtype, TN_DTYPES_COMPLEX) || tn_dtype_in(other.dtype, TN_DTYPES_COMPLEX))
        return false;
    place_of(want, i, place);
    *x = broadcast_at(&self, place, want->ndim);
    *y = broadcast_at(&other, place, want->ndim);
    return isfinite(*x) && isfinite(*y);
}

/* fmod's is of the dividend's sign, remainder's of the divisor's; exact, because C's fmod is. */
bool replay_exact_remainder(const replay_args *args, const replay_array *want, int64_t i,
                            double out[2])
{
    double x, y;
    if (!operands_at(args, want, i, &x, &y) || y == 0)
        return false;
    out[0] = fmod(x, y);
    if (strncmp(args->name, "aten::fmod", strlen("aten::fmod")) != 0 && out[0] != 0 &&
        (out[0] < 0) != (y < 0))
        out[0] += y;
    return true;
}

/* Rounded to an integer from the quotient itself. */
bool replay_exact_quotient(const replay_args *args, const replay_array *want, int64_t i,
                           double out[2])
{
    double x, y;
    const char *mode = strncmp(args->name, "aten::div", strlen("aten::div")) == 0
                           ? replay_arg_text(args, "rounding_mode")
                           : "floor";
    if (!mode || !is_half(want->dtype) || !operands_at(args, want, i, &x, &y) || y == 0)
        return false;
    out[0] = in_range_of(want->dtype, strcmp(mode, "floor") == 0 ? floor(x / y) : trunc(x / y));
    return true;
}

/* ---- scaled sums ---------------------------------------------------------------------------- */
/* self + alpha * other, rounded once. */
bool replay_exact_scaled(const replay_args *args, const replay_array *want, int64_t i,
                         double out[2])
{
    double x, y, alpha;
    if (!is_half(want->dtype) || !operands_at(args, want, i, &x, &y) ||
        !replay_arg_number(args, "alpha", &alpha))
        return false;
    bool minus = strncmp(args->name, "aten::sub", strlen("aten::sub")) == 0;
    bool reversed = strncmp(args->name, "aten::rsub", strlen("aten::rsub")) == 0;
    out[0] = reversed ? y - alpha * x : minus ? x - alpha * y : x + alpha * y;
    return true;
}

/* ---- complex comparison --------------------------------------------------------------------- */
/* Into a dtype other than bool: what is true is 1, in a complex dtype with an imaginary part of
 * 0. */
bool replay_exact_equality(const replay_args *args, const replay_array *want, int64_t i,
                           double out[2])
{
    replay_array self, other;
    int64_t place[TN_MAX_DIMS];
    double a[2], b[2];
    if (want->dtype == TN_BOOL || !replay_arg_tensor(args, "self", &self) ||
        !replay_arg_tensor(args, "other", &other) || !tn_dtype_in(self.dtype, TN_DTYPES_COMPLEX) ||
        self.dtype != other.dtype)
        return false;
    place_of(want, i, place);
    complex_at(&self, place, want->ndim, a);
    complex_at(&other, place, want->ndim, b);
    bool equal = a[0] == b[0] && a[1] == b[1];
    out[0] = equal == (strncmp(args->name, "aten::eq", strlen("aten::eq")) == 0);
    out[1] = 0;
    return true;
}

/* ---- complex exponential -------------------------------------------------------------------- */
/* Its parts may be in range where exp of the real part alone is not. */
bool replay_exact_exp(const replay_args *args, const replay_array *want, int64_t i, double out[2])
{
    replay_array self;
    double z[2];
    if (want->dtype != TN_C64 || !replay_arg_tensor(args, "self", &self))
        return false;
    replay_number(&self, i, z);
    if (!isfinite(z[0]) || !isfinite(z[1]))
        return false;
    out[0] = in_range_of(TN_C64, exp(z[0]) * cos(z[1]));
    out[1] = in_range_of(TN_C64, exp(z[0]) * sin(z[1]));
    return true;
}

/* CMPLX, which clang's view of libc lacks: exact parts, infinities and all. */
static double complex complex_of(const double parts[2])
{
    union {
        double parts[2];
        double complex z;
    } u = {{parts[0], parts[1]}};
    return u.z;
}

bool replay_exact_power(const replay_args *args, const replay_array *want, int64_t i, double out[2])
{
    replay_array self, exponent;
    int64_t place[TN_MAX_DIMS];
    double z[2], w[2];
    if (want->dtype != TN_C64 || !replay_arg_tensor(args, "self", &self) ||
        !replay_arg_tensor(args, "exponent", &exponent))
        return false;
    place_of(want, i, place);
    complex_at(&self, place, want->ndim, z);
    complex_at(&exponent, place, want->ndim, w);
    double complex power = cpow(complex_of(z), complex_of(w));
    out[0] = in_range_of(TN_C64, creal(power));
    out[1] = in_range_of(TN_C64, cimag(power));
    return isfinite(z[0]) && isfinite(z[1]) && isfinite(w[0]) && isfinite(w[1]);
}

/* ---- matrix products ------------------------------------------------------------------------ */
typedef struct product {
    replay_array a, b, added;
    bool transposed, has_added; /* b is stored [N, K] */
    bool summed;                /* over the batches */
    double alpha, beta;
} product;

/* A column and a row, of vectors. */
static bool as_outer(replay_array *a, replay_array *b)
{
    if (a->ndim != 1 || b->ndim != 1)
        return false;
    a->ndim = b->ndim = 2;
    a->sizes[1] = 1, a->strides[1] = 0;
    b->sizes[1] = b->sizes[0], b->strides[1] = b->strides[0];
    b->sizes[0] = 1, b->strides[0] = 0;
    return true;
}

static bool read_product(const replay_args *args, product *p)
{
    static const struct {
        const char *op, *a, *b, *added;
    } shapes[] = {
        {"aten::matmul", "self", "other", ""},
        {"aten::mm", "self", "mat2", ""},
        {"aten::bmm", "self", "mat2", ""},
        {"aten::mv", "self", "vec", ""},
        {"aten::dot", "self", "tensor", ""},
        {"aten::linear", "input", "weight", "bias"},
        {"aten::addmm", "mat1", "mat2", "self"},
        {"aten::addmv", "mat", "vec", "self"},
        {"aten::addr", "vec1", "vec2", "self"},
        {"aten::baddbmm", "batch1", "batch2", "self"},
        {"aten::addbmm", "batch1", "batch2", "self"},
        {"aten::__rmatmul__", "other", "self", ""},
        {"aten::vdot", "self", "other", ""},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        size_t n = strlen(shapes[i].op);
        if (strncmp(args->name, shapes[i].op, n) != 0)
            continue;
        n += args->name[n] == '_';
        if (args->name[n] && args->name[n] != '.')
            continue;
        p->transposed = strcmp(shapes[i].op, "aten::linear") == 0;
        p->summed = strcmp(shapes[i].op, "aten::addbmm") == 0;
        p->has_added = replay_arg_tensor(args, shapes[i].added, &p->added);
        p->alpha = p->beta = 1;
        replay_arg_number(args, "alpha", &p->alpha);
        replay_arg_number(args, "beta", &p->beta);
        return replay_arg_tensor(args, shapes[i].a, &p->a) &&
               replay_arg_tensor(args, shapes[i].b, &p->b) &&
               (strcmp(shapes[i].op, "aten::addr") != 0 || as_outer(&p->a, &p->b));
    }
    return false;
}

/* Row m of a, column n of b, at a batch place: one element of the product. */
static double product_at(const product *p, int64_t *place, int batch, int64_t m, int64_t n)
{
    int64_t length = p->a.sizes[p->a.ndim - 1], at[TN_MAX_DIMS + 2];
    double sum = 0;
    memcpy(at, place, (size_t)batch * sizeof *at);
    for (int64_t k = 0; k < length; k++) {
        int64_t *last = at + batch;
        last[0] = p->a.ndim > 1 ? m : k, last[1] = k;
        double x = broadcast_at(&p->a, at, batch + (p->a.ndim > 1 ? 2 : 1));
        last[0] = p->transposed && p->b.ndim > 1 ? n : k, last[1] = p->transposed ? k : n;
        sum += x * broadcast_at(&p->b, at, batch + (p->b.ndim > 1 ? 2 : 1));
    }
    return sum;
}

bool replay_exact_product(const replay_args *args, const replay_array *want, int64_t i,
                          double out[2])
{
    product p;
    int64_t place[TN_MAX_DIMS], m = 0, n = 0;
    if ((!is_half(want->dtype) && want->dtype != TN_F32) || !read_product(args, &p) ||
        p.a.ndim == 0 || p.b.ndim == 0)
        return false;
    place_of(want, i, place);
    int batch = want->ndim;
    if (p.b.ndim > 1)
        n = place[--batch];
    if (p.a.ndim > 1)
        m = place[--batch];
    double sum = 0;
    for (int64_t b = 0; p.summed && b < p.a.sizes[0]; b++)
        sum += product_at(&p, (int64_t[TN_MAX_DIMS]){b}, 1, m, n);
    *out = p.alpha * (p.summed ? sum : product_at(&p, place, batch, m, n));
    if (p.has_added)
        *out += p.beta * broadcast_at(&p.added, place, want->ndim);
    return true;
}

/* Two complex vectors of which 0 is recorded. */
bool replay_exact_complex_dot(const replay_args *args, const replay_array *want, int64_t i,
                              double out[2])
{
    product p;
    double recorded[2], x[2], y[2];
    bool conjugated = strncmp(args->name, "aten::vdot", 10) == 0;
    if (!tn_dtype_in(want->dtype, TN_DTYPES_COMPLEX) || want->ndim != 0 ||
        !read_product(args, &p) || p.a.ndim != 1 || p.b.ndim != 1 || p.has_added)
        return false;
    replay_number(want, i, recorded);
    if (recorded[0] != 0 || recorded[1] != 0)
        return false;
    out[0] = out[1] = 0;
    for (int64_t k = 0; k < p.a.sizes[0]; k++) {
        complex_at(&p.a, &k, 1, x);
        complex_at(&p.b, &k, 1, y);
        x[1] = conjugated ? -x[1] : x[1];
        out[0] += x[0] * y[0] - x[1] * y[1];
        out[1] += x[0] * y[1] + x[1] * y[0];
    }
    return true;
}

/* ---- distances ------------------------------------------------------------------------------ */
bool replay_exact_distance(const replay_args *args, const replay_array *want, int64_t i,
                           double out[2])
{
    replay_array self, other;
    double p = 2, sum = 0;
    int64_t place[TN_MAX_DIMS];
    (void)i;
    if (!is_half(want->dtype) || want->numel != 1 || !replay_arg_tensor(args, "self", &self) ||
        !replay_arg_tensor(args, "other", &other))
        return false;
    replay_arg_number(args, "p", &p);
    const replay_array *all = self.numel < other.numel ? &other : &self;
    for (int64_t k = 0; k < all->numel; k++) {
        place_of(all, k, place);
        sum += pow(
            fabs(broadcast_at(&self, place, all->ndim) - broadcast_at(&other, place, all->ndim)),
            p);
    }
    out[0] = in_range_of(want->dtype, pow(sum, 1 / p));
    return self.ndim <= all->ndim && other.ndim <= all->ndim && p > 0 && isfinite(p);
}

/* replay_exact.c - second opinions: elements of a few operators' results, computed in double.
 *
 * Used only where a recorded value and ours differ, to prove which is wrong: each function
 * computes one element from the arguments by the operator's definition, and nothing else. */
#include "replay_impl.h"

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
    if (!at || kind != TN_FIELD_TENSOR || !*(tn_tensor *const *)at)
        return false;
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

/* ---- places --------------------------------------------------------------------------------- */
static void place_of(const replay_array *a, int64_t i, int64_t *place)
{
    for (int d = a->ndim - 1; d >= 0; d--) {
        place[d] = i % a->sizes[d];
        i /= a->sizes[d];
    }
}

/* The element of a at a place of n dimensions to which a is broadcast. */
static double broadcast_at(const replay_array *a, const int64_t *place, int n)
{
    int64_t i = 0;
    double v[2];
    for (int d = 0; d < a->ndim; d++)
        i = i * a->sizes[d] + (a->sizes[d] == 1 ? 0 : place[n - a->ndim + d]);
    replay_number(a, i, v);
    return v[0];
}

/* ---- remainder ------------------------------------------------------------------------------ */
/* Of the divisor's sign; exact, because fmod is. */
bool replay_exact_remainder(const replay_args *args, const replay_array *want, int64_t i,
                            double *out)
{
    replay_array self, other;
    int64_t place[TN_MAX_DIMS];
    if (!replay_arg_tensor(args, "self", &self) || !replay_arg_tensor(args, "other", &other))
        return false;
    place_of(want, i, place);
    double x = broadcast_at(&self, place, want->ndim), y = broadcast_at(&other, place, want->ndim);
    *out = fmod(x, y);
    if (*out != 0 && (*out < 0) != (y < 0))
        *out += y;
    return isfinite(x) && isfinite(y) && y != 0;
}

/* ---- matrix products ------------------------------------------------------------------------ */
typedef struct product {
    replay_array a, b, added;
    bool transposed, has_added; /* b is stored [N, K] */
    double alpha, beta;
} product;

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
        {"aten::baddbmm", "batch1", "batch2", "self"},
        {"aten::__rmatmul__", "other", "self", ""},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        size_t n = strlen(shapes[i].op);
        if (strncmp(args->name, shapes[i].op, n) != 0 || (args->name[n] && args->name[n] != '.'))
            continue;
        p->transposed = strcmp(shapes[i].op, "aten::linear") == 0;
        p->has_added = replay_arg_tensor(args, shapes[i].added, &p->added);
        p->alpha = p->beta = 1;
        replay_arg_number(args, "alpha", &p->alpha);
        replay_arg_number(args, "beta", &p->beta);
        return replay_arg_tensor(args, shapes[i].a, &p->a) &&
               replay_arg_tensor(args, shapes[i].b, &p->b);
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

bool replay_exact_product(const replay_args *args, const replay_array *want, int64_t i, double *out)
{
    product p;
    int64_t place[TN_MAX_DIMS], m = 0, n = 0;
    if ((want->dtype != TN_F16 && want->dtype != TN_BF16) || !read_product(args, &p) ||
        p.a.ndim == 0 || p.b.ndim == 0)
        return false;
    place_of(want, i, place);
    int batch = want->ndim;
    if (p.b.ndim > 1)
        n = place[--batch];
    if (p.a.ndim > 1)
        m = place[--batch];
    *out = p.alpha * product_at(&p, place, batch, m, n);
    if (p.has_added)
        *out += p.beta * broadcast_at(&p.added, place, want->ndim);
    return true;
}

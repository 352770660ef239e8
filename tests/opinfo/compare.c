/* compare.c - is a result what the reference says? NaN, infinity and finite masks first; then
 * `!(error <= limit)`, which NaN fails. The error is measured in last places of the larger of the
 * reference and the terms it was made from, so that cancellation is not blamed on a kernel; the
 * plain distance in last places is reported beside it. */
#include "opinfo.h"

#include <math.h>
#include <string.h>

static const char *number_text(const oi_num *v, tn_dtype d, char *buf, size_t n)
{
    if (oi_is_integral(d))
        snprintf(buf, n, "%lld", (long long)v->i);
    else if (oi_is_complex(d))
        snprintf(buf, n, "(%.9Lg, %.9Lg)", v->re, v->im);
    else
        snprintf(buf, n, "%.17Lg", v->re);
    return buf;
}

static void blame(oi_error *e, const oi_array *got, const oi_array *want, int64_t i,
                  const char *what)
{
    char a[96], b[96];
    int64_t coords[OI_DIMS];
    oi_coords(want, i, coords);
    e->at = i;
    snprintf(e->text, sizeof e->text, "%s at %s: got %s, expected %s", what,
             oi_shape_text(want->ndim, coords), number_text(&got->v[i], got->dtype, a, sizeof a),
             number_text(&want->v[i], want->dtype, b, sizeof b));
}

static int mask(oi_real x)
{
    return isnan(x) ? 1 : isinf(x) ? (x < 0 ? 2 : 3) : 0;
}

static bool same_masks(const oi_num *a, const oi_num *b, tn_dtype d)
{
    if (!oi_is_complex(d))
        return mask(a->re) == mask(b->re);
    /* Which part of a complex NaN or infinity holds it is not promised. */
    bool na = isnan(a->re) || isnan(a->im), nb = isnan(b->re) || isnan(b->im);
    bool ia = isinf(a->re) || isinf(a->im), ib = isinf(b->re) || isinf(b->im);
    return ia == ib && (ia || na == nb);
}

static bool is_finite(const oi_num *v)
{
    return isfinite(v->re) && isfinite(v->im);
}

static bool all_alike(const oi_array *a)
{
    for (int64_t i = 1; i < a->numel; i++) {
        bool both_nan = isnan(a->v[0].re) && isnan(a->v[i].re);
        if (!both_nan && (a->v[i].re != a->v[0].re || a->v[i].im != a->v[0].im))
            return false;
    }
    return a->numel > 1;
}

static void compare_float(const oi_array *got, const oi_array *want, int64_t i, double limit,
                          oi_error *e)
{
    tn_dtype part = oi_real_of(want->dtype);
    oi_num g = got->v[i], w = want->v[i];
    oi_num rounded = oi_cast(w, TN_C128, want->dtype);
    if (oi_is_floating(want->dtype))
        rounded.re = oi_round(w.re, part);
    if (!same_masks(&g, &rounded, want->dtype)) {
        blame(e, got, want, i, "another kind of number");
        e->bad = true;
        return;
    }
    if (!is_finite(&g) || !is_finite(&rounded))
        return;
    oi_real size = hypotl(w.re, w.im),
            scale = want->mag && want->mag[i] > size ? want->mag[i] : size;
    oi_real off = hypotl(g.re - w.re, g.im - w.im);
    double normalised = (double)(off / oi_ulp(scale, part));
    bool bad = limit == 0 ? g.re != rounded.re || g.im != rounded.im : !(normalised <= limit);
    if (bad ? e->bad && !(normalised > e->normalised) : e->bad || !(normalised > e->normalised))
        return;
    e->normalised = normalised;
    e->ulp = (double)(off / oi_ulp(size, part));
    e->absolute = (double)off;
    e->bad = bad;
    blame(e, got, want, i, "wrong value");
}

void oi_compare(const oi_array *got, const oi_array *want, const char *family, oi_error *e)
{
    memset(e, 0, sizeof *e);
    e->at = -1;
    e->limit = oi_tolerance(family, want->dtype);
    if (got->dtype != want->dtype || got->ndim != want->ndim ||
        memcmp(got->sizes, want->sizes, (size_t)want->ndim * sizeof *want->sizes) != 0) {
        e->bad = true;
        snprintf(e->text, sizeof e->text, "got %s%s, expected %s%s", oi_dtype_name(got->dtype),
                 oi_shape_text(got->ndim, got->sizes), oi_dtype_name(want->dtype),
                 oi_shape_text(want->ndim, want->sizes));
        return;
    }
    if (!got->v || !want->v)
        return;
    for (int64_t i = 0; i < want->numel; i++) {
        if (!oi_is_integral(want->dtype)) {
            compare_float(got, want, i, e->limit, e);
        } else if (got->v[i].i != want->v[i].i && !e->bad) {
            e->bad = true;
            e->absolute = e->normalised = e->ulp =
                (double)fabsl((oi_real)got->v[i].i - (oi_real)want->v[i].i);
            blame(e, got, want, i, "wrong value");
        }
    }
    e->mistrusted = e->bad && all_alike(got) && !all_alike(want);
}

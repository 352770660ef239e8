/* replay_compare.c - is a computed tensor the recorded one? dtype, shape, then every element.
 *
 * Elements are read as doubles (integers as int64, where a double would round). A NaN equals a
 * NaN, an infinity only itself (each part of a complex number for itself), and a finite value
 * passes unless !(error <= limit), so that a NaN error fails. */
#include "replay_impl.h"

#include <math.h>
#include <string.h>

#include <tenon/half.h>

static const int sizes_of[TN_DTYPE_COUNT] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};

const char *replay_element(const replay_array *a, int64_t i)
{
    int64_t at = 0;
    for (int d = a->ndim - 1; d >= 0; d--) {
        at += i % a->sizes[d] * a->strides[d];
        i /= a->sizes[d];
    }
    return a->data + at * sizes_of[a->dtype];
}

int64_t replay_integer(const replay_array *a, int64_t i)
{
    const char *p = replay_element(a, i);
    int64_t wide = 0;
    int32_t word;
    int16_t half;
    switch (a->dtype) {
    case TN_BOOL:
        return *p != 0;
    case TN_U8:
        return (unsigned char)*p;
    case TN_I8:
        return (signed char)*p;
    case TN_I16:
        memcpy(&half, p, sizeof half);
        return half;
    case TN_I32:
        memcpy(&word, p, sizeof word);
        return word;
    default:
        memcpy(&wide, p, sizeof wide);
        return wide;
    }
}

void replay_number(const replay_array *a, int64_t i, double out[2])
{
    const char *p = replay_element(a, i);
    uint16_t half;
    float f[2];
    out[1] = 0;
    switch (a->dtype) {
    case TN_F16:
    case TN_BF16:
        memcpy(&half, p, sizeof half);
        out[0] = (double)(a->dtype == TN_F16 ? tn_f32_from_f16(half) : tn_f32_from_bf16(half));
        break;
    case TN_F32:
        memcpy(f, p, sizeof f[0]);
        out[0] = (double)f[0];
        break;
    case TN_F64:
        memcpy(out, p, sizeof out[0]);
        break;
    case TN_C64:
        memcpy(f, p, sizeof f);
        out[0] = (double)f[0];
        out[1] = (double)f[1];
        break;
    case TN_C128:
        memcpy(out, p, 2 * sizeof out[0]);
        break;
    default:
        out[0] = (double)replay_integer(a, i);
    }
}

/* ---- words ---------------------------------------------------------------------------------- */
static void put_sizes(char *buf, size_t n, int count, const int64_t *sizes)
{
    size_t used = (size_t)snprintf(buf, n, "[");
    for (int i = 0; i < count && used < n; i++)
        used +=
            (size_t)snprintf(buf + used, n - used, "%s%lld", i ? ", " : "", (long long)sizes[i]);
    if (used < n)
        snprintf(buf + used, n - used, "]");
}

static void put_value(char *buf, size_t n, const replay_array *a, int64_t i)
{
    double v[2];
    replay_number(a, i, v);
    if (tn_dtype_in(a->dtype, TN_DTYPES_WHOLE))
        snprintf(buf, n, "%lld", (long long)replay_integer(a, i));
    else if (tn_dtype_in(a->dtype, TN_DTYPES_COMPLEX))
        snprintf(buf, n, "%.9g%+.9gi", v[0], v[1]);
    else
        snprintf(buf, n, "%.9g", v[0]);
}

static void put_place(char *buf, size_t n, const replay_array *a, int64_t i)
{
    int64_t place[TN_MAX_DIMS];
    for (int d = a->ndim - 1; d >= 0; d--) {
        place[d] = i % a->sizes[d];
        i /= a->sizes[d];
    }
    put_sizes(buf, n, a->ndim, place);
}

/* ---- form ----------------------------------------------------------------------------------- */
bool replay_same_form(const replay_array *got, const replay_array *want, char *why, size_t n)
{
    if (got->dtype != want->dtype) {
        snprintf(why, n, "dtype %s expected, got %s", replay_dtype_name(want->dtype),
                 replay_dtype_name(got->dtype));
        return false;
    }
    if (got->ndim == want->ndim &&
        memcmp(got->sizes, want->sizes, (size_t)got->ndim * sizeof got->sizes[0]) == 0)
        return true;
    char a[400], b[400];
    put_sizes(a, sizeof a, want->ndim, want->sizes);
    put_sizes(b, sizeof b, got->ndim, got->sizes);
    snprintf(why, n, "shape %s expected, got %s", a, b);
    return false;
}

/* ---- values --------------------------------------------------------------------------------- */
bool replay_near(const double got[2], const double want[2], replay_tolerance t)
{
    bool got_nan = isnan(got[0]) || isnan(got[1]), want_nan = isnan(want[0]) || isnan(want[1]);
    if (got_nan || want_nan)
        return got_nan && want_nan;
    if (got[0] == want[0] && got[1] == want[1])
        return true;
    double error[2] = {0}, size[2] = {0};
    for (int part = 0; part < 2; part++) {
        bool infinite = isinf(got[part]) || isinf(want[part]);
        if (infinite && got[part] != want[part])
            return false;
        error[part] = infinite ? 0 : got[part] - want[part];
        size[part] = infinite ? 0 : want[part];
    }
    return !t.exact && hypot(error[0], error[1]) <= t.atol + t.rtol * hypot(size[0], size[1]);
}

static bool element_same(const replay_array *got, const replay_array *want, int64_t i,
                         replay_tolerance t)
{
    double a[2], b[2];
    if (tn_dtype_in(got->dtype, TN_DTYPES_WHOLE) && t.exact)
        return replay_integer(got, i) == replay_integer(want, i);
    replay_number(got, i, a);
    replay_number(want, i, b);
    return replay_near(a, b, t);
}

bool replay_same(const replay_array *got, const replay_array *want, replay_tolerance t, char *why,
                 size_t n)
{
    if (!replay_same_form(got, want, why, n))
        return false;
    int64_t first = -1, wrong = 0;
    for (int64_t i = 0; !t.meta_only && i < got->numel; i++)
        if (!element_same(got, want, i, t)) {
            first = first < 0 ? i : first;
            wrong++;
        }
    if (first < 0)
        return true;
    char place[400], a[80], b[80], limit[80] = "exactly";
    put_place(place, sizeof place, got, first);
    put_value(a, sizeof a, want, first);
    put_value(b, sizeof b, got, first);
    if (!t.exact)
        snprintf(limit, sizeof limit, "within rtol %g, atol %g", t.rtol, t.atol);
    snprintf(why, n, "element %s: %s expected %s, got %s; %lld of %lld %s elements differ", place,
             a, limit, b, (long long)wrong, (long long)got->numel, replay_dtype_name(got->dtype));
    return false;
}

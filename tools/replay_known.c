/* replay_known.c - what the replay knows of the recordings: kinds of calls whose recorded result
 * is mathematically wrong, and operators whose result's shape depends on values.
 *
 * A kind is listed only where the recorded value contradicts the operator's definition, and a case
 * is of it only when every differing element is proved so (replay_exact.c). docs/replay.md says
 * for each what is right. To add one: the element by definition, a line in `kinds`, a paragraph
 * there. */
#include "replay_impl.h"

#include <math.h>
#include <string.h>

/* An operator's name without the overload; its in-place form goes with it. */
static bool named(const char *name, const char *pattern)
{
    size_t n = strlen(pattern);
    if (strncmp(name, pattern, n) != 0)
        return false;
    n += name[n] == '_';
    return name[n] == '\0' || name[n] == '.';
}

static bool listed(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (named(name, *names))
            return true;
    return false;
}

/* ---- wrong values --------------------------------------------------------------------------- */
static const char sums_apart[] =
    "sums of float32 products in another order, both near the exact one";

typedef struct wrong_kind {
    bool (*exact)(const replay_args *args, const replay_array *want, int64_t i, double out[2]);
    const char *const *ops;
    const char *reason;
} wrong_kind;

static const char *const products[] = {
    "aten::matmul", "aten::mm",    "aten::bmm",   "aten::mv",      "aten::dot",
    "aten::linear", "aten::addmm", "aten::addmv", "aten::baddbmm", "aten::__rmatmul__",
    "aten::addbmm", "aten::addr",  NULL};
static const char *const remainders[] = {"aten::remainder", "aten::fmod", NULL};
static const char *const quotients[] = {"aten::div", "aten::floor_divide", NULL};
static const char *const scaled_sums[] = {"aten::add", "aten::sub", "aten::rsub", NULL};
static const char *const dots[] = {"aten::matmul", "aten::dot", "aten::vdot", "aten::__rmatmul__",
                                   NULL};
static const char *const equalities[] = {"aten::eq", "aten::ne", NULL};
static const char *const exps[] = {"aten::exp", NULL};
static const char *const powers[] = {"aten::pow", NULL};
static const char *const distances[] = {"aten::dist", NULL};
static const char *const lengths[] = {"aten::linalg_vector_norm", "aten::norm", NULL};
static const char *const polygammas[] = {"aten::polygamma", "aten::special_polygamma", NULL};
static const char *const norms[] = {"aten::native_layer_norm", "aten::layer_norm", NULL};
static const char *const groups[] = {"aten::native_group_norm", "aten::group_norm", NULL};

static const wrong_kind kinds[] = {
    {replay_exact_product, products, "half-precision products summed in half precision"},
    {replay_exact_complex_dot, dots, "the dot product of complex vectors is 0"},
    {replay_exact_remainder, remainders, "remainder is NaN where the quotient overflows"},
    {replay_exact_quotient, quotients, "a half-precision quotient is rounded before its floor"},
    {replay_exact_scaled, scaled_sums, "alpha * other is rounded to half precision before the sum"},
    {replay_exact_equality, equalities, "comparison of complex numbers gives more than 0 or 1"},
    {replay_exact_exp, exps, "a complex exponential overflows though its parts do not"},
    {replay_exact_power, powers,
     "a complex power is computed with an exponent in single precision"},
    {replay_exact_distance, distances, "a half-precision distance overflows on its way"},
    {replay_exact_norm, lengths, "a half-precision norm overflows on its way"},
    {replay_exact_polygamma, polygammas, "polygamma is finite at its poles, and off beside them"},
    {replay_exact_layer_norm, norms, "a layer norm cancels in single precision"},
    {replay_exact_group_norm, groups, "a group norm adds products of halves in half precision"},
};

/* Each within the tolerance of the exact value, if not of each other: nobody is wrong. */
static bool both_near(const replay_args *args, const replay_array *got, const replay_array *want,
                      replay_tolerance t)
{
    for (int64_t i = 0; i < got->numel; i++) {
        double a[2], b[2], exact[2] = {0, 0};
        replay_number(got, i, a);
        replay_number(want, i, b);
        if (!replay_near(a, b, t) && (!replay_exact_product(args, want, i, exact) ||
                                      !replay_near(a, exact, t) || !replay_near(b, exact, t)))
            return false;
    }
    return want->dtype == TN_F32;
}

/* Ours is the exact value within the tolerance, and the recorded one clearly is not: it is outside
 * the tolerance, or, in half precision, whose tolerance is some units wide, off by more than a unit
 * in the last place and four times as far as ours. */
static bool decides(const double ours[2], const double recorded[2], const double exact[2],
                    tn_dtype dtype, replay_tolerance t)
{
    if (!replay_near(ours, exact, t))
        return false;
    if (!replay_near(recorded, exact, t))
        return true;
    double unit = dtype == TN_F16 ? 0x1p-10 : dtype == TN_BF16 ? 0x1p-7 : INFINITY;
    double error = fabs(recorded[0] - exact[0]);
    return error > unit * fabs(exact[0]) && error > 4 * fabs(ours[0] - exact[0]);
}

static bool proved(const wrong_kind *k, const replay_args *args, const replay_array *got,
                   const replay_array *want, replay_tolerance t)
{
    for (int64_t i = 0; i < got->numel; i++) {
        double a[2], b[2], exact[2] = {0, 0};
        replay_number(got, i, a);
        replay_number(want, i, b);
        if (replay_near(a, b, t))
            continue;
        if (!k->exact(args, want, i, exact) || !decides(a, b, exact, want->dtype, t))
            return false;
    }
    return true;
}

const char *replay_wrong_value(const replay_args *args, const replay_array *got,
                               const replay_array *want, replay_tolerance t)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (listed(args->name, kinds[i].ops) && proved(&kinds[i], args, got, want, t))
            return kinds[i].reason;
    return listed(args->name, products) && both_near(args, got, want, t) ? sums_apart : NULL;
}

/* ---- wrong success -------------------------------------------------------------------------- */
static bool fraction(const replay_args *args, const char *name)
{
    double v;
    return replay_arg_number(args, name, &v) && v != floor(v);
}

/* alpha = 0.6 on integers is cut to 0, value = 3.14 to 3: the recorded result is of another sum. */
const char *replay_wrong_success(const replay_args *args)
{
    static const char *const scaled[] = {
        "aten::addcmul", "aten::addcdiv", "aten::addmm",  "aten::addmv",
        "aten::addr",    "aten::baddbmm", "aten::addbmm", NULL};
    replay_array self;
    static const char *const clamped[] = {"aten::hardtanh", NULL};
    if (listed(args->name, clamped) && replay_arg_tensor(args, "self", &self) &&
        tn_dtype_in(self.dtype, TN_DTYPES_WHOLE) &&
        (fraction(args, "min_val") || fraction(args, "max_val")))
        return "a fractional bound is cut to an integer";
    if (listed(args->name, scaled) && replay_arg_tensor(args, "self", &self) &&
        tn_dtype_in(self.dtype, TN_DTYPES_WHOLE) &&
        (fraction(args, "alpha") || fraction(args, "beta") || fraction(args, "value")))
        return "a fractional factor is cut to an integer";
    return NULL;
}

/* ---- meta ----------------------------------------------------------------------------------- */
/* A bool or uint8 tensor among the indices selects as many elements as are true. */
static bool has_mask(const json_t *indices)
{
    size_t i;
    json_t *v;
    json_array_foreach(indices, i, v)
    {
        const char *dtype = json_string_value(json_object_get(v, "dtype"));
        if (dtype && (strcmp(dtype, "bool") == 0 || strcmp(dtype, "uint8") == 0))
            return true;
    }
    return false;
}

bool replay_data_dependent(const char *name, const json_t *args)
{
    static const char *const names[] = {
        "aten::nonzero",
        "aten::nonzero_numpy",
        "aten::argwhere",
        "aten::masked_select",
        "aten::unique_dim",
        "aten::unique_consecutive",
        "aten::_unique",
        "aten::_unique2",
        "aten::unique_dim_consecutive",
        "aten::item",
        "aten::_local_scalar_dense",
        "aten::is_nonzero",
        "aten::equal",
        "aten::allclose",
        "aten::repeat_interleave",
        "aten::bincount",
        "aten::combinations",
        "aten::narrow.Tensor",
        NULL,
    };
    if (listed(name, names))
        return true;
    return has_mask(json_object_get(args, "indices"));
}

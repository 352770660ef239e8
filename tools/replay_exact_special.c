/* replay_exact_special.c - second opinions of special functions and normalisations, in double, as
 * replay_exact.c gives them of arithmetic. */
#include "replay_impl.h"

#include <math.h>

/* psi_n(x) by its recurrence up to where the asymptotic series (Abramowitz and Stegun 6.4.11) holds
 * to the last digits: no reflection, so it is exact near the poles of negative x, too. */
static double polygamma(int n, double x)
{
    static const double bernoulli[] = {1.0 / 6,  -1.0 / 30,       1.0 / 42, -1.0 / 30,
                                       5.0 / 66, -691.0 / 2730.0, 7.0 / 6};
    double factorial = tgamma(n + 1.0), sum = 0;
    if (x <= 0 && x == floor(x))
        return INFINITY;
    for (; x < 30; x++)
        sum += factorial / pow(x, n + 1.0);
    sum += tgamma(n) / pow(x, n) + factorial / (2 * pow(x, n + 1.0));
    for (int k = 1; k <= 7; k++)
        sum += bernoulli[k - 1] * tgamma(2.0 * k + n) / (tgamma(2.0 * k + 1) * pow(x, 2.0 * k + n));
    return n % 2 ? sum : -sum;
}

bool replay_exact_polygamma(const replay_args *args, const replay_array *want, int64_t i,
                            double out[2])
{
    replay_array self;
    double n, x[2];
    if (!replay_arg_tensor(args, "self", &self) || !replay_arg_number(args, "n", &n) ||
        want->dtype != TN_F32 || n < 1 || n > 20 || tn_dtype_in(self.dtype, TN_DTYPES_COMPLEX))
        return false;
    replay_number(&self, i, x);
    out[0] = polygamma((int)n, x[0]);
    if (fabs(out[0]) > 0x1.fffffep127)
        out[0] = copysign(INFINITY, out[0]);
    return true;
}

static double weight_at(const replay_args *args, const char *name, int64_t i, double absent)
{
    replay_array w;
    double v[2];
    if (!replay_arg_tensor(args, name, &w) || w.numel == 0)
        return absent;
    replay_number(&w, i % w.numel, v);
    return v[0];
}

/* Elements of the last dimensions, over which is normalised. */
static int64_t normalised(const replay_args *args)
{
    const json_t *shape = json_object_get(args->recorded, "normalized_shape"), *size;
    int64_t n = 1;
    size_t d;
    json_array_foreach(shape, d, size) n *= json_integer_value(json_object_get(size, "int"));
    return n;
}

/* (x - mean) / sqrt(var + eps) of element i among the n elements that it is normalised with. */
static double standardised(const replay_array *input, int64_t i, int64_t n, double eps)
{
    double v[2], x = 0, mean = 0, var = 0;
    int64_t first = i / n * n;
    for (int64_t k = 0; k < n; k++) {
        replay_number(input, first + k, v);
        mean += v[0] / (double)n;
        x = first + k == i ? v[0] : x;
    }
    for (int64_t k = 0; k < n; k++) {
        replay_number(input, first + k, v);
        var += (v[0] - mean) * (v[0] - mean) / (double)n;
    }
    return (x - mean) / sqrt(var + eps);
}

bool replay_exact_layer_norm(const replay_args *args, const replay_array *want, int64_t i,
                             double out[2])
{
    replay_array input;
    double eps;
    int64_t n = normalised(args);
    if (!replay_arg_tensor(args, "input", &input) || !replay_arg_number(args, "eps", &eps) ||
        want->numel != input.numel || !tn_dtype_in(want->dtype, TN_DTYPES_FLOATING) ||
        want->dtype == TN_F64 || n <= 0)
        return false;
    out[0] = standardised(&input, i, n, eps) * weight_at(args, "weight", i, 1) +
             weight_at(args, "bias", i, 0);
    return true;
}

bool replay_exact_group_norm(const replay_args *args, const replay_array *want, int64_t i,
                             double out[2])
{
    replay_array input;
    double eps, groups;
    if (!replay_arg_tensor(args, "input", &input) || !replay_arg_number(args, "eps", &eps) ||
        (!replay_arg_number(args, "num_groups", &groups) &&
         !replay_arg_number(args, "group", &groups)) ||
        want->numel != input.numel || (want->dtype != TN_F16 && want->dtype != TN_BF16) ||
        input.ndim < 2 || input.numel == 0 || groups < 1)
        return false;
    int64_t rows = input.sizes[0] * (int64_t)groups;
    int64_t channel = i / (input.numel / (input.sizes[0] * input.sizes[1])) % input.sizes[1];
    out[0] = standardised(&input, i, input.numel / rows, eps) *
                 weight_at(args, "weight", channel, 1) +
             weight_at(args, "bias", channel, 0);
    return true;
}

/* The norm of all elements, in half precision. */
bool replay_exact_norm(const replay_args *args, const replay_array *want, int64_t i, double out[2])
{
    replay_array self;
    double p = 2, sum = 0, v[2] = {0, 0};
    (void)i;
    if ((want->dtype != TN_F16 && want->dtype != TN_BF16) || want->numel != 1 ||
        !replay_arg_tensor(args, "self", &self))
        return false;
    if (!replay_arg_number(args, "ord", &p))
        replay_arg_number(args, "p", &p);
    for (int64_t k = 0; k < self.numel; k++) {
        replay_number(&self, k, v);
        sum += pow(fabs(v[0]), p);
    }
    out[0] = pow(sum, 1 / p);
    if (out[0] > (want->dtype == TN_F16 ? 65504.0 : 0x1.fep127))
        out[0] = INFINITY;
    return p != 0 && isfinite(p);
}

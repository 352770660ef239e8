/* pow.cu - powers, in their own file because the complex ones are long to compile.
 *
 * Whole numbers by repeated squaring, wrapping around; a negative exponent leaves 1 for 1, 1 or -1
 * for -1, else 0. Real ones are CUDA's pow (2 ULP at most), complex ones its exp(y log x). */
#include "arithmetic.h"
#include "pointwise.cuh"

DEVICE int64_t power(int64_t x, int64_t n)
{
    if (n < 0)
        return x == 1 ? 1 : x == -1 ? (n & 1 ? -1 : 1) : 0;
    uint64_t base = (uint64_t)x, y = 1;
    for (; n; n >>= 1, base *= base)
        if (n & 1)
            y *= base;
    return (int64_t)y;
}
DEVICE float power(float x, float y)
{
    return powf(x, y);
}
DEVICE double power(double x, double y)
{
    return pow(x, y);
}
DEVICE tn_c64 power(tn_c64 x, tn_c64 y)
{
    return tnm_from_c64(cuda::std::pow(tnm_to_c64(x), tnm_to_c64(y)));
}
DEVICE tn_c128 power(tn_c128 x, tn_c128 y)
{
    return tnm_from_c128(cuda::std::pow(tnm_to_c128(x), tnm_to_c128(y)));
}

DEVICE bool is_zero(tn_c64 x)
{
    return x.re == 0 && x.im == 0;
}
DEVICE bool is_zero(tn_c128 x)
{
    return x.re == 0 && x.im == 0;
}

template <class T> struct power_of {
    typedef T type, result;
    static constexpr int inputs = 2;
    static constexpr uint32_t used = 6;
    DEVICE_MEMBER T operator()(const cuda_pointwise &, const T *x) const
    {
        return power(x[0], x[1]);
    }
};
/* The logarithm of zero is infinite: x^0 is 1 and 0^y is 0 where y's real part is positive. */
template <class T> struct complex_power_of : power_of<T> {
    DEVICE_MEMBER T operator()(const cuda_pointwise &, const T *x) const
    {
        T y = T();
        if (is_zero(x[1]))
            y.re = 1;
        else if (!is_zero(x[0]) || !(x[1].re > 0))
            y = power(x[0], x[1]);
        return y;
    }
};

const cuda_pointwise_fn cuda_pow_kernels[5] = {
    pointwise<power_of<int64_t>>,         pointwise<power_of<float>>,
    pointwise<power_of<double>>,          pointwise<complex_power_of<tn_c64>>,
    pointwise<complex_power_of<tn_c128>>,
};

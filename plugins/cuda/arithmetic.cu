/* arithmetic.cu - elementwise kernels written by hand: rounded division, remainders, clamp, abs,
 * gelu, moving, arange. pow.cu has powers. Errors: the float forms are as exact as fmod and floor
 * are; gelu as erf and tanh of CUDA's libm. */
#include "arithmetic.h"
#include "pointwise.cuh"

/* Division by zero gives 0 and is told of through the fault record. */
DEVICE bool is_zero(const cuda_pointwise &a, int64_t divisor)
{
    if (divisor == 0 && a.fault)
        atomicCAS(&a.fault->kind, CUDA_FAULT_NONE, CUDA_FAULT_DIVISION);
    return divisor == 0;
}

DEVICE int64_t quotient(int64_t x, int64_t y)
{
    return y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}

DEVICE int64_t rest(int64_t x, int64_t y)
{
    return y == -1 ? 0 : x % y;
}

DEVICE float rest(float x, float y)
{
    return fmodf(x, y);
}
DEVICE double rest(double x, double y)
{
    return fmod(x, y);
}
DEVICE float down(float x)
{
    return floorf(x);
}
DEVICE double down(double x)
{
    return floor(x);
}
DEVICE float cut(float x)
{
    return truncf(x);
}
DEVICE double cut(double x)
{
    return trunc(x);
}
DEVICE float sign_of(float x, float y)
{
    return copysignf(x, y);
}
DEVICE double sign_of(double x, double y)
{
    return copysign(x, y);
}

/* The floor of x / y without the rounding of x / y: from the exact rest. */
template <class T> DEVICE T floor_quotient(T x, T y)
{
    if (y == 0)
        return x / y;
    T r = rest(x, y), q = (x - r) / y;
    if (r != 0 && (r < 0) != (y < 0))
        q -= 1;
    if (q == 0)
        return sign_of((T)0, x / y);
    T f = down(q);
    return q - f > (T)0.5 ? f + 1 : f;
}

DEVICE int64_t floor_quotient(int64_t x, int64_t y)
{
    int64_t q = quotient(x, y), r = rest(x, y);
    return r != 0 && (r < 0) != (y < 0) ? q - 1 : q;
}

template <class T> struct binary {
    typedef T type, result;
    static constexpr int inputs = 2;
    static constexpr uint32_t used = 6;
};
template <class T> struct div_floor : binary<T> {
    DEVICE_MEMBER T operator()(const cuda_pointwise &, const T *x) const
    {
        return floor_quotient(x[0], x[1]);
    }
};
template <> struct div_floor<int64_t> : binary<int64_t> {
    DEVICE_MEMBER int64_t operator()(const cuda_pointwise &a, const int64_t *x) const
    {
        return is_zero(a, x[1]) ? 0 : floor_quotient(x[0], x[1]);
    }
};
template <class T> struct div_trunc : binary<T> {
    DEVICE_MEMBER T operator()(const cuda_pointwise &, const T *x) const
    {
        return cut(x[0] / x[1]);
    }
};
template <> struct div_trunc<int64_t> : binary<int64_t> {
    DEVICE_MEMBER int64_t operator()(const cuda_pointwise &a, const int64_t *x) const
    {
        return is_zero(a, x[1]) ? 0 : quotient(x[0], x[1]);
    }
};
/* The rest with the divisor's sign. */
template <class T> struct remainder_of : binary<T> {
    DEVICE_MEMBER T operator()(const cuda_pointwise &, const T *x) const
    {
        T r = rest(x[0], x[1]);
        return r != 0 && (r < 0) != (x[1] < 0) ? r + x[1] : r;
    }
};
template <> struct remainder_of<int64_t> : binary<int64_t> {
    DEVICE_MEMBER int64_t operator()(const cuda_pointwise &a, const int64_t *x) const
    {
        if (is_zero(a, x[1]))
            return 0;
        int64_t r = rest(x[0], x[1]);
        return r != 0 && (r < 0) != (x[1] < 0) ? r + x[1] : r;
    }
};
/* The rest with the dividend's sign. */
template <class T> struct fmod_of : binary<T> {
    DEVICE_MEMBER T operator()(const cuda_pointwise &, const T *x) const
    {
        return rest(x[0], x[1]);
    }
};
template <> struct fmod_of<int64_t> : binary<int64_t> {
    DEVICE_MEMBER int64_t operator()(const cuda_pointwise &a, const int64_t *x) const
    {
        return is_zero(a, x[1]) ? 0 : rest(x[0], x[1]);
    }
};

/* NaN passes, in the element and in the bounds; the upper bound wins over the lower. */
template <class T> struct clamp_to {
    typedef T type, result;
    static constexpr int inputs = 3;
    static constexpr uint32_t used = 14;
    DEVICE_MEMBER T operator()(const cuda_pointwise &, const T *x) const
    {
        T low = x[0] < x[1] || x[1] != x[1] ? x[1] : x[0];
        if (x[0] != x[0])
            low = x[0];
        return low > x[2] || x[2] != x[2] ? (low != low ? low : x[2]) : low;
    }
};

template <class T, class R> struct unary {
    typedef T type;
    typedef R result;
    static constexpr int inputs = 1;
    static constexpr uint32_t used = 2;
};
template <class T> struct identity : unary<T, T> {
    DEVICE_MEMBER T operator()(const cuda_pointwise &, const T *x) const
    {
        return x[0];
    }
};
DEVICE int64_t size_of(int64_t x)
{
    return x < 0 ? (int64_t)(0 - (uint64_t)x) : x;
}
DEVICE float size_of(float x)
{
    return fabsf(x);
}
DEVICE double size_of(double x)
{
    return fabs(x);
}
DEVICE float size_of(tn_c64 x)
{
    return hypotf(x.re, x.im);
}
DEVICE double size_of(tn_c128 x)
{
    return hypot(x.re, x.im);
}
template <class T, class R> struct abs_of : unary<T, R> {
    DEVICE_MEMBER R operator()(const cuda_pointwise &, const T *x) const
    {
        return size_of(x[0]);
    }
};

/* x Phi(x); the tanh form is the usual approximation of it. */
DEVICE float half_gelu(float x, bool tanh_form)
{
    float inner = 0.79788456080286536f * (x + 0.044715f * x * x * x);
    return 0.5f * x * (1 + (tanh_form ? tanhf(inner) : erff(x * 0.70710678118654752f)));
}
DEVICE double half_gelu(double x, bool tanh_form)
{
    double inner = 0.79788456080286536 * (x + 0.044715 * x * x * x);
    return 0.5 * x * (1 + (tanh_form ? tanh(inner) : erf(x * 0.70710678118654752)));
}
template <class T> struct gelu_of : unary<T, T> {
    DEVICE_MEMBER T operator()(const cuda_pointwise &a, const T *x) const
    {
        return half_gelu(x[0], a.numbers[0].b);
    }
};

static __global__ void arange(const __grid_constant__ cuda_arange a)
{
    int64_t i = (int64_t)blockIdx.x * CUDA_POINTWISE_THREADS + threadIdx.x;
    if (i >= a.n)
        return;
    char *p = a.data + i * a.stride;
    if (a.whole)
        store_as<int64_t>(p, a.dtype, a.start + i * a.step);
    else
        store_as<double>(p, a.dtype, a.real_start + (double)i * a.real_step);
}

const cuda_pointwise_fn cuda_binary_kernels[CUDA_BINARY_COUNT][3] = {
    {pointwise<div_floor<int64_t>>, pointwise<div_floor<float>>, pointwise<div_floor<double>>},
    {pointwise<div_trunc<int64_t>>, pointwise<div_trunc<float>>, pointwise<div_trunc<double>>},
    {pointwise<remainder_of<int64_t>>, pointwise<remainder_of<float>>,
     pointwise<remainder_of<double>>},
    {pointwise<fmod_of<int64_t>>, pointwise<fmod_of<float>>, pointwise<fmod_of<double>>},
};
const cuda_pointwise_fn cuda_clamp_kernels[3] = {
    pointwise<clamp_to<int64_t>>,
    pointwise<clamp_to<float>>,
    pointwise<clamp_to<double>>,
};
const cuda_pointwise_fn cuda_abs_kernels[5] = {
    pointwise<abs_of<int64_t, int64_t>>, pointwise<abs_of<float, float>>,
    pointwise<abs_of<double, double>>,   pointwise<abs_of<tn_c64, float>>,
    pointwise<abs_of<tn_c128, double>>,
};
const cuda_pointwise_fn cuda_gelu_kernels[2] = {pointwise<gelu_of<float>>,
                                                pointwise<gelu_of<double>>};
const cuda_pointwise_fn cuda_identity_kernels[TN_DTYPE_COUNT] = {
    pointwise<identity<bool>>,    pointwise<identity<uint8_t>>, pointwise<identity<int8_t>>,
    pointwise<identity<int16_t>>, pointwise<identity<int32_t>>, pointwise<identity<int64_t>>,
    pointwise<identity<float>>,   pointwise<identity<float>>,   pointwise<identity<float>>,
    pointwise<identity<double>>,  pointwise<identity<tn_c64>>,  pointwise<identity<tn_c128>>,
};
const cuda_arange_fn cuda_arange_kernel = arange;

/* convert.cuh - elements of any dtype in memory as values of a kernel's type, and back.
 *
 * The dtype in memory is a run-time value, the same for all threads, so one compiled kernel serves
 * every combination; f16 and bf16 are memory dtypes of float kernels. The general conversions are
 * functions that are called, not inlined: a kernel's own dtype never takes them. Values convert as
 * on the host (core/base/convert.c): float to integer truncates, what does not fit is the minimum.
 */
#ifndef CONVERT_CUH
#define CONVERT_CUH

#include <tenon/math.h>

#define DEVICE static __device__ __forceinline__
#define DEVICE_CALL static __device__ __noinline__
#define DEVICE_MEMBER __device__ __forceinline__

/* The dtype of a type. */
template <class T> struct dtype_of;
template <> struct dtype_of<bool> {
    static constexpr int value = TN_BOOL;
};
template <> struct dtype_of<uint8_t> {
    static constexpr int value = TN_U8;
};
template <> struct dtype_of<int8_t> {
    static constexpr int value = TN_I8;
};
template <> struct dtype_of<int16_t> {
    static constexpr int value = TN_I16;
};
template <> struct dtype_of<int32_t> {
    static constexpr int value = TN_I32;
};
template <> struct dtype_of<int64_t> {
    static constexpr int value = TN_I64;
};
template <> struct dtype_of<float> {
    static constexpr int value = TN_F32;
};
template <> struct dtype_of<double> {
    static constexpr int value = TN_F64;
};
template <> struct dtype_of<tn_c64> {
    static constexpr int value = TN_C64;
};
template <> struct dtype_of<tn_c128> {
    static constexpr int value = TN_C128;
};

DEVICE int32_t int32_of(double x)
{
    return x > -2147483649.0 && x < 2147483648.0 ? (int32_t)x : INT32_MIN;
}

DEVICE int64_t int64_of(double x)
{
    return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (int64_t)x : INT64_MIN;
}

/* to<T>::from(x): one value of any of the kernel types as T. */
template <class T> struct to {
    DEVICE T from(int64_t x)
    {
        return (T)x;
    }
    /* u8 takes the low bits of the wide answer, as on the host. */
    DEVICE T from(double x)
    {
        return sizeof(T) == 8 || (T)-1 > 0 ? (T)int64_of(x) : (T)int32_of(x);
    }
    DEVICE T from(float x)
    {
        return from((double)x);
    }
    DEVICE T from(tn_c128 x)
    {
        return from(x.re);
    }
};
template <> struct to<bool> {
    DEVICE bool from(int64_t x)
    {
        return x != 0;
    }
    DEVICE bool from(double x)
    {
        return x != 0;
    }
    DEVICE bool from(float x)
    {
        return x != 0;
    }
    DEVICE bool from(tn_c128 x)
    {
        return x.re != 0 || x.im != 0;
    }
};
template <> struct to<float> {
    DEVICE float from(int64_t x)
    {
        return (float)x;
    }
    DEVICE float from(double x)
    {
        return (float)x;
    }
    DEVICE float from(float x)
    {
        return x;
    }
    DEVICE float from(tn_c128 x)
    {
        return (float)x.re;
    }
};
template <> struct to<double> {
    DEVICE double from(int64_t x)
    {
        return (double)x;
    }
    DEVICE double from(double x)
    {
        return x;
    }
    DEVICE double from(float x)
    {
        return x;
    }
    DEVICE double from(tn_c128 x)
    {
        return x.re;
    }
};
template <> struct to<tn_c64> {
    DEVICE tn_c64 from(int64_t x)
    {
        return tnm_make_c64((float)x, 0);
    }
    DEVICE tn_c64 from(double x)
    {
        return tnm_make_c64((float)x, 0);
    }
    DEVICE tn_c64 from(float x)
    {
        return tnm_make_c64(x, 0);
    }
    DEVICE tn_c64 from(tn_c128 x)
    {
        return tnm_make_c64((float)x.re, (float)x.im);
    }
};
template <> struct to<tn_c128> {
    DEVICE tn_c128 from(int64_t x)
    {
        return tnm_make_c128((double)x, 0);
    }
    DEVICE tn_c128 from(double x)
    {
        return tnm_make_c128(x, 0);
    }
    DEVICE tn_c128 from(float x)
    {
        return tnm_make_c128(x, 0);
    }
    DEVICE tn_c128 from(tn_c128 x)
    {
        return x;
    }
};

/* A kernel's value widened without loss to one of int64_t, float, double, tn_c128. */
DEVICE int64_t wide(bool x)
{
    return x;
}
DEVICE int64_t wide(uint8_t x)
{
    return x;
}
DEVICE int64_t wide(int8_t x)
{
    return x;
}
DEVICE int64_t wide(int16_t x)
{
    return x;
}
DEVICE int64_t wide(int32_t x)
{
    return x;
}
DEVICE int64_t wide(int64_t x)
{
    return x;
}
DEVICE float wide(float x)
{
    return x;
}
DEVICE double wide(double x)
{
    return x;
}
DEVICE tn_c128 wide(tn_c64 x)
{
    return tnm_make_c128(x.re, x.im);
}
DEVICE tn_c128 wide(tn_c128 x)
{
    return x;
}

template <class T> DEVICE_CALL T load_as(const char *p, int dtype)
{
    switch (dtype) {
    case TN_BOOL:
        return to<T>::from((int64_t)(*(const uint8_t *)p != 0));
    case TN_U8:
        return to<T>::from((int64_t) * (const uint8_t *)p);
    case TN_I8:
        return to<T>::from((int64_t) * (const int8_t *)p);
    case TN_I16:
        return to<T>::from((int64_t) * (const int16_t *)p);
    case TN_I32:
        return to<T>::from((int64_t) * (const int32_t *)p);
    case TN_I64:
        return to<T>::from(*(const int64_t *)p);
    case TN_F16:
        return to<T>::from(tn_f32_from_f16(*(const uint16_t *)p));
    case TN_BF16:
        return to<T>::from(tn_f32_from_bf16(*(const uint16_t *)p));
    case TN_F32:
        return to<T>::from(*(const float *)p);
    case TN_F64:
        return to<T>::from(*(const double *)p);
    case TN_C64:
        return to<T>::from(wide(*(const tn_c64 *)p));
    default:
        return to<T>::from(*(const tn_c128 *)p);
    }
}

template <class W> DEVICE void store_wide(char *p, int dtype, W x)
{
    switch (dtype) {
    case TN_BOOL:
        *(bool *)p = to<bool>::from(x);
        break;
    case TN_U8:
        *(uint8_t *)p = to<uint8_t>::from(x);
        break;
    case TN_I8:
        *(int8_t *)p = to<int8_t>::from(x);
        break;
    case TN_I16:
        *(int16_t *)p = to<int16_t>::from(x);
        break;
    case TN_I32:
        *(int32_t *)p = to<int32_t>::from(x);
        break;
    case TN_I64:
        *(int64_t *)p = to<int64_t>::from(x);
        break;
    case TN_F16:
        *(uint16_t *)p = tn_f16_from_f32(to<float>::from(x));
        break;
    case TN_BF16:
        *(uint16_t *)p = tn_bf16_from_f32(to<float>::from(x));
        break;
    case TN_F32:
        *(float *)p = to<float>::from(x);
        break;
    case TN_F64:
        *(double *)p = to<double>::from(x);
        break;
    case TN_C64:
        *(tn_c64 *)p = to<tn_c64>::from(x);
        break;
    default:
        *(tn_c128 *)p = to<tn_c128>::from(x);
        break;
    }
}

template <class T> DEVICE_CALL void store_as(char *p, int dtype, T x)
{
    store_wide(p, dtype, wide(x));
}

template <class T> DEVICE T load_one(const char *p, int dtype)
{
    return dtype == dtype_of<T>::value ? *(const T *)p : load_as<T>(p, dtype);
}

template <class T> DEVICE void store_one(char *p, int dtype, T x)
{
    if (dtype == dtype_of<T>::value)
        *(T *)p = x;
    else
        store_as<T>(p, dtype, x);
}

/* The member of a tn_number that holds a T. */
DEVICE void number_as(const tn_number &x, bool *out)
{
    *out = x.b;
}
DEVICE void number_as(const tn_number &x, uint8_t *out)
{
    *out = x.u8;
}
DEVICE void number_as(const tn_number &x, int8_t *out)
{
    *out = x.i8;
}
DEVICE void number_as(const tn_number &x, int16_t *out)
{
    *out = x.i16;
}
DEVICE void number_as(const tn_number &x, int32_t *out)
{
    *out = x.i32;
}
DEVICE void number_as(const tn_number &x, int64_t *out)
{
    *out = x.i64;
}
DEVICE void number_as(const tn_number &x, float *out)
{
    *out = x.f32;
}
DEVICE void number_as(const tn_number &x, double *out)
{
    *out = x.f64;
}
DEVICE void number_as(const tn_number &x, tn_c64 *out)
{
    *out = x.c64;
}
DEVICE void number_as(const tn_number &x, tn_c128 *out)
{
    *out = x.c128;
}

DEVICE uint32_t divide(uint32_t n, const cuda_divider &d)
{
    return (__umulhi(n, d.magic) + n) >> d.shift;
}

#endif

/* reduce.cu - reductions: a block per row, a thread per row where rows are short or lie side by
 * side, or several blocks per row and a second launch that joins their parts. No atomics: the
 * order of the operations depends on shapes alone, so a result is the same in every run.
 *
 * float sums are kept in float, 256 or more partial sums combined as a tree: |error| <= (n / 256 +
 * 8) eps sum |x|. Extremes carry the element's number: NaN beats everything, among equals the
 * first wins. */
#include "reduce.h"

#include "convert.cuh"

DEVICE int64_t plus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
DEVICE float plus(float a, float b)
{
    return a + b;
}
DEVICE double plus(double a, double b)
{
    return a + b;
}
DEVICE tn_c64 plus(tn_c64 a, tn_c64 b)
{
    return tnm_add_c64(a, b);
}
DEVICE tn_c128 plus(tn_c128 a, tn_c128 b)
{
    return tnm_add_c128(a, b);
}
DEVICE int64_t times(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}
DEVICE float times(float a, float b)
{
    return a * b;
}
DEVICE double times(double a, double b)
{
    return a * b;
}
DEVICE tn_c64 times(tn_c64 a, tn_c64 b)
{
    return tnm_mul_c64(a, b);
}
DEVICE tn_c128 times(tn_c128 a, tn_c128 b)
{
    return tnm_mul_c128(a, b);
}
DEVICE int64_t over(int64_t a, double)
{
    return a;
}
DEVICE float over(float a, double n)
{
    return a / (float)n;
}
DEVICE double over(double a, double n)
{
    return a / n;
}
DEVICE tn_c64 over(tn_c64 a, double n)
{
    return tnm_make_c64(a.re / (float)n, a.im / (float)n);
}
DEVICE tn_c128 over(tn_c128 a, double n)
{
    return tnm_make_c128(a.re / n, a.im / n);
}

template <class T> struct valued {
    typedef T state;
    DEVICE_MEMBER static T load(const char *p, int dtype, uint32_t)
    {
        return load_one<T>(p, dtype);
    }
    DEVICE_MEMBER static void store(const cuda_reduce &a, int64_t at, int64_t, T x)
    {
        if (a.mean)
            x = over(x, (double)a.count);
        store_one<T>(a.values + at, a.values_dtype, x);
    }
};
template <class T> struct sum_of : valued<T> {
    DEVICE_MEMBER static T unit()
    {
        return to<T>::from((int64_t)0);
    }
    DEVICE_MEMBER static T join(T a, T b)
    {
        return plus(a, b);
    }
};
template <class T> struct product_of : valued<T> {
    DEVICE_MEMBER static T unit()
    {
        return to<T>::from((int64_t)1);
    }
    DEVICE_MEMBER static T join(T a, T b)
    {
        return times(a, b);
    }
};

/* any and all, as or and and of truth values. */
template <bool ALL> struct truth {
    typedef int state;
    DEVICE_MEMBER static int unit()
    {
        return ALL;
    }
    DEVICE_MEMBER static int load(const char *p, int dtype, uint32_t)
    {
        return load_as<bool>(p, dtype);
    }
    DEVICE_MEMBER static int join(int a, int b)
    {
        return ALL ? a && b : a || b;
    }
    DEVICE_MEMBER static void store(const cuda_reduce &a, int64_t at, int64_t, int x)
    {
        store_as<bool>(a.values + at, a.values_dtype, x);
    }
};

template <class T> struct numbered {
    T value;
    int64_t index; /* -1: nothing yet */
};
template <class T, bool MAX> struct extreme_of {
    typedef numbered<T> state;
    DEVICE_MEMBER static state unit()
    {
        return state{T(), -1};
    }
    DEVICE_MEMBER static state load(const char *p, int dtype, uint32_t i)
    {
        return state{load_one<T>(p, dtype), (int64_t)i};
    }
    DEVICE_MEMBER static bool beats(const state &a, const state &b)
    {
        if (a.index < 0 || b.index < 0)
            return b.index < 0;
        bool a_nan = a.value != a.value, b_nan = b.value != b.value;
        if (a_nan != b_nan)
            return a_nan;
        if (a_nan || a.value == b.value)
            return a.index < b.index;
        return MAX ? a.value > b.value : a.value < b.value;
    }
    DEVICE_MEMBER static state join(const state &a, const state &b)
    {
        return beats(a, b) ? a : b;
    }
    DEVICE_MEMBER static void store(const cuda_reduce &a, int64_t at, int64_t index_at,
                                    const state &x)
    {
        if (a.values)
            store_one<T>(a.values + at, a.values_dtype, x.value);
        if (a.indices)
            *(int64_t *)(a.indices + index_at) = x.index;
    }
};

DEVICE int64_t reduced_offset(const cuda_reduce &a, uint32_t i)
{
    int64_t at = 0;
#pragma unroll 1
    for (int d = 0; d < a.n_reduced; d++) {
        uint32_t rest = divide(i, a.reduced[d].size);
        at += (int64_t)(i - rest * a.reduced[d].size.size) * a.reduced[d].in;
        i = rest;
    }
    return at;
}

struct row_place {
    int64_t in, values, indices;
};
DEVICE row_place place_of(const cuda_reduce &a, uint32_t o)
{
    row_place at = {0, 0, 0};
#pragma unroll 1
    for (int d = 0; d < a.n_kept; d++) {
        uint32_t rest = divide(o, a.kept[d].size);
        int64_t c = o - rest * a.kept[d].size.size;
        at.in += c * a.kept[d].in;
        at.values += c * a.kept[d].values;
        at.indices += c * a.kept[d].indices;
        o = rest;
    }
    return at;
}

template <class Op>
static __global__ void __launch_bounds__(CUDA_REDUCE_THREADS)
    reduce(const __grid_constant__ cuda_reduce a)
{
    typedef typename Op::state state;
    __shared__ alignas(16) char memory[CUDA_REDUCE_THREADS * sizeof(state)];
    state *shared = (state *)memory;
    const uint32_t threads = blockDim.x, t = threadIdx.x;
    const uint32_t row = a.by_thread ? blockIdx.x * threads + t : blockIdx.x / a.splits;
    const uint32_t split = a.by_thread ? 0 : blockIdx.x % a.splits;
    if (a.by_thread && row >= a.n_out)
        return;
    const row_place at = place_of(a, row);
    const uint32_t begin = split * a.part, end = a.n_in - begin < a.part ? a.n_in : begin + a.part;
    const uint32_t step = a.by_thread ? 1 : threads;
    state x = Op::unit();
    for (uint32_t i = begin + (a.by_thread ? 0 : t); i < end; i += step)
        x = Op::join(x, a.from_partials
                            ? ((const state *)a.partial)[(uint64_t)row * a.n_in + i]
                            : Op::load(a.in + at.in + reduced_offset(a, i), a.in_dtype, i));
    if (!a.by_thread) {
        shared[t] = x;
        for (uint32_t half = threads / 2; half; half /= 2) {
            __syncthreads();
            if (t < half)
                shared[t] = Op::join(shared[t], shared[t + half]);
        }
        if (t)
            return;
        x = shared[0];
    }
    if (a.splits > 1)
        ((state *)a.partial)[(uint64_t)row * a.splits + split] = x;
    else
        Op::store(a, at.values, at.indices, x);
}

const cuda_reduce_fn cuda_reduce_kernels[CUDA_REDUCTION_COUNT][5] = {
    {reduce<sum_of<int64_t>>, reduce<sum_of<float>>, reduce<sum_of<double>>, reduce<sum_of<tn_c64>>,
     reduce<sum_of<tn_c128>>},
    {reduce<product_of<int64_t>>, reduce<product_of<float>>, reduce<product_of<double>>,
     reduce<product_of<tn_c64>>, reduce<product_of<tn_c128>>},
    {reduce<extreme_of<int64_t, true>>, reduce<extreme_of<float, true>>,
     reduce<extreme_of<double, true>>, nullptr, nullptr},
    {reduce<extreme_of<int64_t, false>>, reduce<extreme_of<float, false>>,
     reduce<extreme_of<double, false>>, nullptr, nullptr},
    {reduce<truth<false>>, nullptr, nullptr, nullptr, nullptr},
    {reduce<truth<true>>, nullptr, nullptr, nullptr, nullptr},
};

/* pointwise.cuh - the one elementwise kernel: a thread loads a few neighbouring elements of each
 * input, computes, stores.
 *
 * An operator is a struct Op with `type` (of the computation), `result` (what it stores),
 * `inputs`, `used` (bit k: input k is read) and `result operator()(const cuda_pointwise &, const
 * type *x)`, where x[0] is input 1. Whether an operand is read as a vector, element by element,
 * converted, or is a number is uniform over the launch, so a kernel is compiled once per operator
 * and type and branches cost nothing beside memory. */
#ifndef POINTWISE_CUH
#define POINTWISE_CUH

#include "launch.h"

#include "convert.cuh"

template <class E, int V> struct alignas(sizeof(E) * V) cuda_pack {
    E at[V];
};

/* Byte offsets in each of K operands of V elements, the first of which is `first`; those behind
 * the end repeat it. */
template <int K, int V>
DEVICE void offsets_of(const cuda_pointwise &a, uint32_t first, uint32_t (*at)[K])
{
    uint32_t i[V];
#pragma unroll
    for (int j = 0; j < V; j++) {
        i[j] = first + j < a.n ? first + j : first;
#pragma unroll
        for (int k = 0; k < K; k++)
            at[j][k] = 0;
    }
#pragma unroll 1
    for (int d = 0; d < a.ndim; d++) {
#pragma unroll
        for (int j = 0; j < V; j++) {
            uint32_t rest = divide(i[j], a.dims[d]), c = i[j] - rest * a.dims[d].size;
#pragma unroll
            for (int k = 0; k < K; k++)
                at[j][k] += c * a.strides[k][d];
            i[j] = rest;
        }
    }
}

template <class E, int V> DEVICE void load_pack(const char *p, uint32_t i, E *x)
{
    cuda_pack<E, V> v = ((const cuda_pack<E, V> *)p)[i / V];
#pragma unroll
    for (int j = 0; j < V; j++)
        x[j] = v.at[j];
}

template <class E, int V> DEVICE void store_pack(char *p, uint32_t i, const E *x)
{
    cuda_pack<E, V> v;
#pragma unroll
    for (int j = 0; j < V; j++)
        v.at[j] = x[j];
    ((cuda_pack<E, V> *)p)[i / V] = v;
}

template <int V, class T> DEVICE void load_vector(const char *p, int, uint32_t i, T *x)
{
    load_pack<T, V>(p, i, x);
}

template <int V, class T> DEVICE void store_vector(char *p, int, uint32_t i, const T *x)
{
    store_pack<T, V>(p, i, x);
}

/* float kernels also read and write vectors of halves. */
template <int V> DEVICE void load_vector(const char *p, int dtype, uint32_t i, float *x)
{
    if (dtype == TN_F32) {
        load_pack<float, V>(p, i, x);
        return;
    }
    uint16_t half[V];
    load_pack<uint16_t, V>(p, i, half);
#pragma unroll
    for (int j = 0; j < V; j++)
        x[j] = dtype == TN_F16 ? tn_f32_from_f16(half[j]) : tn_f32_from_bf16(half[j]);
}

template <int V> DEVICE void store_vector(char *p, int dtype, uint32_t i, const float *x)
{
    if (dtype == TN_F32) {
        store_pack<float, V>(p, i, x);
        return;
    }
    uint16_t half[V];
#pragma unroll
    for (int j = 0; j < V; j++)
        half[j] = dtype == TN_F16 ? tn_f16_from_f32(x[j]) : tn_bf16_from_f32(x[j]);
    store_pack<uint16_t, V>(p, i, half);
}

template <class Op>
static __global__ void __launch_bounds__(CUDA_POINTWISE_THREADS)
    pointwise(const __grid_constant__ cuda_pointwise a)
{
    typedef typename Op::type T;
    typedef typename Op::result R;
    constexpr int K = Op::inputs, V = cuda_lanes[dtype_of<T>::value];
    const uint32_t first = (blockIdx.x * CUDA_POINTWISE_THREADS + threadIdx.x) * V;
    if (first >= a.n)
        return;
    const bool whole = a.n - first >= V;
    const uint32_t vector = whole ? a.vector : 0;
    uint32_t at[V][K + 1];
    if (vector != (2u << K) - 1)
        offsets_of<K + 1, V>(a, first, at);
    T x[V][K];
#pragma unroll
    for (int k = 1; k <= K; k++) {
        T lane[V];
        if (!(Op::used >> k & 1)) {
#pragma unroll
            for (int j = 0; j < V; j++)
                lane[j] = T();
        } else if (!(a.present >> k & 1)) {
#pragma unroll
            for (int j = 0; j < V; j++)
                number_as(a.values[k], &lane[j]);
        } else if (vector >> k & 1) {
            load_vector<V>(a.data[k], a.dtypes[k], first, lane);
        } else {
#pragma unroll
            for (int j = 0; j < V; j++)
                lane[j] = load_one<T>(a.data[k] + at[j][k], a.dtypes[k]);
        }
#pragma unroll
        for (int j = 0; j < V; j++)
            x[j][k - 1] = lane[j];
    }
    R y[V];
#pragma unroll
    for (int j = 0; j < V; j++)
        y[j] = Op()(a, x[j]);
    if (vector & 1) {
        store_vector<V>(a.data[0], a.dtypes[0], first, y);
        return;
    }
#pragma unroll
    for (int j = 0; j < V; j++)
        if (whole || first + j < a.n)
            store_one<R>(a.data[0] + at[j][0], a.dtypes[0], y[j]);
}

#endif

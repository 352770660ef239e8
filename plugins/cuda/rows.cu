/* rows.cu - softmax (a block per row), indexing (a thread per element), products of whole numbers
 * (16 x 16 tiles).
 *
 * softmax: three passes over the row, the sum as a tree in float or double; e^x is CUDA's (1 ULP
 * in double, 2 in float). Whole numbers multiply in int64_t and wrap around: the low bits are
 * those of any narrower type. */
#include "rows.h"

#include "convert.cuh"

template <int N> struct places {
    int64_t at[N];
};
template <int N> DEVICE places<N> places_of(const cuda_row_dim *dims, int n_dims, uint32_t i)
{
    places<N> p;
#pragma unroll
    for (int k = 0; k < N; k++)
        p.at[k] = 0;
#pragma unroll 1
    for (int d = 0; d < n_dims; d++) {
        uint32_t rest = divide(i, dims[d].size);
        int64_t c = i - rest * dims[d].size.size;
#pragma unroll
        for (int k = 0; k < N; k++)
            p.at[k] += c * dims[d].strides[k];
        i = rest;
    }
    return p;
}

/* ---- softmax --------------------------------------------------------------------------------- */
DEVICE float e_to(float x)
{
    return expf(x);
}
DEVICE double e_to(double x)
{
    return exp(x);
}
DEVICE float log_of(float x)
{
    return logf(x);
}
DEVICE double log_of(double x)
{
    return log(x);
}
template <class T> DEVICE T larger(T a, T b)
{
    return a > b || a != a ? a : b;
}

/* Every thread gets the block's sum, or its largest value. */
template <class T> DEVICE T over_block(T x, T *shared, bool sum)
{
    __syncthreads();
    shared[threadIdx.x] = x;
    for (uint32_t half = blockDim.x / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            T a = shared[threadIdx.x], b = shared[threadIdx.x + half];
            shared[threadIdx.x] = sum ? a + b : larger(a, b);
        }
    }
    __syncthreads();
    return shared[0];
}

template <class T>
static __global__ void __launch_bounds__(CUDA_ROW_THREADS)
    softmax(const __grid_constant__ cuda_softmax_rows a)
{
    __shared__ T shared[CUDA_ROW_THREADS];
    const places<2> row = places_of<2>(a.dims, a.n_dims, blockIdx.x);
    const char *in = a.in + row.at[1];
    char *out = a.out + row.at[0];
    T most = -INFINITY, sum = 0;
    for (uint32_t i = threadIdx.x; i < a.n; i += blockDim.x)
        most = larger(load_one<T>(in + i * a.in_step, a.in_dtype), most);
    most = over_block(most, shared, false);
    for (uint32_t i = threadIdx.x; i < a.n; i += blockDim.x)
        sum += e_to(load_one<T>(in + i * a.in_step, a.in_dtype) - most);
    sum = over_block(sum, shared, true);
    const T log_sum = log_of(sum);
    for (uint32_t i = threadIdx.x; i < a.n; i += blockDim.x) {
        T x = load_one<T>(in + i * a.in_step, a.in_dtype) - most;
        store_one<T>(out + i * a.out_step, a.out_dtype, a.log ? x - log_sum : e_to(x) / sum);
    }
}
const cuda_softmax_fn cuda_softmax_kernels[2] = {softmax<float>, softmax<double>};

/* ---- indexing
 * ------------------------------------------------------------------------------------------------
 */
/* The first to come takes the record; who comes later changes nothing. */
DEVICE void tell(const cuda_take &a, int64_t index)
{
    if (atomicCAS(&a.fault->kind, CUDA_FAULT_NONE, a.kind) != CUDA_FAULT_NONE)
        return;
    a.fault->index = index;
    a.fault->size = a.size;
}

template <class E>
static __global__ void __launch_bounds__(CUDA_ROW_THREADS) take(const __grid_constant__ cuda_take a)
{
    const uint32_t i = blockIdx.x * CUDA_ROW_THREADS + threadIdx.x;
    if (i >= a.n)
        return;
    const places<3> p = places_of<3>(a.dims, a.n_dims, i);
    const char *where = a.index + p.at[2];
    const int64_t index = a.index_is_64 ? *(const int64_t *)where : *(const int32_t *)where;
    E x = E();
    if (index >= 0 && index < a.size)
        x = *(const E *)(a.in + p.at[1] + index * a.step);
    else
        tell(a, index);
    *(E *)(a.out + p.at[0]) = x;
}
const cuda_take_fn cuda_take_kernels[5] = {take<uint8_t>, take<uint16_t>, take<uint32_t>,
                                           take<uint64_t>, take<tn_c128>};

/* ---- products of whole numbers -------------------------------------------------------------- */
static __global__ void whole_product(const __grid_constant__ cuda_whole_product g)
{
    __shared__ uint64_t ta[CUDA_TILE][CUDA_TILE], tb[CUDA_TILE][CUDA_TILE + 1];
    const int64_t rows = (g.m + CUDA_TILE - 1) / CUDA_TILE,
                  columns = (g.n + CUDA_TILE - 1) / CUDA_TILE;
    const int64_t tile = blockIdx.x % (rows * columns), batch = blockIdx.x / (rows * columns);
    const int r = threadIdx.x / CUDA_TILE, c = threadIdx.x % CUDA_TILE;
    const int64_t i = tile / columns * CUDA_TILE + r, j = tile % columns * CUDA_TILE + c;
    const char *a = g.a + batch * g.a_strides[0], *b = g.b + batch * g.b_strides[0];
    uint64_t sum = 0;
    for (int64_t k = 0; k < g.k; k += CUDA_TILE) {
        bool a_in = i < g.m && k + c < g.k, b_in = k + r < g.k && j < g.n;
        ta[r][c] = a_in ? (uint64_t)load_as<int64_t>(
                              a + i * g.a_strides[1] + (k + c) * g.a_strides[2], g.dtype)
                        : 0;
        tb[r][c] = b_in ? (uint64_t)load_as<int64_t>(
                              b + (k + r) * g.b_strides[1] + j * g.b_strides[2], g.dtype)
                        : 0;
        __syncthreads();
        for (int p = 0; p < CUDA_TILE; p++)
            sum += ta[r][p] * tb[p][c];
        __syncthreads();
    }
    if (i >= g.m || j >= g.n)
        return;
    char *p = g.c + batch * g.c_strides[0] + i * g.c_strides[1] + j * g.c_strides[2];
    sum *= (uint64_t)g.alpha;
    if (g.beta)
        sum += (uint64_t)g.beta * (uint64_t)load_as<int64_t>(p, g.dtype);
    store_as<int64_t>(p, g.dtype, (int64_t)sum);
}
const cuda_whole_product_fn cuda_whole_product_kernel = whole_product;

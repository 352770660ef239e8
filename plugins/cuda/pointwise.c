/* pointwise.c - from an iterator to kernel launches.
 *
 * A kernel counts elements and byte offsets in 32 bits and takes at most CUDA_DIMS dimensions. An
 * iterator that is larger is cut here: in half along its longest dimension, or an outer dimension
 * is walked on the host. */
#include <string.h>

#include "pointwise.h"

#define TABLE(dtype) extern const cuda_pointwise_fn cuda_pointwise_##dtype[];
TABLE(bool)
TABLE(u8)
TABLE(i8)
TABLE(i16)
TABLE(i32)
TABLE(i64)
TABLE(f32)
TABLE(f64)
TABLE(c64)
TABLE(c128)
#undef TABLE

static const cuda_pointwise_fn *const tables[TN_DTYPE_COUNT] = {
    cuda_pointwise_bool, cuda_pointwise_u8,  cuda_pointwise_i8,  cuda_pointwise_i16,
    cuda_pointwise_i32,  cuda_pointwise_i64, cuda_pointwise_f32, cuda_pointwise_f32,
    cuda_pointwise_f32,  cuda_pointwise_f64, cuda_pointwise_c64, cuda_pointwise_c128,
};

cuda_pointwise_fn cuda_pointwise_kernel(int op, tn_dtype dtype)
{
    return tables[dtype][op];
}

cuda_divider cuda_divider_of(int64_t size)
{
    cuda_divider d = {(uint32_t)size, 0, 0};
    while (((int64_t)1 << d.shift) < size)
        d.shift++;
    uint64_t rest = ((uint64_t)1 << d.shift) - (uint64_t)size;
    d.magic = (uint32_t)((rest << 32) / (uint64_t)size + 1);
    return d;
}

void cuda_iter_add_value(tn_iter *it)
{
    int k = it->n_operands++;
    it->data[k] = NULL;
    it->operands[k] = NULL;
    it->dtypes[k] = (uint8_t)it->dtype;
    for (int d = 0; d < it->ndim; d++)
        it->strides[k][d] = 0;
}

/* ---- what a piece needs ---------------------------------------------------------------------- */
static int64_t extent(const tn_iter *it, int k)
{
    int64_t bytes = 0;
    for (int d = 0; d < it->ndim; d++)
        bytes += (it->sizes[d] - 1) * it->strides[k][d];
    return bytes;
}

static bool fits_32_bits(const tn_iter *it)
{
    if (it->numel > INT32_MAX - CUDA_POINTWISE_THREADS * 4)
        return false;
    for (int k = 0; k < it->n_operands; k++)
        if (extent(it, k) > INT32_MAX)
            return false;
    return true;
}

/* The dimension with the largest step from its first to its last element, in any operand. */
static int longest(const tn_iter *it)
{
    int at = 0;
    int64_t most = -1;
    for (int d = 0; d < it->ndim; d++)
        for (int k = 0; k < it->n_operands; k++) {
            int64_t bytes = it->sizes[d] > 1 ? (it->sizes[d] - 1) * (it->strides[k][d] + 1) : -1;
            if (bytes > most)
                most = bytes, at = d;
        }
    return at;
}

/* The loop's class of a dtype in memory: halves are moved by float kernels. */
static tn_dtype class_of(tn_dtype dtype)
{
    return dtype == TN_F16 || dtype == TN_BF16 ? TN_F32 : dtype;
}

static bool is_vector(const tn_iter *it, int k, tn_dtype as, int lanes)
{
    size_t size = tn->dtype_size(it->dtypes[k]);
    if (class_of(it->dtypes[k]) != class_of(as) || it->ndim > 1)
        return false;
    if (it->ndim == 1 && it->strides[k][0] != (int64_t)size)
        return false;
    return ((uintptr_t)it->data[k] & (size * (size_t)lanes - 1)) == 0;
}

/* ---- one launch ------------------------------------------------------------------------------ */
static tn_status launch_piece(tn_call *call, const tn_iter *it, cuda_pointwise *p,
                              cuda_pointwise_fn fn)
{
    int lanes = cuda_lanes[it->dtype];
    p->n = (uint32_t)it->numel;
    p->ndim = it->ndim;
    p->vector = 0;
    for (int d = 0; d < it->ndim; d++)
        p->dims[d] = cuda_divider_of(it->sizes[d]);
    for (int k = 0; k < it->n_operands; k++) {
        p->data[k] = it->data[k];
        p->dtypes[k] = it->dtypes[k];
        for (int d = 0; d < it->ndim; d++)
            p->strides[k][d] = (uint32_t)it->strides[k][d];
        bool vector = !(p->present >> k & 1) ||
                      is_vector(it, k, k < it->n_out ? it->out_dtype : it->dtype, lanes);
        p->vector |= (uint32_t)vector << k;
    }
    int64_t per_block = (int64_t)CUDA_POINTWISE_THREADS * lanes;
    return cuda_launch(call, (cuda_kernel_address)fn, (it->numel + per_block - 1) / per_block,
                       CUDA_POINTWISE_THREADS, 0, p);
}

static tn_status launch_all(tn_call *call, const tn_iter *it, cuda_pointwise *p,
                            cuda_pointwise_fn fn);

static tn_status launch_half(tn_call *call, const tn_iter *it, cuda_pointwise *p,
                             cuda_pointwise_fn fn, int d, int64_t begin, int64_t n)
{
    tn_iter half = *it;
    half.numel = it->numel / it->sizes[d] * n;
    half.sizes[d] = n;
    for (int k = 0; k < it->n_operands; k++)
        half.data[k] += begin * it->strides[k][d];
    return launch_all(call, &half, p, fn);
}

static tn_status walk_outer(tn_call *call, const tn_iter *it, cuda_pointwise *p,
                            cuda_pointwise_fn fn)
{
    int d = it->ndim - 1;
    tn_iter inner = *it;
    inner.ndim = d;
    inner.numel = it->numel / it->sizes[d];
    for (int64_t i = 0; i < it->sizes[d]; i++) {
        TN_TRY(launch_all(call, &inner, p, fn));
        for (int k = 0; k < it->n_operands; k++)
            inner.data[k] += it->strides[k][d];
    }
    return TN_OK;
}

static tn_status launch_all(tn_call *call, const tn_iter *it, cuda_pointwise *p,
                            cuda_pointwise_fn fn)
{
    if (!fits_32_bits(it)) {
        int d = longest(it);
        int64_t n = it->sizes[d] / 2;
        TN_TRY(launch_half(call, it, p, fn, d, 0, n));
        return launch_half(call, it, p, fn, d, n, it->sizes[d] - n);
    }
    return it->ndim > CUDA_DIMS ? walk_outer(call, it, p, fn) : launch_piece(call, it, p, fn);
}

/* ---- entry ----------------------------------------------------------------------------------- */
static tn_status enter(tn_call *call, const tn_iter *it)
{
    for (int k = 0; k < it->n_operands; k++)
        if (it->operands[k] && it->operands[k]->device.type != TN_CPU)
            return cuda_enter(call, it->operands[k]->device);
    return tn->fail(call, TN_ERR_INTERNAL, "no operand is on a CUDA device");
}

static void take_extras(cuda_pointwise *p, const cuda_extras *e)
{
    p->fault = e->fault;
    p->present &= ~e->value_mask;
    for (int i = 0; i < e->n_numbers; i++)
        p->numbers[i] = e->numbers[i];
    for (int k = 0; k < CUDA_OPERANDS; k++)
        if (e->value_mask >> k & 1)
            p->values[k] = e->values[k];
}

/* A 0-dim operand in host memory is read here. */
static void take_host_numbers(tn_call *call, const tn_iter *it, cuda_pointwise *p)
{
    for (int k = 1; k < it->n_operands; k++) {
        const tn_tensor *t = it->operands[k];
        if (!(p->present >> k & 1) || !t || t->device.type != TN_CPU)
            continue;
        tn->convert(call, &p->values[k], class_of(it->dtype), 0, it->data[k], it->dtypes[k], 0, 1);
        p->present &= ~(1u << k);
    }
}

tn_status cuda_pointwise_run(tn_call *call, const tn_iter *it, cuda_pointwise_fn fn,
                             const cuda_extras *extras)
{
    cuda_pointwise p;
    TN_TRY(enter(call, it));
    if (!fn)
        return tn->fail(call, TN_ERR_UNSUPPORTED, "no CUDA kernel for %s",
                        tn->dtype_name(it->dtype));
    if (it->n_operands > CUDA_OPERANDS)
        return tn->fail(call, TN_ERR_INTERNAL, "%d operands; a CUDA kernel takes %d",
                        it->n_operands, CUDA_OPERANDS);
    memset(&p, 0, sizeof p);
    p.present = (1u << it->n_operands) - 1;
    if (extras)
        take_extras(&p, extras);
    take_host_numbers(call, it, &p);
    return it->numel == 0 ? TN_OK : launch_all(call, it, &p, fn);
}

tn_status cuda_pointwise_call(tn_call *call, int op, const tn_number *numbers, int n_numbers)
{
    cuda_extras extras = {.numbers = numbers, .n_numbers = n_numbers};
    return cuda_pointwise_run(call, call->iter, cuda_pointwise_kernel(op, call->iter->dtype),
                              &extras);
}

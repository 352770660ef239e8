/* kernels.c - what the device can do: copy_, add, mul, relu, sum, mm, in float32.
 *
 * A kernel checks and submits; the functions named do_.. run later, on the thread of the stream that
 * came with the call, where sim_memory makes an address readable. For structured operators the core has made a->result, and
 * for pointwise ones call->iter. */
#include "sim.h"

/* ---- elementwise: an iterator, walked on the device ------------------------------------------ */
typedef struct pointwise {
    tn_iter it;
    float alpha;
} pointwise;

/* Where element i of every operand is. */
static void locate(const tn_iter *it, int64_t i, char **at)
{
    for (int k = 0; k < it->n_operands; k++)
        at[k] = sim_memory(it->data[k]);
    for (int d = 0; d < it->ndim; d++) {
        int64_t index = i % it->sizes[d];
        i /= it->sizes[d];
        for (int k = 0; k < it->n_operands; k++)
            at[k] += index * it->strides[k][d];
    }
}

/* Other memory than the device's own, the host's or another device's, is not freed in the order of
 * the device's queues: its owner may free it when the call is over, so the work is waited for. */
static tn_status submit(tn_call *call, sim_work work, const tn_iter *it, float alpha)
{
    const pointwise args = {*it, alpha};
    const tn_tensor *out = it->operands[0], *in = it->operands[it->n_operands - 1];
    tn_device device = sim_is_here(out) ? out->device : in->device;
    bool foreign = false;
    for (int k = 0; k < it->n_operands; k++) {
        const tn_tensor *t = it->operands[k];
        foreign = foreign || !sim_is_here(t) || t->device.index != device.index;
    }
    sim_queue *q = sim_queue_of(device, call->stream);
    TN_TRY(sim_submit(call, q, work, &args, sizeof args));
    if (foreign)
        sim_wait(q);
    return TN_OK;
}

static tn_status check_dtype(tn_call *call, tn_dtype dtype)
{
    if (dtype == TN_F32)
        return TN_OK;
    return tn->fail(call, TN_ERR_UNSUPPORTED, "the device computes in float32, not in %s",
                    tn->dtype_name(dtype));
}

static void do_add(void *args)
{
    const pointwise *p = args;
    char *at[TN_MAX_OPERANDS];
    for (int64_t i = 0; i < p->it.numel; i++) {
        locate(&p->it, i, at);
        *(float *)at[0] = *(float *)at[1] + p->alpha * *(float *)at[2];
    }
}

static tn_status add(tn_call *call, struct tn_add_Tensor_args *a)
{
    const tn_scalar *s = &a->alpha;
    TN_TRY(check_dtype(call, call->iter->dtype));
    return submit(call, do_add, call->iter,
                  s->kind == TN_SCALAR_FLOAT ? (float)s->v.f : (float)s->v.i);
}

static void do_mul(void *args)
{
    const pointwise *p = args;
    char *at[TN_MAX_OPERANDS];
    for (int64_t i = 0; i < p->it.numel; i++) {
        locate(&p->it, i, at);
        *(float *)at[0] = *(float *)at[1] * *(float *)at[2];
    }
}

static tn_status mul(tn_call *call, struct tn_mul_Tensor_args *a)
{
    (void)a;
    TN_TRY(check_dtype(call, call->iter->dtype));
    return submit(call, do_mul, call->iter, 0);
}

static void do_relu(void *args)
{
    const pointwise *p = args;
    char *at[TN_MAX_OPERANDS];
    for (int64_t i = 0; i < p->it.numel; i++) {
        locate(&p->it, i, at);
        float x = *(float *)at[1];
        *(float *)at[0] = x < 0 ? 0 : x;
    }
}

static tn_status relu(tn_call *call, struct tn_relu_args *a)
{
    (void)a;
    TN_TRY(check_dtype(call, call->iter->dtype));
    return submit(call, do_relu, call->iter, 0);
}

/* ---- copy_: any dtype to any other, and the road between host and device --------------------- */
static void do_copy(void *args)
{
    const pointwise *p = args;
    char *at[TN_MAX_OPERANDS];
    for (int64_t i = 0; i < p->it.numel; i++) {
        locate(&p->it, i, at);
        tn->convert(NULL, at[0], p->it.dtypes[0], 0, at[1], p->it.dtypes[1], 0, 1);
    }
}

/* self and src, spread to self's shape: the core's iterators are for one device. */
static tn_status describe(tn_call *call, tn_tensor *self, tn_tensor *src, tn_iter *it)
{
    const int64_t bytes[] = {(int64_t)tn->dtype_size(self->dtype),
                             (int64_t)tn->dtype_size(src->dtype)};
    *it = (tn_iter){.n_operands = 2,
                    .n_out = 1,
                    .ndim = self->ndim,
                    .numel = self->numel,
                    .data = {self->data, src->data},
                    .operands = {self, src},
                    .dtypes = {self->dtype, src->dtype}};
    bool fits = src->ndim <= self->ndim;
    for (int d = 0; d < self->ndim; d++) {
        int to = self->ndim - 1 - d, from = src->ndim - 1 - d;
        bool spread = from < 0 || src->sizes[from] == 1;
        it->sizes[d] = self->sizes[to];
        it->strides[0][d] = self->strides[to] * bytes[0];
        it->strides[1][d] = spread ? 0 : src->strides[from] * bytes[1];
        fits = fits && (spread || src->sizes[from] == self->sizes[to]);
    }
    return fits ? TN_OK
                : tn->fail(call, TN_ERR_ARGUMENT, "src cannot be broadcast to the shape of self");
}

/* What the devices have to do first is waited for where more than one takes part. */
static tn_status copy_(tn_call *call, struct tn_copy__args *a)
{
    tn_iter it;
    TN_TRY(describe(call, a->self, a->src, &it));
    if (sim_is_here(a->src) && sim_is_here(a->self) &&
        a->src->device.index != a->self->device.index)
        sim_wait_device(a->src->device);
    TN_TRY(submit(call, do_copy, &it, 0));
    tn->tensor_retain(a->self);
    a->result = a->self;
    return TN_OK;
}

/* ---- sum and mm ------------------------------------------------------------------------------ */
static void do_sum(void *args)
{
    const pointwise *p = args;
    char *at[TN_MAX_OPERANDS];
    double total = 0;
    for (int64_t i = 0; i < p->it.numel; i++) {
        locate(&p->it, i, at);
        total += *(float *)at[1];
    }
    *(float *)sim_memory(p->it.data[0]) = (float)total;
}

static tn_status sum(tn_call *call, struct tn_sum_args *a)
{
    tn_tensor *operands[] = {a->result, a->self};
    tn_iter it;
    TN_TRY(check_dtype(call, a->self->dtype));
    TN_TRY(check_dtype(call, a->result->dtype));
    TN_TRY(tn->iter_init(call, &it, 1, 2, operands, TN_F32, TN_F32, 1));
    return submit(call, do_sum, &it, 0);
}

typedef struct matrix {
    void *data;
    int64_t rows, cols, row_stride, col_stride;
} matrix;

static matrix matrix_of(const tn_tensor *t)
{
    return (matrix){t->data, t->sizes[0], t->sizes[1], t->strides[0], t->strides[1]};
}

static float *element(const matrix *m, int64_t row, int64_t col)
{
    return (float *)sim_memory(m->data) + row * m->row_stride + col * m->col_stride;
}

static void do_mm(void *args)
{
    const matrix *out = args, *a = out + 1, *b = out + 2;
    for (int64_t i = 0; i < out->rows; i++)
        for (int64_t j = 0; j < out->cols; j++) {
            double total = 0;
            for (int64_t k = 0; k < a->cols; k++)
                total += (double)*element(a, i, k) * *element(b, k, j);
            *element(out, i, j) = (float)total;
        }
}

static tn_status mm(tn_call *call, struct tn_mm_args *a)
{
    TN_TRY(check_dtype(call, a->result->dtype));
    const matrix args[] = {matrix_of(a->result), matrix_of(a->self), matrix_of(a->mat2)};
    return sim_submit(call, sim_queue_of(a->result->device, call->stream), do_mm, args,
                      sizeof args);
}

const tn_kernel_decl sim_kernels[] = {
    TN_KERNEL(copy_, "SIM", copy_),    TN_KERNEL(add_Tensor, "SIM", add),
    TN_KERNEL(mul_Tensor, "SIM", mul), TN_KERNEL(relu, "SIM", relu),
    TN_KERNEL(sum, "SIM", sum),        TN_KERNEL(mm, "SIM", mm),
};
const size_t sim_kernel_count = TN_COUNT(sim_kernels);

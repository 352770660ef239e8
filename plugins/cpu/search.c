/* search.c - searchsorted, bucketize: for each value, where it would go into a sorted sequence, by
 * bisection. Order is the family's (order_key.h): NaN goes behind every number. */
#include <string.h>

#include "cpu.h"
#include "order_key.h"

typedef struct sequence {
    const char *in;
    const int64_t *sorter; /* places by rank; NULL: the sequence is in order itself */
    int64_t n;
    bool right; /* behind equal ones rather than in front of them */
} sequence;

#define ORDER_LOOPS "search.inc"
#include "order_each.inc"

typedef int64_t (*bound_fn)(const sequence *q, const void *value);
static const bound_fn bounds[TN_DTYPE_COUNT] = {
    [TN_BOOL] = bound_u8, [TN_U8] = bound_u8,   [TN_I8] = bound_i8,   [TN_I16] = bound_i16,
    [TN_I32] = bound_i32, [TN_I64] = bound_i64, [TN_F16] = bound_f16, [TN_BF16] = bound_bf16,
    [TN_F32] = bound_f32, [TN_F64] = bound_f64,
};

typedef struct search {
    sequence first;
    const char *value; /* row-major, as the results are */
    char *out;
    bound_fn fn;
    int64_t bytes;   /* of a value */
    int64_t per_row; /* values that share a sequence */
    int64_t next;    /* bytes to the next row's sequence; 0: there is one for all */
    bool narrow;     /* results are int32 */
} search;

static void run_values(void *arg, int64_t begin, int64_t end)
{
    const search *s = arg;
    sequence q = s->first;
    for (int64_t i = begin; i < end; i++) {
        int64_t row = s->next ? i / s->per_row : 0;
        q.in = s->first.in + row * s->next;
        q.sorter = s->first.sorter ? s->first.sorter + row * q.n : NULL;
        int64_t at = s->fn(&q, s->value + i * s->bytes);
        if (s->narrow)
            ((int32_t *)(void *)s->out)[i] = (int32_t)at;
        else
            ((int64_t *)(void *)s->out)[i] = at;
    }
}

/* Row-major tensors of what was given. */
typedef struct request {
    tn_tensor *sequence, *values, *sorter; /* sorter may be NULL */
    bool right;
} request;

enum { GRAIN = 1024 };

static tn_status run(tn_call *call, const request *r, tn_tensor *out)
{
    const tn_tensor *in = r->sequence, *values = r->values;
    int64_t n = in->ndim ? in->sizes[in->ndim - 1] : 1, bytes = (int64_t)tn->dtype_size(in->dtype);
    search s = {{in->data, r->sorter ? r->sorter->data : NULL, n, r->right},
                values->data,
                out->data,
                bounds[in->dtype],
                bytes,
                values->ndim ? values->sizes[values->ndim - 1] : 1,
                in->ndim > 1 ? n * bytes : 0,
                out->dtype == TN_I32};
    return tn->parallel_for(call, values->numel, GRAIN, run_values, &s);
}

/* Places outside of the sequence would read beyond it. */
static tn_status check_sorter(tn_call *call, const tn_tensor *sorter, int64_t n)
{
    const int64_t *place = sorter->data;
    for (int64_t i = 0; i < sorter->numel; i++)
        if (place[i] < 0 || place[i] >= n)
            return tn->fail(
                call, TN_ERR_INDEX,
                "sorter is %lld at position %lld; sorted_sequence takes 0 to %lld there",
                (long long)place[i], (long long)i, (long long)(n - 1));
    return TN_OK;
}

/* A row-major tensor of that dtype with t's values; t itself where it is one. */
static tn_status plain(tn_call *call, tn_tensor *t, tn_dtype dtype, tn_tensor **out)
{
    if (!t || (t->dtype == dtype && t->flags & TN_TENSOR_CONTIGUOUS)) {
        *out = t;
        if (t)
            tn->tensor_retain(t);
        return TN_OK;
    }
    TN_TRY(tn->tensor_new(call, t->ndim, t->sizes, dtype, t->device, out));
    return cpu_copy_elements(call, *out, t);
}

static tn_status check_out(tn_call *call, const tn_tensor *out, bool out_int32)
{
    tn_dtype dtype = out_int32 ? TN_I32 : TN_I64;
    if (out->dtype == dtype)
        return TN_OK;
    return tn->fail(call, TN_ERR_DTYPE, "out has dtype %s; expected %s, as out_int32 says",
                    tn->dtype_name(out->dtype), tn->dtype_name(dtype));
}

static tn_status bounds_of(tn_call *call, tn_tensor *sequence, tn_tensor *values, tn_tensor *sorter,
                           bool right, bool out_int32, tn_tensor *out)
{
    tn_tensor *both[] = {sequence, values}, *to = NULL;
    tn_dtype dtype = tn->result_type(both, 2, NULL, 0);
    request r = {.right = right};
    TN_TRY(check_out(call, out, out_int32));
    if (values->numel == 0)
        return TN_OK;
    tn_status status = plain(call, sequence, dtype, &r.sequence);
    if (status == TN_OK)
        status = plain(call, values, dtype, &r.values);
    if (status == TN_OK)
        status = plain(call, sorter, TN_I64, &r.sorter);
    if (status == TN_OK && sorter)
        status = check_sorter(call, r.sorter, sequence->sizes[sequence->ndim - 1]);
    if (status == TN_OK && out->flags & TN_TENSOR_CONTIGUOUS)
        tn->tensor_retain(to = out);
    else if (status == TN_OK)
        status = tn->tensor_new(call, out->ndim, out->sizes, out->dtype, out->device, &to);
    if (status == TN_OK)
        status = run(call, &r, to);
    if (status == TN_OK && to != out)
        status = cpu_copy_elements(call, out, to);
    tn->tensor_release(to);
    tn->tensor_release(r.sorter);
    tn->tensor_release(r.values);
    tn->tensor_release(r.sequence);
    return status;
}

static tn_status searchsorted(tn_call *call, struct tn_searchsorted_Tensor_args *a)
{
    bool right = a->right || (a->side && strcmp(a->side, "right") == 0);
    return bounds_of(call, a->sorted_sequence, a->self, a->sorter, right, a->out_int32, a->result);
}

static tn_status bucketize(tn_call *call, struct tn_bucketize_Tensor_args *a)
{
    return bounds_of(call, a->boundaries, a->self, NULL, a->right, a->out_int32, a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(searchsorted_Tensor, "CPU", searchsorted),
    TN_KERNEL(bucketize_Tensor, "CPU", bucketize),
};
const cpu_kernels cpu_search = {kernels, TN_COUNT(kernels)};

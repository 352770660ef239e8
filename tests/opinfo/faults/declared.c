/* declared.c - the plugin of declared.yaml: operators that the harness can only try on the samples
 * their YAML declares. Right as it stands; TENON_FAULT names what is wrong instead (faults.h). */
#include <stdlib.h>
#include <string.h>

#include "declared_ops.h"

static bool has(const char *fault)
{
    const char *name = getenv("TENON_FAULT");
    return name && strcmp(name, fault) == 0;
}

/* ---- elements, one at a time ----------------------------------------------------------------- */
static char *element(const tn_tensor *t, int64_t i)
{
    int64_t offset = 0;
    for (int d = t->ndim - 1; d >= 0; i /= t->sizes[d--])
        offset += i % t->sizes[d] * t->strides[d];
    int64_t size = t->dtype == TN_F32 ? 4 : 8;
    return (char *)t->data + (has("ignored_strides") ? i : offset) * size;
}

static double get(const tn_tensor *t, int64_t i)
{
    return t->dtype == TN_F32 ? (double)*(float *)element(t, i) : *(double *)element(t, i);
}

static void put(const tn_tensor *t, int64_t i, double x)
{
    if (t->dtype == TN_F32)
        *(float *)element(t, i) = (float)x;
    else
        *(double *)element(t, i) = x;
}

static tn_status check_dtype(tn_call *call, const tn_tensor *t)
{
    if (t->dtype == TN_F32 || t->dtype == TN_F64)
        return TN_OK;
    return tn->fail(call, TN_ERR_UNSUPPORTED, "%s is not supported; give float32 or float64",
                    tn->dtype_name(t->dtype));
}

/* ---- weighted: the sum of self * weight along the last dimension ----------------------------- */
tn_status weighted_shape(tn_call *call, const void *frame, tn_result *results)
{
    const struct tn_weighted_args *a = frame;
    int last = a->self->ndim - 1;
    if (last < 0 || a->weight->ndim != 1 ||
        (a->weight->sizes[0] != a->self->sizes[last] && !has("any_weight")))
        return tn->fail(call, TN_ERR_ARGUMENT, "weight must be as long as self's last dimension");
    results->ndim = last + (a->keepdim && !has("no_keepdim"));
    for (int d = 0; d < results->ndim; d++)
        results->sizes[d] = d == last ? 1 : a->self->sizes[d];
    results->dtype = a->self->dtype;
    results->device = a->self->device;
    return TN_OK;
}

static tn_status weighted(tn_call *call, struct tn_weighted_args *a)
{
    TN_TRY(check_dtype(call, a->result)); /* an out= argument may have another one */
    int64_t n = a->self->sizes[a->self->ndim - 1], rows = a->result->numel;
    for (int64_t row = 0; row < rows; row++) {
        double sum = 0;
        for (int64_t i = 0; i < n - has("short_rows"); i++)
            sum += get(a->self, row * n + i) * get(a->weight, i % a->weight->sizes[0]);
        if (has("positive_rows") && sum > 0)
            sum += 1;
        put(a->result, row, sum * (has("off_by_little") ? 1.00001 : 1));
    }
    if (has("past_end") && rows)
        element(a->result, rows - 1)[a->result->dtype == TN_F32 ? 4 : 8] = 7;
    return TN_OK;
}

static tn_status forgetful(tn_call *call, struct tn_forgetful_args *a)
{
    return weighted(call, (struct tn_weighted_args *)a);
}

/* ---- centred: self without its mean along dim ------------------------------------------------ */
tn_status centred_shape(tn_call *call, const void *frame, tn_result *results)
{
    const struct tn_centred_args *a = frame;
    if (a->dim >= a->self->ndim || a->dim < -a->self->ndim)
        return tn->fail(call, TN_ERR_ARGUMENT, "self has no dimension %lld", (long long)a->dim);
    results->ndim = a->self->ndim;
    memcpy(results->sizes, a->self->sizes, (size_t)a->self->ndim * sizeof *results->sizes);
    results->dtype = a->self->dtype;
    results->device = a->self->device;
    return TN_OK;
}

/* result may be self: the mean of a line is known before its first element is written. */
static tn_status centred(tn_call *call, struct tn_centred_args *a)
{
    TN_TRY(check_dtype(call, a->result));
    int dim = (int)(a->dim < 0 ? a->dim + a->self->ndim : a->dim);
    int64_t n = a->self->sizes[dim], step = 1;
    for (int d = dim + 1; d < a->self->ndim; d++)
        step *= a->self->sizes[d];
    for (int64_t i = 0; i < a->self->numel; i++) {
        if (i / step % n)
            continue; /* no line begins here */
        double sum = 0;
        for (int64_t k = 0; k < n; k++)
            sum += get(a->self, i + k * step);
        for (int64_t k = 0; k < n; k++)
            put(a->result, i + k * step, get(a->self, i + k * step) - sum / (double)n);
        if (has("twice_in_place") && a->result == a->self)
            put(a->result, i, get(a->self, i) + 1);
    }
    return TN_OK;
}

/* ---- pick: self[index + at] ------------------------------------------------------------------ */
static tn_status fill(tn_call *call, tn_tensor *self, tn_tensor *index, tn_opt_int at,
                      tn_tensor *to)
{
    for (int64_t i = 0; to->data && i < index->numel; i++) {
        int64_t from = *(int64_t *)element(index, i) + (at.has && !has("no_at") ? at.value : 0);
        if (has("any_index") && from >= self->numel)
            from = self->numel - 1;
        if (from < 0 || from >= self->numel)
            return tn->fail(call, TN_ERR_ARGUMENT, "index %lld is out of range", (long long)from);
        put(to, i, get(self, from));
    }
    return TN_OK;
}

static tn_status pick(tn_call *call, struct tn_pick_args *a)
{
    TN_TRY(check_dtype(call, a->self));
    int64_t n = a->index->numel + (has("meta_shape") && a->self->device.type == TN_META);
    TN_TRY(tn->tensor_new(call, 1, &n, a->self->dtype, a->self->device, &a->result));
    if (a->self->device.type == TN_META)
        return TN_OK;
    tn_status status = fill(call, a->self, a->index, a->at, a->result);
    if (status != TN_OK) {
        tn->tensor_release(a->result);
        a->result = NULL;
    }
    return status;
}

/* An out of no elements is resized; of another shape, it is refused. */
static tn_status pick_out(tn_call *call, struct tn_pick_out_args *a)
{
    int64_t n = a->index->numel, wrong = n + 1;
    TN_TRY(check_dtype(call, a->self));
    if (a->out->dtype != a->self->dtype || a->out->device.type != a->self->device.type)
        return tn->fail(call, TN_ERR_DTYPE, "out must have self's dtype and device");
    bool fits = a->out->ndim == 1 && a->out->sizes[0] == n;
    if (!fits && a->out->numel > 0 && !has("resizes_any"))
        return tn->fail(call, TN_ERR_ARGUMENT, "out must have %lld elements", (long long)n);
    if (!fits && !has("resizes_never"))
        TN_TRY(tn->tensor_resize(call, a->out, 1, has("resizes_wrongly") ? &wrong : &n));
    tn->tensor_retain(a->out);
    a->result = a->out;
    return a->self->device.type == TN_META ? TN_OK : fill(call, a->self, a->index, a->at, a->out);
}

/* ---- totals, scaled -------------------------------------------------------------------------- */
static tn_status scaled(tn_call *call, struct tn_scaled_args *a)
{
    double sum = 0;
    TN_TRY(check_dtype(call, a->self));
    TN_TRY(tn->tensor_new(call, 0, NULL, a->self->dtype, a->self->device, &a->result));
    for (int64_t i = 0; a->result->data && i < a->self->numel; i++)
        sum += get(a->self, i) * (a->scale && !has("no_scale") ? get(a->scale, i) : 1);
    if (a->result->data)
        put(a->result, 0, strcmp(a->mode, "mean") == 0 ? sum / (double)a->self->numel : sum);
    return TN_OK;
}

static tn_status totals(tn_call *call, struct tn_totals_args *a)
{
    int64_t n = 0, at = 0;
    double sum = 0;
    if (a->tensors.len == 0)
        return tn->fail(call, TN_ERR_ARGUMENT, "tensors is empty");
    tn_tensor *first = a->tensors.data[0];
    TN_TRY(check_dtype(call, first));
    for (int64_t k = 0; k < a->tensors.len; k++)
        n += a->tensors.data[k]->numel;
    TN_TRY(tn->tensor_new(call, 0, NULL, first->dtype, first->device, &a->result0));
    TN_TRY(tn->tensor_new(call, 1, &n, first->dtype, first->device, &a->result1));
    for (int64_t k = 0; a->result1->data && k < a->tensors.len; k++)
        for (int64_t i = 0; i < a->tensors.data[k]->numel; i++, at++) {
            double x = get(a->tensors.data[k], i);
            sum += x * (a->scale ? get(a->scale, at) : 1);
            put(a->result1, at,
                x * (has("second_result") ? 2 : a->factor) * (double)a->twice.data[0]);
        }
    if (a->result0->data)
        put(a->result0, 0, strcmp(a->mode, "mean") == 0 ? sum / (double)n : sum);
    return TN_OK;
}

#define BOTH (TN_DTYPE_BIT(TN_F32) | TN_DTYPE_BIT(TN_F64))
static const tn_kernel_decl kernels[] = {
    TN_KERNEL(weighted, "CPU", weighted),
    TN_KERNEL(forgetful, "CPU", forgetful),
    TN_KERNEL(centred, "CPU", centred),
    TN_KERNEL_DTYPES(pick, "CPU", pick, BOTH),
    TN_KERNEL_DTYPES(pick, "Meta", pick, BOTH),
    TN_KERNEL_DTYPES(pick_out, "CPU", pick_out, BOTH),
    TN_KERNEL_DTYPES(pick_out, "Meta", pick_out, BOTH),
    TN_KERNEL_DTYPES(totals, "CPU", totals, BOTH),
    TN_KERNEL_DTYPES(totals, "Meta", totals, BOTH),
    TN_KERNEL_DTYPES(scaled, "CPU", scaled, BOTH),
    TN_KERNEL_DTYPES(scaled, "Meta", scaled, BOTH),
};

static tn_status start(tn_registry *r)
{
    TN_TRY(declared_register(r));
    return tn->register_kernels(r, kernels, TN_COUNT(kernels));
}

TN_PLUGIN("declared", "1.0.0", start, NULL);

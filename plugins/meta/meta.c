/* meta.c - the meta backend: shapes and dtypes without data.
 *
 * Structured operators need nothing of it but an empty kernel. Written here are the operators that
 * write into a given tensor, whose meta kernels are their checks alone. */
#include "meta.h"

#include <string.h>

#include <tenon/frames.h>
#include <tenon/plugin.h>
#include <tenon/range.h>

static tn_status copy_(tn_call *call, struct tn_copy__args *a)
{
    tn_iter it;
    tn_tensor *operands[] = {a->self, a->src};
    TN_TRY(tn->iter_init(call, &it, 1, 2, operands, a->self->dtype, TN_DTYPE_NONE, 0));
    tn->tensor_retain(a->self);
    a->result = a->self;
    return TN_OK;
}

/* Dims that are expanded do not count: a fill writes one value there. */
static tn_status check_fill(tn_call *call, tn_tensor *self)
{
    int64_t sizes[TN_MAX_DIMS];
    tn_tensor *once;
    for (int d = 0; d < self->ndim; d++)
        sizes[d] = self->strides[d] == 0 && self->sizes[d] > 1 ? 1 : self->sizes[d];
    TN_TRY(tn->tensor_view(call, self, self->ndim, sizes, self->strides, tn->tensor_offset(self),
                           self->dtype, &once));
    tn_status status = tn->check_no_internal_overlap(call, once);
    tn->tensor_release(once);
    return status;
}

static tn_status fill_(tn_call *call, struct tn_fill__Scalar_args *a)
{
    TN_TRY(check_fill(call, a->self));
    tn->tensor_retain(a->self);
    a->result = a->self;
    return TN_OK;
}

static tn_status zero_(tn_call *call, struct tn_zero__args *a)
{
    TN_TRY(check_fill(call, a->self));
    tn->tensor_retain(a->self);
    a->result = a->self;
    return TN_OK;
}

static tn_status arange_out(tn_call *call, struct tn_arange_start_out_args *a)
{
    int64_t n = 0;
    if (a->out->dtype == TN_BOOL || tn_dtype_in(a->out->dtype, TN_DTYPES_COMPLEX))
        return tn->fail(call, TN_ERR_UNSUPPORTED, "a range of %s numbers is not defined",
                        tn->dtype_name(a->out->dtype));
    const char *wrong = tn_range_count(&a->start, &a->end, &a->step, &n);
    if (wrong)
        return tn->fail(call, TN_ERR_ARGUMENT, "%s", wrong);
    if (a->out->numel == 0)
        TN_TRY(tn->tensor_resize(call, a->out, 1, &n));
    if (a->out->numel != n)
        return tn->fail(call, TN_ERR_ARGUMENT, "out has %lld elements, but the range has %lld",
                        (long long)a->out->numel, (long long)n);
    TN_TRY(tn->check_no_internal_overlap(call, a->out));
    tn->tensor_retain(a->out);
    a->result = a->out;
    return TN_OK;
}

/* ---- arguments that no shape rule looks at: checked as the backends with data check them ---- */
static tn_status clamp(tn_call *call, struct tn_clamp_args *a)
{
    if (a->min.kind != TN_SCALAR_NONE || a->max.kind != TN_SCALAR_NONE)
        return TN_OK;
    return tn->fail(call, TN_ERR_ARGUMENT, "min and max are both absent; give at least one");
}

static tn_status clamp_tensor(tn_call *call, struct tn_clamp_Tensor_args *a)
{
    if (a->min || a->max)
        return TN_OK;
    return tn->fail(call, TN_ERR_ARGUMENT, "min and max are both absent; give at least one");
}

static tn_status gelu(tn_call *call, struct tn_gelu_args *a)
{
    if (strcmp(a->approximate, "none") == 0 || strcmp(a->approximate, "tanh") == 0)
        return TN_OK;
    return tn->fail(call, TN_ERR_ARGUMENT, "approximate is '%.40s'; it may be 'none' or 'tanh'",
                    a->approximate);
}

static tn_status polygamma(tn_call *call, struct tn_polygamma_args *a)
{
    if (a->n >= 0)
        return TN_OK;
    return tn->fail(call, TN_ERR_ARGUMENT, "n: expected 0 or more, got %lld", (long long)a->n);
}

/* They stand above the empty kernels of the generated table. */
enum { ABOVE_GENERATED = 1 };
#define TN_CHECK(NAME, fn)                                                                         \
    {                                                                                              \
        TN_SCHEMA_##NAME, "Meta", TN_KERNEL_FN(NAME, fn), NULL, sizeof(struct tn_##NAME##_args),   \
            ABOVE_GENERATED, 0, 0, NULL, 0, 0                                                      \
    }

static const tn_kernel_decl kernels[] = {
    TN_KERNEL_DTYPES(arange_start_out, "Meta", arange_out, TN_DTYPES_INTEGRAL | TN_DTYPES_FLOATING),
    TN_CHECK(clamp, clamp),
    TN_CHECK(clamp_Tensor, clamp_tensor),
    TN_CHECK(gelu, gelu),
    TN_CHECK(polygamma, polygamma),
    TN_KERNEL(copy_, "Meta", copy_),
    TN_KERNEL(fill__Scalar, "Meta", fill_),
    TN_KERNEL(zero_, "Meta", zero_),
};

static tn_status start(tn_registry *r)
{
    TN_TRY(tn->register_kernels(r, meta_structured, meta_structured_count));
    TN_TRY(tn->register_kernels(r, meta_index_list.list, meta_index_list.count));
    TN_TRY(tn->register_kernels(r, meta_unique.list, meta_unique.count));
    return tn->register_kernels(r, kernels, TN_COUNT(kernels));
}

TN_PLUGIN("meta", "0.1.0", start, NULL);

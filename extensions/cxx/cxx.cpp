/* cxx.cpp - unique(self): the distinct values of a tensor, sorted. The standard library does the
 * work; guard.hpp keeps its exceptions from leaving the plugin. */
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include <tenon/frames.h> /* frames of Tenon's own operators */

#include "cxx_ops.h" /* generated from cxx.yaml */
#include "guard.hpp"

static const tn_op *contiguous_op;

/* self, or a row-major copy of it. */
static tensor contiguous(tn_tensor *self)
{
    tn_contiguous_args f = {};
    f.frame.size = sizeof f;
    f.self = self;
    f.memory_format = TN_CONTIGUOUS;
    must(tn->op_call(contiguous_op, &f));
    return tensor(f.result);
}

template <typename T> static void unique_of(tn_call *call, tn_unique_args *a)
{
    const tensor self = contiguous(a->self);
    const T *data = static_cast<const T *>(self->data);
    std::vector<T> values(data, data + self->numel);
    for (T value : values)
        if (std::isnan(value))
            throw std::domain_error("self has a NaN, which no order has a place for");
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    const int64_t size = static_cast<int64_t>(values.size());
    must(tn->tensor_new(call, 1, &size, self->dtype, self->device, &a->result));
    std::copy(values.begin(), values.end(), static_cast<T *>(a->result->data));
}

static void unique(tn_call *call, tn_unique_args *a)
{
    if (a->self->dtype == TN_F32)
        unique_of<float>(call, a);
    else if (a->self->dtype == TN_F64)
        unique_of<double>(call, a);
    else
        must(tn->fail(call, TN_ERR_UNSUPPORTED, "self is %s; float32 and float64 are supported",
                      tn->dtype_name(a->self->dtype)));
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL_DTYPES(unique, "CPU", (guarded<tn_unique_args, unique>),
                     TN_DTYPE_BIT(TN_F32) | TN_DTYPE_BIT(TN_F64)),
};

static tn_status start(tn_registry *r) noexcept
{
    static const char *const imports[] = {TN_SCHEMA_contiguous};
    TN_TRY(tn->import_ops(r, imports, &contiguous_op, 1));
    TN_TRY(cxx_register(r));
    return tn->register_kernels(r, kernels, TN_COUNT(kernels));
}

TN_PLUGIN("cxx", "1.0.0", start, nullptr);

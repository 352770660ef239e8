/* common.c - what shape rules share: dimensions, devices, reduced shapes. */
#include <string.h>

#include "core/base/devices.h"
#include "core/shape/shape.h"

tn_status tn__wrap_dim(tn_call *call, int64_t dim, int64_t ndim, int64_t *out)
{
    int64_t n = ndim ? ndim : 1;
    if (dim < -n || dim >= n)
        return tn__fail(call, TN_ERR_INDEX,
                        "dim %lld is out of range [%lld, %lld] for a tensor of %lld dimensions",
                        (long long)dim, (long long)-n, (long long)(n - 1), (long long)ndim);
    *out = dim < 0 ? dim + n : dim;
    return TN_OK;
}

void tn__result_like(const tn_tensor *t, tn_dtype dtype, tn_result *r)
{
    r->ndim = t->ndim;
    memcpy(r->sizes, t->sizes, (size_t)t->ndim * sizeof *r->sizes);
    r->dtype = dtype;
    r->device = t->device;
}

tn_status tn__reduced_dims(tn_call *call, const tn_tensor *self, tn_ints dims, uint64_t *mask)
{
    uint64_t all = self->ndim == 64 ? ~UINT64_C(0) : (UINT64_C(1) << self->ndim) - 1, set = 0;
    for (int64_t i = 0; i < dims.len; i++) {
        int64_t d = 0;
        TN__TRY(tn__wrap_dim(call, dims.data[i], self->ndim, &d));
        if (set >> d & 1)
            return tn__fail(call, TN_ERR_ARGUMENT, "dim %lld appears twice in the list of dims",
                            (long long)d);
        set |= UINT64_C(1) << d;
    }
    *mask = dims.len > 0 ? set & all : all;
    return TN_OK;
}

void tn__result_reduced(const tn_tensor *self, uint64_t mask, bool keepdim, tn_dtype dtype,
                        tn_result *r)
{
    r->ndim = 0;
    for (int d = 0; d < self->ndim; d++) {
        bool reduced = mask >> d & 1;
        if (!reduced || keepdim)
            r->sizes[r->ndim++] = reduced ? 1 : self->sizes[d];
    }
    r->dtype = dtype;
    r->device = self->device;
}

tn_status tn__same_device(tn_call *call, const tn_tensor *a, const tn_tensor *b, const char *name)
{
    char x[32], y[32];
    if (tn__same_device_as(a->device, b->device))
        return TN_OK;
    return tn__fail(call, TN_ERR_DEVICE, "%s is on %s, the other operand on %s; move one with to()",
                    name, tn__device_text(x, b->device), tn__device_text(y, a->device));
}

/* gradcheck_flat.c - tensors as lists of reals: row-major, a complex number as two, so that
 * derivatives are real matrices. Written past the dispatcher: a copy under the check's hands is
 * nobody else's. */
#include <string.h>

#include "core/autograd/gradcheck_impl.h"

enum { MOST_COPIED = 1 << 22 }; /* bytes of a storage that is copied whole */

bool tn__flat_has(const tn_tensor *t)
{
    return t && (t->dtype == TN_F64 || t->dtype == TN_C128) && t->device.type == TN_CPU;
}

static int parts(const tn_tensor *t)
{
    return t->dtype == TN_C128 ? 2 : 1;
}

int64_t tn__flat_count(const tn_tensor *t)
{
    return t->numel * parts(t);
}

/* Steps index, the place of an element in row-major order, to the next; returns its offset. */
static int64_t next(const tn_tensor *t, int64_t *index, int64_t offset)
{
    for (int d = t->ndim - 1; d >= 0; d--) {
        offset += t->strides[d];
        if (++index[d] < t->sizes[d])
            return offset;
        offset -= t->sizes[d] * t->strides[d];
        index[d] = 0;
    }
    return offset;
}

void tn__flat_read(const tn_tensor *t, double *v)
{
    int64_t index[TN_MAX_DIMS] = {0}, offset = 0;
    int n = parts(t);
    for (int64_t i = 0; i < t->numel; i++, offset = next(t, index, offset))
        memcpy(v + i * n, (const double *)t->data + offset * n, (size_t)n * sizeof *v);
}

void tn__flat_write(tn_tensor *t, const double *v)
{
    int64_t index[TN_MAX_DIMS] = {0}, offset = 0;
    int n = parts(t);
    for (int64_t i = 0; i < t->numel; i++, offset = next(t, index, offset))
        memcpy((double *)t->data + offset * n, v + i * n, (size_t)n * sizeof *v);
}

/* Whether two elements may share a place: true also for some geometries in which none do. */
static bool overlaps(const tn_tensor *t)
{
    bool taken[TN_MAX_DIMS] = {false};
    int64_t reach = 0;
    for (int n = 0; n < t->ndim; n++) {
        int least = -1;
        for (int d = 0; d < t->ndim; d++)
            if (!taken[d] && (least < 0 || t->strides[d] < t->strides[least]))
                least = d;
        taken[least] = true;
        if (t->sizes[least] < 2)
            continue;
        if (t->strides[least] <= reach)
            return true;
        reach += (t->sizes[least] - 1) * t->strides[least];
    }
    return false;
}

tn_status tn__flat_like(const tn_tensor *t, const double *v, tn_tensor **out)
{
    int64_t size = 8 * parts(t), n = tn_tensor_storage_bytes(t) / size;
    const void *data = tn_tensor_storage_data(t);
    if (!data || n * size > MOST_COPIED || overlaps(t)) {
        TN__TRY(tn_tensor_new(t->ndim, t->sizes, t->dtype, t->device, out));
    } else {
        tn_tensor *base;
        TN__TRY(tn_tensor_new(1, &n, t->dtype, t->device, &base));
        if (n > 0)
            memset(base->data, 0, (size_t)(n * size));
        tn_status status =
            tn_tensor_view(base, t->ndim, t->sizes, t->strides, tn_tensor_offset(t), out);
        tn_release(base);
        TN__TRY(status);
    }
    tn__flat_write(*out, v);
    return TN_OK;
}

tn_status tn__flat_complex(const tn_tensor *t, const double *v, const double *w, tn_tensor **out)
{
    TN__TRY(tn_tensor_new(t->ndim, t->sizes, TN_C128, t->device, out));
    double *to = (*out)->data;
    for (int64_t i = 0; i < t->numel; i++) {
        to[2 * i] = v[i];
        to[2 * i + 1] = w ? w[i] : 0;
    }
    return TN_OK;
}

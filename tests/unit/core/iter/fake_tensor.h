/* fake_tensor.h - tensors on the stack for tests below the tensor layer: geometry over memory the
 * test owns. */
#ifndef TN_TEST_FAKE_TENSOR_H
#define TN_TEST_FAKE_TENSOR_H

#include <string.h>

#include "core/tensor/tensor_impl.h"

typedef struct fake {
    tn__tensor t;
    int64_t dims[2 * TN_MAX_DIMS];
} fake;

static inline int64_t fake_offset_bytes(const fake *f)
{
    return f->t.offset * tn__dtype_sizes[f->t.pub.dtype];
}

/* strides NULL: row-major. memory NULL: no data. */
static inline tn_tensor *fake_make(fake *f, tn__storage *storage, void *memory, int dtype, int ndim,
                                   const int64_t *sizes, const int64_t *strides, int64_t offset)
{
    memset(f, 0, sizeof *f);
    int64_t *own = f->dims + TN_MAX_DIMS;
    for (int d = 0; d < ndim; d++)
        f->dims[d] = sizes[d];
    if (strides)
        memcpy(own, strides, (size_t)ndim * sizeof *own);
    else
        tn__contiguous_strides(ndim, sizes, own);
    f->t.pub.sizes = f->dims;
    f->t.pub.strides = own;
    f->t.pub.ndim = (uint8_t)ndim;
    f->t.pub.dtype = (uint8_t)dtype;
    f->t.pub.numel = 1;
    for (int d = 0; d < ndim; d++)
        f->t.pub.numel *= sizes[d];
    f->t.storage = storage;
    f->t.offset = offset;
    if (tn__is_contiguous(ndim, f->dims, own))
        f->t.pub.flags |= TN_TENSOR_CONTIGUOUS;
    if (tn__is_dense(ndim, f->dims, own))
        f->t.pub.flags |= TN_TENSOR_DENSE;
    if (memory)
        f->t.pub.data = (char *)memory + fake_offset_bytes(f);
    return &f->t.pub;
}

#define DIMS(...) ((const int64_t[]){__VA_ARGS__})

#endif

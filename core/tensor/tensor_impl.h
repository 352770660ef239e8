/* tensor_impl.h - the whole tensor: the public prefix that kernels read, and what only the core
 * touches. */
#ifndef TN_CORE_TENSOR_IMPL_H
#define TN_CORE_TENSOR_IMPL_H

#include <stdatomic.h>

#include "core/base/base.h"

enum { TN__INLINE_DIMS = 5 };

/* Memory with a reference count. Host storages have their data in the same block, behind this
 * header. */
typedef struct tn__storage {
    atomic_int refs;
    tn_device device;
    atomic_uint version; /* bumped by every write through any view */
    uint32_t pair_class; /* of host data that stands behind the header: pairs.h; 0: other */
    void *data;
    size_t bytes;
    void (*release)(void *owner, void *data,
                    size_t bytes); /* NULL: data stands behind the header */
    void *owner;
    const char *written_file; /* call site of the last write; NULL: none known */
    int32_t written_line;
    atomic_uint savers; /* nodes of a graph that hold one of its tensors, and may have to let go */
} tn__storage;

typedef struct tn__tensor {
    tn_tensor pub; /* first: a tn_tensor * is a tn__tensor * */
    atomic_int refs;
    uint16_t dims_capacity; /* of dims, in dimensions */
    uint16_t
        moves; /* how often it was given other memory (replace.c); then it has no inline dims */
    tn__storage *storage;
    int64_t offset;  /* elements */
    void *autograd;  /* autograd's record (core/autograd); dropped with the tensor */
    tn_tensor *base; /* of a view that gradients flow through: the tensor it is a view of, which is
                        none itself; held */
    int64_t
        *dims; /* sizes then strides: inline_dims, or a heap block for more than TN__INLINE_DIMS */
    int64_t inline_dims[2 * TN__INLINE_DIMS];
} tn__tensor;

/* Device, dtype, number of dimensions and flags of a tn_tensor are one word. */
enum { TN__KIND_BYTES = 8 };
_Static_assert(offsetof(tn_tensor, flags) + sizeof(uint16_t) ==
                   offsetof(tn_tensor, device) + TN__KIND_BYTES,
               "device, dtype, ndim and flags fill one word");

/* What tensors made by this thread are given: set by grad mode and inference mode. */
typedef struct tn__tensor_mode {
    uint64_t view_keys; /* of a view that has a base: the Autograd key, 0 without gradients */
    uint16_t flags;     /* of every tensor: TN_TENSOR_INFERENCE */
} tn__tensor_mode;
extern _Thread_local tn__tensor_mode tn__mode_tls __attribute__((tls_model("initial-exec")));

/* Autograd's way to drop its record with the tensor; set when the first record is made. */
extern void (*_Atomic tn__autograd_drop)(tn__tensor *t);
/* Whether gradients allow that t gets the memory of `of` and this shape; set with it. */
extern tn_status (*_Atomic tn__autograd_replace)(tn_call *call, const tn_tensor *t,
                                                 const tn_tensor *of, tn_ints sizes);

static inline tn__tensor *tn__impl(const tn_tensor *t)
{
    return (tn__tensor *)t;
}

/* The Autograd functionality's bit of a key set (core/dispatch/dispatch.h asserts it). */
#define TN__KEY_AUTOGRAD (UINT64_C(1) << 11)
/* What a plain tensor's keys consist of: its backend and the dense functionality. */
#define TN__KEYS_PLAIN UINT64_C(0x1ff)

_Static_assert((TN_DTYPES_FLOATING | TN_DTYPES_COMPLEX) ==
                   (TN_DTYPES_ALL & ~(TN_DTYPE_BIT(TN_F16) - 1)),
               "the dtypes that carry gradients are the last ones");

/* A flag of a view that was made in no-grad mode of what may have a history: nobody follows what is
 * written through it, so that a recorded call must not. Such views carry the Autograd key, and are
 * recognised there. */
#define TN__TENSOR_UNFOLLOWED (UINT16_C(1) << 15)

/* The keys of a view `t` of `of`, whose base is `base`. A view of one that is not followed is not
 * followed either; one of a tensor without history, made in no-grad mode, pays nothing. */
static inline void tn__view_follow(tn__tensor *t, const tn_tensor *of, const tn_tensor *base)
{
    if (TN__LIKELY(tn__mode_tls.view_keys != 0)) {
        if (TN__LIKELY(of == base)) {
            t->pub.keys |= TN__KEY_AUTOGRAD;
            return;
        }
        t->pub.keys |= of->keys & TN__KEY_AUTOGRAD;
        t->pub.flags |= of->flags & TN__TENSOR_UNFOLLOWED;
    } else if ((of->keys | base->keys) & TN__KEY_AUTOGRAD) {
        t->pub.keys |= TN__KEY_AUTOGRAD;
        t->pub.flags |= TN__TENSOR_UNFOLLOWED;
    }
}

/* Ties a view to its base, so that a write through one is seen by the other's history. Integers
 * carry no gradient; inference mode knows of none. */
static inline void tn__view_bind(tn__tensor *t, tn__tensor *of)
{
    tn_tensor *base = of->base ? of->base : &of->pub;
    t->base = NULL;
    if (t->pub.dtype < TN_F16 || base->dtype < TN_F16)
        return;
    if (TN__UNLIKELY((t->pub.flags | base->flags) & TN_TENSOR_INFERENCE)) {
        t->pub.flags |= TN_TENSOR_INFERENCE;
        return;
    }
    atomic_fetch_add_explicit(&tn__impl(base)->refs, 1, memory_order_relaxed);
    t->base = base;
    tn__view_follow(t, &of->pub, base);
}

/* ---- storage.c ------------------------------------------------------------------------------- */
tn_status tn__storage_new(tn_call *call, size_t bytes, tn_device device, tn__storage **out);
tn_status tn__storage_from_memory(tn_call *call, void *data, size_t bytes, tn_device device,
                                  void (*release)(void *owner, void *data, size_t bytes),
                                  void *owner, tn__storage **out);
void tn__storage_keep_memory(void *owner, void *data,
                             size_t bytes); /* a release that does nothing */
void tn__storage_release(tn__storage *s);
struct tn_stream;
/* Work on that stream of the device uses it from now on, too: so its memory goes back with more care. */
void tn__storage_used_on(tn__storage *s, tn_device device, const struct tn_stream *stream);
void tn__storage_free(tn__storage *s); /* whose last reference has gone */
enum {
    TN__STORAGE_HEADER = 64,
    TN__STORAGE_SMALL = 8192
}; /* bytes before host data; what counts as small */

/* ---- tensor.c -------------------------------------------------------------------------------- */
tn_status tn__tensor_new(tn_call *call, int64_t ndim, const int64_t *sizes, tn_dtype dtype,
                         tn_device device, tn_tensor **out);
tn_status tn__tensor_new_strided(tn_call *call, int64_t ndim, const int64_t *sizes,
                                 const int64_t *strides, tn_dtype dtype, tn_device device,
                                 tn_tensor **out);
tn_status tn__tensor_view(tn_call *call, tn_tensor *base, int64_t ndim, const int64_t *sizes,
                          const int64_t *strides, int64_t offset, tn_dtype dtype, tn_tensor **out);
/* The same by the long road: any number of dimensions, every error with its words. */
tn_status tn__tensor_view_with_care(tn_call *call, tn_tensor *base, int64_t ndim,
                                    const int64_t *sizes, const int64_t *strides, int64_t offset,
                                    tn_dtype dtype, tn_tensor **out);
/* A view with dimension d of the result being dims[d] of base: a permutation of 0 .. ndim-1, which
 * the caller has checked. */
tn_status tn__tensor_permuted(tn_call *call, tn_tensor *base, const uint8_t *dims, tn_tensor **out);
tn_status tn__tensor_resize(tn_call *call, tn_tensor *t, int64_t ndim, const int64_t *sizes);
tn_status tn__tensor_set_geometry(tn_call *call, tn_tensor *t, int64_t ndim, const int64_t *sizes,
                                  const int64_t *strides, int64_t offset);
/* replace.c: t itself becomes a view of the memory of `of`, which may be t: set_ and resize_. It is no
 * view of its former base any more, nor are its views views of it. */
tn_status tn__tensor_set_memory(tn_call *call, tn_tensor *t, tn_tensor *of, int64_t ndim,
                                const int64_t *sizes, const int64_t *strides, int64_t offset);
/* Room for so many dimensions; what was there is lost. */
tn_status tn__tensor_grow_dims(tn_call *call, tn__tensor *t, int64_t ndim);
void tn__tensor_retain(tn_tensor *t);
void tn__tensor_release(tn_tensor *t);
tn_status tn__tensors_new(tn_call *call, int64_t len, tn_tensors *out);
void tn__tensors_release(tn_tensors *list);

/* ---- geometry.c: sizes and strides, no memory ------------------------------------------------ */
/* Element count; an error when it, or a partial row-major stride, overflows ("overflow", with the
 * shape). */
tn_status tn__numel(tn_call *call, int64_t ndim, const int64_t *sizes, int64_t *out);
void tn__contiguous_strides(int64_t ndim, const int64_t *sizes, int64_t *strides);
bool tn__is_contiguous(int64_t ndim, const int64_t *sizes, const int64_t *strides);
bool tn__is_dense(int64_t ndim, const int64_t *sizes, const int64_t *strides);
/* Elements that a strided tensor spans, from its first to its last inclusive; 0 when empty; -1 on
 * overflow. */
int64_t tn__span(int64_t ndim, const int64_t *sizes, const int64_t *strides);

/* ---- overlap.c ------------------------------------------------------------------------------- */
tn_status tn__check_no_internal_overlap(tn_call *call, const tn_tensor *t);
tn_status tn__check_no_overlap(tn_call *call, const tn_tensor *out,
                               const tn_tensor *in); /* partial only */

#endif

/* replace.c - other memory for a tensor that is there: what set_ and resize_ do.
 *
 * Everybody else who has the old memory keeps it. Views are tied to the tensor, not to its memory, so
 * a view whose base has other memory than itself is on its own from then on; and what a graph has
 * saved is the tensor, so it counts how often it was moved. The count must not be inherited by the
 * next tensor that the struct serves: a moved tensor has no inline dims, so its struct is not kept
 * (pairs.h). */
#include <string.h>

#include "core/base/devices.h"
#include "core/tensor/tensor_impl.h"

static tn_status check_alike(tn_call *call, const tn_tensor *t, const tn_tensor *of)
{
    char here[32], there[32];
    if (t->dtype != of->dtype)
        return tn__fail(call, TN_ERR_DTYPE,
                        "a tensor of dtype %s cannot have the memory of one of dtype %s; they must "
                        "be alike",
                        tn__dtype_name(t->dtype), tn__dtype_name(of->dtype));
    if (!tn__same_device_as(t->device, of->device))
        return tn__fail(call, TN_ERR_DEVICE,
                        "a tensor on %s cannot have the memory of one on %s; they must be alike",
                        tn__device_text(here, t->device), tn__device_text(there, of->device));
    return TN_OK;
}

/* Puts the geometry into a block of its own. */
static void move_dims(tn__tensor *t, int64_t *room, int64_t capacity)
{
    size_t bytes = t->pub.ndim * sizeof *room;
    memcpy(room, t->pub.sizes, bytes);
    memcpy(room + capacity, t->pub.strides, bytes);
    if (t->dims != t->inline_dims)
        tn__free(t->dims);
    t->dims = room;
    t->dims_capacity = (uint16_t)capacity;
    t->pub.sizes = room;
    t->pub.strides = room + capacity;
}

/* The geometry is checked against the new memory, and taken, or all is as it was. */
static tn_status take_memory(tn_call *call, tn__tensor *t, tn__storage *s, int64_t ndim,
                             const int64_t *sizes, const int64_t *strides, int64_t offset)
{
    int64_t capacity = ndim > TN__INLINE_DIMS ? ndim : TN__INLINE_DIMS + 1;
    int64_t *room = tn__alloc(2 * (size_t)capacity * sizeof *room);
    if (!room)
        return tn__fail_memory(call, 2 * (size_t)capacity * sizeof *room);
    tn__storage *before = t->storage;
    t->storage = s;
    tn_status status = tn__tensor_set_geometry(call, &t->pub, ndim, sizes, strides, offset);
    if (status != TN_OK) {
        t->storage = before;
        tn__free(room);
        return status;
    }
    move_dims(t, room, capacity);
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    tn__storage_release(before);
    t->moves++;
    return TN_OK;
}

tn_status tn__tensor_set_memory(tn_call *call, tn_tensor *t, tn_tensor *of, int64_t ndim,
                                const int64_t *sizes, const int64_t *strides, int64_t offset)
{
    tn__tensor *self = tn__impl(t);
    tn__storage *s = tn__impl(of)->storage;
    int64_t numel;
    TN__TRY(check_alike(call, t, of));
    TN__TRY(tn__numel(call, ndim, sizes, &numel));
    tn_status (*allows)(tn_call *, const tn_tensor *, const tn_tensor *, tn_ints) =
        atomic_load_explicit(&tn__autograd_replace, memory_order_acquire);
    if (allows)
        TN__TRY(allows(call, t, of, (tn_ints){sizes, ndim}));
    if (s == self->storage)
        return tn__tensor_set_geometry(call, t, ndim, sizes, strides, offset);
    TN__TRY(take_memory(call, self, s, ndim, sizes, strides, offset));
    t->flags =
        (uint16_t)((t->flags & ~TN_TENSOR_WRAPPED_NUMBER) | (of->flags & TN_TENSOR_INFERENCE));
    if (!self->base)
        return TN_OK;
    tn__tensor_release(self->base);
    self->base = NULL;
    t->flags &= (uint16_t)~TN__TENSOR_UNFOLLOWED;
    if (!self->autograd)
        t->keys &= ~TN__KEY_AUTOGRAD;
    return TN_OK;
}

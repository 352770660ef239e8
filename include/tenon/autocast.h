/* autocast.h - mixed precision: inside of a block, operators that are fast in a half dtype get their
 * floating arguments in it, and operators that need digits get them in float32.
 *
 *     tn_tensor *loss = NULL;
 *     TN_AUTOCAST (TN_CPU, TN_BF16) {
 *         loss = tn_cross_entropy_loss(tn_linear(x, w, .bias = b), classes);
 *     }
 *     tn_backward_from(loss);
 *
 * Which operator is of which kind: plugins/autocast/README.md. Casts are recorded, so that gradients
 * come back in the dtype that an argument has; a backward pass itself is never cast. What a call
 * writes is never a cast copy: in-place and out= forms keep the dtype of what they write.
 *
 * Threads: a block is its thread's own. */
#ifndef TENON_AUTOCAST_H
#define TENON_AUTOCAST_H

#include <tenon/base.h>

TN_BEGIN_DECLS

/* ---- for programs ---------------------------------------------------------------------------- */
typedef struct tn_autocast {
    uint64_t held[2]; /* what tn_autocast_leave restores */
} tn_autocast;

/* From now on calls on tensors of that device type are cast; `dtype` is the lower precision: TN_BF16
 * or TN_F16; TN_DTYPE_NONE: bf16 on the CPU, f16 elsewhere. An error, which leaves all as it was, for
 * another dtype, and where no plugin casts for that device type. Blocks nest; leave them in the
 * opposite order, each once, and not one whose enter failed. */
TN_API tn_status tn_autocast_enter(tn_autocast *a, int16_t device_type, tn_dtype dtype);
/* From now on they are not. */
TN_API void tn_autocast_pause(tn_autocast *a, int16_t device_type);
TN_API void tn_autocast_leave(tn_autocast *a);
/* The lower precision in force for that device type; TN_DTYPE_NONE: nothing is cast. */
TN_API tn_dtype tn_autocast_dtype(int16_t device_type);

#if defined(__GNUC__) && !defined(__cplusplus)
static inline tn_autocast *tn_autocast_begin(tn_autocast *a, int16_t device_type, tn_dtype dtype)
{
    if (tn_autocast_enter(a, device_type, dtype) == TN_OK)
        return a;
    tn_autocast_pause(a, device_type); /* what the block's end undoes */
    return NULL;
}
static inline tn_autocast *tn_autocast_begin_pause(tn_autocast *a, int16_t device_type)
{
    tn_autocast_pause(a, device_type);
    return a;
}
/* A block; left in any way but longjmp. One that cannot be entered is skipped: the thread's error
 * record says why. */
#define TN_AUTOCAST_BLOCK(begin)                                                                   \
    for (tn_autocast tn_autocast_here __attribute__((cleanup(tn_autocast_leave))),                 \
         *tn_autocast_once = begin;                                                                \
         tn_autocast_once; tn_autocast_once = NULL)
#define TN_AUTOCAST(device_type, dtype)                                                            \
    TN_AUTOCAST_BLOCK (tn_autocast_begin(&tn_autocast_here, device_type, dtype))
#define TN_NO_AUTOCAST(device_type)                                                                \
    TN_AUTOCAST_BLOCK (tn_autocast_begin_pause(&tn_autocast_here, device_type))
#endif

/* ---- for the plugin that casts --------------------------------------------------------------- */
/* The ability "tenon.autocast.draft", revision 1 (tn->extension). A draft: it may change or go. Its
 * kernels stand under the keys AutocastCPU, AutocastCUDA, ...; they are reached while some device
 * type of the thread is cast, and ask which. */
#define TN_AUTOCAST_ABILITY "tenon.autocast.draft"
typedef struct tn_autocast_api {
    uint32_t size, reserved;
    tn_dtype (*dtype)(int16_t device_type); /* tn_autocast_dtype */
} tn_autocast_api;

TN_END_DECLS
#endif

/* base.h - the words that every other header uses: status codes, dtypes, devices, layouts, formats.
 *
 * Everything here is plain data with fixed numbers; the numbers are part of the plugin border and
 * never change their meaning. */
#ifndef TENON_BASE_H
#define TENON_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define TN_BEGIN_DECLS extern "C" {
#define TN_END_DECLS }
#else
#define TN_BEGIN_DECLS
#define TN_END_DECLS
#endif

#if defined(__GNUC__)
#define TN_EXPORT __attribute__((visibility("default")))
#if defined(__has_attribute) && __has_attribute(noplt)
#define TN_API TN_EXPORT __attribute__((noplt)) /* a call is one jump, through the GOT */
#else
#define TN_API TN_EXPORT
#endif
#define TN_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define TN_COLD __attribute__((cold, noinline))
#else
#define TN_EXPORT
#define TN_API
#define TN_PRINTF(fmt, args)
#define TN_COLD
#endif

/* The result of everything that can fail. 0 is success; the message stands in the thread's error
 * record (tenon/error.h). */
typedef int32_t tn_status;
enum {
    TN_OK = 0,
    TN_ERR_ARGUMENT = 1, /* a value, shape or combination that the operator does not take */
    TN_ERR_INDEX = 2,    /* a dimension or index out of its range */
    TN_ERR_DTYPE = 3,    /* a dtype that cannot be used or cast here */
    TN_ERR_DEVICE = 4,   /* tensors on different devices, or a device that is not there */
    TN_ERR_OVERLAP = 5,  /* written memory shares elements with itself or with an input */
    TN_ERR_OVERFLOW = 6, /* a size, a stride or a byte count does not fit */
    TN_ERR_UNSUPPORTED =
        7, /* a true answer: this backend does not do this; the message says what does */
    TN_ERR_NO_KERNEL = 8, /* no plugin registered a kernel for the call's keys */
    TN_ERR_MEMORY = 9,    /* out of memory */
    TN_ERR_SCHEMA = 10,   /* a schema string that is wrong, or two that do not agree */
    TN_ERR_PLUGIN = 11,   /* a plugin that cannot be loaded, or broke the border's rules */
    TN_ERR_INTERNAL = 12, /* an invariant of Tenon does not hold: a bug to report */
    TN_ERR_AUTOGRAD = 13, /* a gradient that does not exist, or whose saved tensors are gone */
    TN_ERR_LAST = TN_ERR_AUTOGRAD,
};

/* Element types. Order is ours and frozen; TN_DTYPE_NONE is an absent `ScalarType?`. */
typedef int32_t tn_dtype;
typedef int32_t tn_field_kind; /* TN_FIELD_TENSOR ...: tenon/border.h */
enum {
    TN_DTYPE_NONE = -1,
    TN_BOOL = 0,
    TN_U8 = 1,
    TN_I8 = 2,
    TN_I16 = 3,
    TN_I32 = 4,
    TN_I64 = 5,
    TN_F16 = 6,
    TN_BF16 = 7,
    TN_F32 = 8,
    TN_F64 = 9,
    TN_C64 = 10,  /* two f32 */
    TN_C128 = 11, /* two f64 */
    TN_DTYPE_COUNT = 12,
};

/* A set of dtypes: bit TN_F32 set means f32 is in it. */
typedef uint32_t tn_dtypes;
#define TN_DTYPE_BIT(dtype) (1u << (dtype))
#define TN_DTYPES_INTEGRAL 0x03eu /* u8 i8 i16 i32 i64 */
#define TN_DTYPES_WHOLE 0x03fu    /* those and bool */
#define TN_DTYPES_FLOATING 0x3c0u /* f16 bf16 f32 f64 */
#define TN_DTYPES_COMPLEX 0xc00u  /* c64 c128 */
#define TN_DTYPES_ALL 0xfffu      /* all of these */

/* Whether a dtype is in a set. A dtype's number says nothing of its kind: ask so. */
static inline bool tn_dtype_in(tn_dtype dtype, tn_dtypes set)
{
    return dtype >= 0 && (set & TN_DTYPE_BIT(dtype)) != 0;
}

/* A device: its type and which one of that type. Types from 3 on are given to plugins' devices by
 * name, at registration. {-1, -1} is an absent `Device?`. index -1 is "the current one". */
typedef struct tn_device {
    int16_t type;
    int16_t index;
} tn_device;
enum { TN_DEVICE_NONE = -1, TN_CPU = 0, TN_CUDA = 1, TN_META = 2, TN_DEVICE_TYPES = 8 };

/* A missing Layout?, MemoryFormat?, QScheme? argument is -1. */
typedef int32_t tn_layout;
enum { TN_LAYOUT_NONE = -1, TN_STRIDED = 0 };
typedef int32_t tn_memory_format;
enum {
    TN_FORMAT_NONE = -1,
    TN_CONTIGUOUS = 0,
    TN_PRESERVE = 1,
    TN_CHANNELS_LAST = 2,
    TN_CHANNELS_LAST_3D = 3,
};

/* Limits of the frame and the iterator. */
enum { TN_MAX_DIMS = 64, TN_MAX_OPERANDS = 8 };

#endif

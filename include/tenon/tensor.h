/* tensor.h - making, holding and reading tensors; scopes.
 *
 * Ownership: a tensor that a function writes through `out` has one reference, the caller's.
 * Expression calls (tenon/ops.h) hand their results to the innermost open scope instead. Threads:
 * reference counts are atomic; a tensor may be read from any thread, written from one at a time. */
#ifndef TENON_TENSOR_H
#define TENON_TENSOR_H

#include <tenon/error.h>
#include <tenon/number.h>

TN_BEGIN_DECLS

TN_API void tn_retain(tn_tensor *t);
TN_API void tn_release(tn_tensor *t); /* NULL is fine */
/* A Tensor[] result, as tn_call_split_Tensor and its kin give it: its tensors, and the list
 * itself. */
TN_API void tn_tensors_release(tn_tensors *list);

/* A copy of `data` (row-major, host memory). */
TN_API tn_status tn_tensor_from_data(const void *data, tn_dtype dtype, int64_t ndim,
                                     const int64_t *sizes, tn_tensor **out);
/* A tensor over memory that stays the caller's until `release` (may be NULL) is called with
 * `owner`. */
TN_API tn_status tn_tensor_from_memory(void *data, tn_dtype dtype, int64_t ndim,
                                       const int64_t *sizes, const int64_t *strides,
                                       void (*release)(void *owner, void *data, size_t bytes),
                                       void *owner, tn_tensor **out);
/* "cpu", "cuda:1", or a device type that a plugin has brought. */
TN_API tn_status tn_device_parse(const char *text, tn_device *out);
TN_API tn_status tn_tensor_new(int64_t ndim, const int64_t *sizes, tn_dtype dtype, tn_device device,
                               tn_tensor **out); /* uninitialised */
/* A tensor of given geometry over another one's storage. offset in elements. */
TN_API tn_status tn_tensor_view(tn_tensor *base, int64_t ndim, const int64_t *sizes,
                                const int64_t *strides, int64_t offset, tn_tensor **out);
TN_API int64_t tn_tensor_offset(const tn_tensor *t);
TN_API int64_t tn_tensor_storage_bytes(const tn_tensor *t);
TN_API void *tn_tensor_storage_data(const tn_tensor *t);
TN_API bool tn_tensor_same_storage(const tn_tensor *a, const tn_tensor *b);
TN_API uint32_t tn_tensor_version(const tn_tensor *t); /* grows with every write through any view */

/* The element of a one-element host tensor. */
TN_API tn_status tn_tensor_item(const tn_tensor *t, tn_scalar *out);

/* ---- numbers --------------------------------------------------------------------------------- */
static inline tn_scalar tn_scalar_same(tn_scalar s)
{
    return s;
}
/* The element of a one-element host tensor as a double (of a complex one: its real part), to print
 * or compare. NaN, with the error recorded, when there is no such element; NaN for NULL. */
static inline double tn_as_double(const tn_tensor *t)
{
    tn_scalar s = tn_scalar_float(__builtin_nan(""));
    if (t && tn_tensor_item(t, &s) != TN_OK)
        return __builtin_nan("");
    return s.kind == TN_SCALAR_INT || s.kind == TN_SCALAR_BOOL ? (double)s.v.i : s.v.f;
}
/* What an expression's option holds when it is left out and has no default: values that no
 * computation makes. */
#define TN_ABSENT __builtin_nan("0x7e11abe")
#define TN_ABSENT_INT (-0x7e11abe7e11abe0)
#ifndef __cplusplus
/* Any C number, or a tn_scalar, as a tn_scalar; a C bool, integer or floating type keeps its
 * kind. */
#define TN_NUM(x)                                                                                  \
    _Generic((x), tn_scalar                                                                        \
             : tn_scalar_same, bool                                                                \
             : tn_scalar_bool, float                                                               \
             : tn_scalar_float, double                                                             \
             : tn_scalar_float, default                                                            \
             : tn_scalar_int)(x)
/* For operands that may be a tensor or a number: which it is, known when compiling, and the value
 * as the one that it is (as the other: a placeholder of the right type). */
#define TN_IS_NUMBER(x) _Generic((x), tn_tensor * : 0, void * : 0, default : 1)
#define TN_THE_NUMBER(x) TN_NUM(_Generic((x), tn_tensor * : 0, void * : 0, default : (x)))
#define TN_THE_TENSOR(x) _Generic((x), tn_tensor * : (x), void * : (x), default : (tn_tensor *)NULL)
/* A list of integers that lives as long as the enclosing block: TN_INTS(2, 3). */
#define TN_INTS(...)                                                                               \
    ((tn_ints){(const int64_t[]){__VA_ARGS__},                                                     \
               sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)})
#define TN_TENSORS(...)                                                                            \
    ((tn_tensors){(tn_tensor *[]){__VA_ARGS__},                                                    \
                  sizeof((tn_tensor *[]){__VA_ARGS__}) / sizeof(tn_tensor *)})
#endif

/* ---- scopes ---------------------------------------------------------------------------------- */
/* TN_SCOPE { ... } releases what expression calls made inside it, however the block is left. */
typedef struct tn_scope {
    struct tn_scope *outer;
    tn_tensor **tensors;
    int64_t count, capacity;
    tn_tensor *first[16];
} tn_scope;
TN_API void tn_scope_enter(tn_scope *s);
TN_API void tn_scope_leave(tn_scope *s);
/* Takes t out of its scope: the caller owns it now. Passes NULL through, so that it wraps an
 * expression. */
TN_API tn_tensor *tn_keep(tn_tensor *t);
/* The other way: gives a tensor that the caller owns to the innermost scope. NULL passes through,
 * and is what comes when memory ran out, with t released. */
TN_API tn_tensor *tn_scoped(tn_tensor *t);
#if defined(__GNUC__) && !defined(__cplusplus)
static inline tn_scope *tn_scope_begin(tn_scope *s)
{
    tn_scope_enter(s);
    return s;
}
#define TN_SCOPE                                                                                   \
    for (tn_scope tn_scope_here __attribute__((cleanup(tn_scope_leave))),                          \
         *tn_scope_once = tn_scope_begin(&tn_scope_here);                                          \
         tn_scope_once; tn_scope_once = NULL)
#endif

TN_END_DECLS
#endif

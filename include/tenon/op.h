/* op.h - operators as data: find them, read their schemas, walk and call any frame without
 * generated code.
 *
 * A generic layer (replay, profiler, tracer, a language binding) needs nothing but this header:
 * tn_op_fields says what stands where in the frame, and the same frame goes to tn_op_call. */
#ifndef TENON_OP_H
#define TENON_OP_H

#include <tenon/border.h>
#include <tenon/error.h>

TN_BEGIN_DECLS

/* "aten::add.Tensor", "add.Tensor" (aten is assumed) or a whole schema. NULL when there is none. */
TN_API const tn_op *tn_op_find(const char *name);
TN_API const char *tn_op_name(const tn_op *op);
TN_API const char *tn_op_schema(const tn_op *op);
/* The fields: n_results results first, then n_args arguments. */
TN_API const tn_field *tn_op_fields(const tn_op *op, int *n_results, int *n_args);
TN_API uint32_t tn_op_frame_size(const tn_op *op);
/* Sets size, zeroes the results and fills every argument: its default where the schema has one,
 * else the absent value. `frame` has tn_op_frame_size bytes, 8-aligned. */
TN_API void tn_op_frame_init(const tn_op *op, void *frame);
/* Releases the results in the frame and zeroes them. */
TN_API void tn_op_frame_release(const tn_op *op, void *frame);

/* Calls through the dispatcher. On success the results in the frame belong to the caller; on
 * failure they are zero. Arguments are borrowed. */
TN_API tn_status tn_op_call(const tn_op *op, void *frame);
TN_API tn_status tn_op_call_at(const tn_op *op, void *frame, const char *file, int line);

/* Every registered operator, by name: i from 0; NULL at the end. Indices move when plugins load. */
TN_API const tn_op *tn_op_at(size_t i);

/* Which plugin serves a key: "cpu", "" when nothing does. How says why: "kernel",
 * "CompositeImplicitAutograd", "fallback", "fallthrough", "ambiguous", "missing". Keys: "CPU",
 * "Meta", "AutogradCPU", ... */
TN_API const char *tn_op_server(const tn_op *op, const char *key, const char **how);
TN_API tn_dtypes tn_op_dtypes(const tn_op *op,
                              const char *key); /* claimed there; 0: nothing serves the key */

/* Runtime keys by slot, for loops over all of them; NULL at the end, "" for a slot that no device
 * type has. The text stays as it is until the thread's next call. */
TN_API const char *tn_key_at(int slot);
/* Gives every call of this thread the key of a functionality ("Tracer"), or no longer; false: there
 * is no such one. */
TN_API bool tn_key_include(const char *functionality, bool on);

TN_END_DECLS
#endif

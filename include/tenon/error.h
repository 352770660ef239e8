/* error.h - the thread's error record: what went wrong, where, and who raised it. */
#ifndef TENON_ERROR_H
#define TENON_ERROR_H

#include <tenon/base.h>

TN_BEGIN_DECLS

/* Fields that do not apply are "" or 0. Valid until the thread's next failing call or
 * tn_error_clear. */
typedef struct tn_error {
    tn_status status;
    const char *message; /* one line: operator, argument, expected, got */
    const char *op;      /* "aten::add.Tensor" */
    const char
        *plugin;      /* "cpu 1.0.0 (/usr/lib/tenon/plugins/cpu.so)"; "" when the core raised it */
    const char *file; /* the call site */
    int line;
} tn_error;

/* The thread's record; status TN_OK when nothing failed since the last clear.
 *
 * Which failure it holds: a call that returns a tn_status overwrites the record, so the message
 * belongs to the status just returned. An expression call (tn_add(..)) has no status to return, so
 * its failure stays: the first one wins until tn_error_clear. */
TN_API const tn_error *tn_error_last(void);
TN_API void tn_error_clear(void);
TN_API const char *tn_status_name(tn_status status); /* "argument", "dtype", ... */

TN_END_DECLS
#endif

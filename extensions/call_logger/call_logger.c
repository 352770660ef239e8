/* call_logger.c - a line for every call: a kernel that stands between any operator and its caller.
 * It knows no operator; each frame is read by its fields. */
#include <stdio.h>
#include <stdlib.h>

#include "call_logger.h"

static FILE *log_file;

static void add_fields(line *l, const tn_field *fields, int n, const void *frame, bool names)
{
    for (int i = 0; i < n; i++) {
        line_add(l, i ? ", " : "");
        if (names)
            line_add(l, "%s=", fields[i].name);
        line_add_field(l, &fields[i], frame);
    }
}

/* Arguments are read before the call, because an in-place operator may change their shape. */
static tn_status log_call(tn_call *call, void *frame)
{
    int n_results, n_args;
    const tn_field *fields = tn->op_fields(call->op, &n_results, &n_args);
    line l = {.n = 0};
    line_add(&l, "%s(", tn->op_name(call->op));
    add_fields(&l, fields + n_results, n_args, frame, true);
    line_add(&l, ")");
    tn_status status = tn->call_next(call, frame);
    line_add(&l, status == TN_OK ? " -> " : " failed");
    if (status == TN_OK)
        add_fields(&l, fields, n_results, frame, false);
    fprintf(log_file, "%s\n", l.text); /* one call of stdio: lines of two threads do not mix */
    return status;
}

static const tn_kernel_decl every_operator = {.schema = "*", .key = "Tracer", .fn = log_call};

static tn_status start(tn_registry *r)
{
    const char *path = getenv("CALL_LOGGER");
    log_file = path ? fopen(path, "w") : stderr;
    if (!log_file)
        return tn->fail(NULL, TN_ERR_PLUGIN, "CALL_LOGGER: the file '%s' cannot be written", path);
    setvbuf(log_file, NULL, _IOLBF, 0);
    return tn->register_kernels(r, &every_operator, 1);
}

TN_PLUGIN("call_logger", "1.0.0", start, NULL);

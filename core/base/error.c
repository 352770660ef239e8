/* error.c - the thread's error record.
 *
 * A record is written once, where the failure happens; callers undo their work and pass the status
 * on. The core adds who failed (operator, plugin) and where the call was made, from the call in
 * flight. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/provenance.h"

enum { MESSAGE_CHARS = sizeof((tn__error_record){0}.message) };

typedef tn__error_record record;

static _Thread_local record tls_record;

tn_status tn__fail(tn_call *call, tn_status status, const char *fmt, ...)
{
    record *r = &tls_record;
    if (r->kept)
        return status;
    va_list args;
    va_start(args, fmt);
    vsnprintf(r->message, sizeof r->message, fmt, args);
    va_end(args);
    const char *plugin = call && call->op ? tn__call_plugin_text(call) : "";
    snprintf(r->plugin, sizeof r->plugin, "%s", plugin);
    r->public = (tn_error){.status = status,
                           .message = r->message,
                           .op = call && call->op ? tn__call_op_name(call) : "",
                           .plugin = r->plugin,
                           .file = call && call->file ? call->file : "",
                           .line = call ? call->line : 0};
    return status;
}

tn_status tn__fail_memory(tn_call *call, size_t bytes)
{
    return tn__fail(call, TN_ERR_MEMORY, "out of memory: %zu bytes were asked for", bytes);
}

void tn__error_set_site(const char *file, int line)
{
    record *r = &tls_record;
    if (r->kept)
        return;
    r->public.file = file;
    r->public.line = line;
}

void tn__error_prefix(const char *fmt, ...)
{
    record *r = &tls_record;
    char text[MESSAGE_CHARS];
    if (r->kept || !r->public.message)
        return;
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    size_t n = strlen(text), room = sizeof r->message - 1 - n, rest = strlen(r->message);
    if (rest > room)
        rest = room;
    memmove(r->message + n, r->message, rest);
    memcpy(r->message, text, n);
    r->message[n + rest] = '\0';
}

void tn__error_copy(tn__error_record *out)
{
    const record *r = &tls_record;
    out->public = r->public;
    out->kept = r->kept;
    memcpy(out->message, r->message, sizeof out->message);
    memcpy(out->plugin, r->plugin, sizeof out->plugin);
}

void tn__error_adopt(const tn__error_record *from)
{
    record *r = &tls_record;
    if (r->kept)
        return;
    r->public = from->public;
    r->kept = from->kept;
    memcpy(r->message, from->message, sizeof r->message);
    memcpy(r->plugin, from->plugin, sizeof r->plugin);
    r->public.message = r->message;
    r->public.plugin = r->plugin;
}

void tn__error_keep_first(void)
{
    tls_record.kept = true;
}

bool tn__error_kept(void)
{
    return tls_record.kept;
}

const tn_error *tn_error_last(void)
{
    if (!tls_record.public.message)
        tls_record.public = (tn_error){.message = "", .op = "", .plugin = "", .file = ""};
    return &tls_record.public;
}

void tn_error_clear(void)
{
    tls_record.kept = false;
    tls_record.public = (tn_error){.message = "", .op = "", .plugin = "", .file = ""};
}

const char *tn_status_name(tn_status status)
{
    static const char *const names[] = {"ok",      "argument", "index",       "dtype",     "device",
                                        "overlap", "overflow", "unsupported", "no kernel", "memory",
                                        "schema",  "plugin",   "internal",    "autograd"};
    bool known = status >= 0 && (size_t)status < sizeof names / sizeof *names;
    return known ? names[status] : "unknown";
}

const char *tn__shape_text(char *buf, int64_t ndim, const int64_t *sizes)
{
    enum { LONGEST_ITEM = 22, ROOM_FOR_DOTS = 6 };
    int at = 0;
    buf[at++] = '[';
    for (int64_t i = 0; i < ndim; i++) {
        if (at > TN__SHAPE_CHARS - LONGEST_ITEM - ROOM_FOR_DOTS) {
            at += snprintf(buf + at, (size_t)(TN__SHAPE_CHARS - at), ", ...");
            break;
        }
        at += snprintf(buf + at, (size_t)(TN__SHAPE_CHARS - at), "%s%" PRId64, i ? ", " : "",
                       sizes[i]);
    }
    snprintf(buf + at, (size_t)(TN__SHAPE_CHARS - at), "]");
    return buf;
}

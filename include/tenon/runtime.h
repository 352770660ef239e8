/* runtime.h - plugins as a program sees them: load, list, unload; the streams of their devices. */
#ifndef TENON_RUNTIME_H
#define TENON_RUNTIME_H

#include <tenon/base.h>
#include <tenon/error.h>

TN_BEGIN_DECLS

typedef struct tn_plugin_handle tn_plugin_handle;

/* Loads one plugin. All it registers appears, or nothing. Loading the same file again gives the
 * same handle with one more reference. out may be NULL. */
TN_API tn_status tn_plugin_load(const char *path, tn_plugin_handle **out);
/* Drops one reference; the last one unregisters the plugin's operators and kernels. Its code stays
 * mapped: a call, a gradient node or a thread may still be inside. An operator called afterwards is
 * an error that names it. The last one is refused, and stays, while memory of a device type that the
 * plugin brought is alive. */
TN_API tn_status tn_plugin_unload(tn_plugin_handle *p);

/* Puts today's file of a loaded plugin in the place of the code that runs, without a moment in which
 * an operator is missing; calls in flight end in the old code, which stays mapped. The handle stays
 * good, and so do operators whose schema is as it was. A file that is as it was: TN_OK, and nothing
 * happens. When the new one does not load, the old one serves on. The old exit does not run. */
TN_API tn_status tn_plugin_reload(tn_plugin_handle *p);

/* Loads every plugin of the configured directories, in sorted order: TENON_PLUGIN_PATH (ignored
 * when privileges were raised), else the directory beside libtenon.so. A plugin that does not load
 * is recorded (tn_plugin_report), and the others are loaded all the same. */
TN_API tn_status tn_plugins_load_default(void);

/* ---- streams --------------------------------------------------------------------------------- */
/* A stream is a queue of work of a device: what is put on it is done in order, and beside the work of
 * other streams. Every device has a queue without asking, where calls go that no scope sends
 * elsewhere. Nothing orders two queues but these functions; a tensor that one stream made may be used
 * on another one once that waits for it. A tensor may be released at any time: its memory is not given
 * out again before the streams that calls put it on are done with it. A backward pass puts its work
 * where the thread that asks for it is. Of a device without streams, asking for one is an error. */
typedef struct tn_stream tn_stream;
TN_API tn_status tn_stream_new(tn_device device, tn_stream **out);
/* NULL is fine. Work that is on it goes on. A stream that is alive, in the program's hands, in a scope
 * or as the one that living memory was allocated for, keeps the plugin of its device type from being
 * unloaded and reloaded. */
TN_API void tn_stream_free(tn_stream *s);
TN_API tn_device tn_stream_device(const tn_stream *s);
TN_API void *tn_stream_native(const tn_stream *s); /* the device's own: a cudaStream_t */

/* Waits for what is on the stream; for all that is on any stream of the device. */
TN_API tn_status tn_stream_synchronize(tn_stream *s);
TN_API tn_status tn_device_synchronize(tn_device device);
/* What is put on s from now on begins when what is on `other` now has ended; this call does not wait.
 * NULL, on one side, is the queue that the other one's device has without asking. */
TN_API tn_status tn_stream_wait(tn_stream *s, tn_stream *other);
TN_API tn_status tn_stream_query(tn_stream *s, bool *busy);

/* Between enter and leave, the thread's calls on the stream's device go to it. A scope holds its
 * stream; the innermost one of a device counts. */
typedef struct tn_stream_scope {
    struct tn_stream_scope *outer;
    tn_stream *stream;
    tn_device device;
} tn_stream_scope;
TN_API void tn_stream_enter(tn_stream_scope *scope, tn_stream *s);
TN_API void tn_stream_enter_default(tn_stream_scope *scope,
                                    tn_device device); /* to its own queue */
TN_API void tn_stream_leave(tn_stream_scope *scope);
#if defined(__GNUC__) && !defined(__cplusplus)
static inline tn_stream_scope *tn_stream_begin(tn_stream_scope *scope, tn_stream *s)
{
    tn_stream_enter(scope, s);
    return scope;
}
/* TN_ON_STREAM(s) { ... }, left in whatever way. */
#define TN_ON_STREAM(s)                                                                            \
    for (tn_stream_scope tn_stream_here __attribute__((cleanup(tn_stream_leave))),                 \
         *tn_stream_once = tn_stream_begin(&tn_stream_here, s);                                    \
         tn_stream_once; tn_stream_once = NULL)
#endif

/* Writes the operator calls of this process, of every thread, to a replay file (`tenon replay`), until
 * tn_record_stop or the process's end. only: "all" (NULL), "failing" (those that fail), "last" (each
 * over the one before, written ahead of the call: what a crash leaves). A program that loads the
 * default plugins under the environment variables TENON_RECORD=FILE and TENON_RECORD_ONLY=.. records
 * without a call of its own. */
TN_API tn_status tn_record_start(const char *path, const char *only);
TN_API tn_status tn_record_stop(void);

typedef struct tn_plugin_info {
    const char *path, *name, *version;
    const char *state;  /* "loaded", "skipped", "refused", "unloaded" */
    const char *reason; /* one sentence; "" when loaded */
    const char *cure;   /* what to do about it; "" when loaded */
} tn_plugin_info;
/* The i-th plugin that was tried; false at the end. */
TN_API bool tn_plugin_report(size_t i, tn_plugin_info *out);

TN_END_DECLS
#endif

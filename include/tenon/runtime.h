/* runtime.h - plugins as a program sees them: load, list, unload. */
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

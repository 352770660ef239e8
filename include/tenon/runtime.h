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
 * mapped. An operator called afterwards is an error that names it. */
TN_API tn_status tn_plugin_unload(tn_plugin_handle *p);

/* Loads every plugin of the configured directories, in sorted order: TENON_PLUGIN_PATH (ignored
 * when privileges were raised), else the directory beside libtenon.so. A plugin that does not load
 * is recorded (tn_plugin_report), and the others are loaded all the same. */
TN_API tn_status tn_plugins_load_default(void);

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

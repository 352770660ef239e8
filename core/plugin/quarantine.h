/* quarantine.h - plugins that crashed or hung when they were tried, until their file changes.
 *
 * A text file of the user's cache, `$XDG_CACHE_HOME/tenon/quarantine` (~/.cache): a line per file,
 * SIZE<space>SECONDS.NANOSECONDS<space>PATH<tab>REASON. It can only keep code out. */
#ifndef TN_CORE_PLUGIN_QUARANTINE_H
#define TN_CORE_PLUGIN_QUARANTINE_H

#include "core/plugin/plugin.h"

/* False, and f filled, when the file is in quarantine as it is now. */
bool tn__quarantine_passes(const char *path, const tn__file_id *id, tn__finding *f);

/* Puts a file in, with what f says of it; takes it out. Where the cache cannot be written nothing
 * happens. */
void tn__quarantine_add(const char *path, const tn__file_id *id, const tn__finding *f);
void tn__quarantine_forget(const char *path);

#endif

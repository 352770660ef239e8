/* plugin_impl.h - what the files of this folder share: places and trust, and the list of records.
 */
#ifndef TN_CORE_PLUGIN_IMPL_H
#define TN_CORE_PLUGIN_IMPL_H

#include "core/plugin/note.h"
#include "core/plugin/plugin.h"

/* ---- places.c -------------------------------------------------------------------------------- */
/* Fills path (PATH_MAX bytes) with the absolute path of an existing plugin file, and its identity.
 * A bare name is looked for in the configured places, never in the current directory. */
bool tn__plugin_resolve(const char *name, char *path, tn__file_id *id, tn__finding *f);
/* The configured places, one after the other: i from 0; false at the end. `out` has PATH_MAX bytes.
 * A relative one is listed too, and must not be used: it would mean the current directory. */
bool tn__plugin_place(size_t i, char *out);
/* Calls fn for every file that is a candidate, in the order of loading. `problem` says what is
 * wrong with a place that cannot be used; NULL for a candidate. */
typedef void (*tn__place_fn)(void *arg, const char *path, const tn__finding *problem);
void tn__plugin_each(tn__place_fn fn, void *arg);

/* ---- trust.c --------------------------------------------------------------------------------- */
/* Neither the file nor its directory may be writable by group or others. */
bool tn__plugin_trusted(const char *path, tn__finding *f);

/* ---- record.c: every file that was tried; the caller holds the loader's lock ------------------
 */
extern tn__plugin *tn__plugins; /* in the order of the first try */

bool tn__file_same(const tn__file_id *a, const tn__file_id *b);
bool tn__file_unchanged(const tn__file_id *a, const tn__file_id *b);

/* The record whose code was mapped from that file, under whatever path. */
tn__plugin *tn__plugin_of_file(const tn__file_id *id);
/* The record of that path, made when there is none; NULL when out of memory. */
tn__plugin *tn__plugin_of_path(const char *path);
/* The loaded plugin that a program's handle means; NULL for any other pointer. */
tn__plugin *tn__plugin_of_handle(const tn_plugin_handle *handle);
/* Name, version and text from the note; false when out of memory. */
bool tn__plugin_describe(tn__plugin *p, const tn_note *note);

#endif

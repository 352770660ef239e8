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
/* Fills out (PATH_MAX bytes) with the path of a plugin that no directory is searched for. */
bool tn__plugin_beside(char *out, const char *file);
/* Whether the file stands in the directory beside libtenon. */
bool tn__plugin_built_in(const char *path);
/* Calls fn for every file that is a candidate, in the order of loading. `problem` says what is
 * wrong with a place that cannot be used; NULL for a candidate. */
typedef void (*tn__place_fn)(void *arg, const char *path, const tn__finding *problem);
void tn__plugin_each(tn__place_fn fn, void *arg);

/* ---- trust.c --------------------------------------------------------------------------------- */
/* Neither the file nor its directory may be writable by group or others. */
bool tn__plugin_trusted(const char *path, tn__finding *f);
/* The file at `path` and every directory above it: who owns it, and who else can change what it
 * holds ("nobody", "its group", "everybody"). */
typedef void (*tn__audit_fn)(void *arg, const char *path, const char *owner, unsigned mode,
                             const char *others);
void tn__plugin_audit(const char *path, tn__audit_fn fn, void *arg);

/* ---- record.c: every file that was tried; the caller holds the loader's lock ------------------
 */
extern tn__plugin *tn__plugins; /* in the order of the first try */

bool tn__file_same(const tn__file_id *a, const tn__file_id *b);
bool tn__file_unchanged(const tn__file_id *a, const tn__file_id *b);

/* The record whose code was mapped from that file, under whatever path. */
tn__plugin *tn__plugin_of_file(const tn__file_id *id);
/* The record of that path, made when there is none; NULL when out of memory. */
tn__plugin *tn__plugin_of_path(const char *path);
/* The next generation's record; NULL when out of memory. */
tn__plugin *tn__plugin_next(const tn__plugin *old);
/* The loaded plugin that a program's handle means, in its newest generation; NULL for any other
 * pointer. */
tn__plugin *tn__plugin_of_handle(const tn_plugin_handle *handle);
/* A file's name may hold anything; a message is one line. */
void tn__plugin_one_line(char *text);
/* Name, version and text from the note; false when out of memory. */
bool tn__plugin_describe(tn__plugin *p, const tn_note *note);

/* ---- start.c; the caller holds the loader's lock ----------------------------------------------
 */
/* The steps from an existing file to registered operators. */
bool tn__plugin_bring_up(tn__plugin *p, const tn__file_id *id, tn__finding *f);
/* The same for a new generation: `copy` is mapped, and what it registers takes old's place. */
bool tn__plugin_take_over(tn__plugin *p, tn__plugin *old, const char *copy, tn__finding *f);
void tn__plugin_exit(tn__plugin *p);

/* ---- checked.c: puts the guard before kernels, or takes it away, as the environment says -------- */
void tn__plugin_check_calls(void);

/* ---- loader.c: a remark from inside a call; dropped where the lock is taken ---------------------- */
void tn__plugin_remark_late(tn__plugin *p, const char *fmt, ...) TN_PRINTF(2, 3);

/* ---- reload.c; the caller holds the loader's lock ---------------------------------------------
 */
bool tn__plugin_reload(tn__plugin *old, tn__finding *f);

/* ---- recording.c: starts a recording where TENON_RECORD asks for one; not below the lock --------
 */
void tn__record_from_environment(void);

#endif

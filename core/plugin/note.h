/* note.h - the plugin's note (tn_note in tenon/plugin.h), read and judged before any of its code
 * runs.
 *
 * Depends on libc only: the loader and `tenon doctor` share it. */
#ifndef TN_CORE_PLUGIN_NOTE_H
#define TN_CORE_PLUGIN_NOTE_H

#include <tenon/plugin.h>

#include "core/plugin/elf.h"

/* Finds the note in an open file. On success every text in it ends with NUL and is printable. */
bool tn__note_find(const tn__elf *e, tn_note *out, tn__finding *f);
/* Opens, finds, closes. */
bool tn__note_read(const char *path, tn_note *out, tn__finding *f);

/* Whether this host can load a plugin with that note: border revision, fingerprint, CPU, driver. */
bool tn__note_check(const tn_note *note, tn__finding *f);

/* The border's fingerprint at `revision` as this host was built; 0 for a revision it does not know.
 */
uint64_t tn__border_fingerprint(uint32_t revision);

static inline uint64_t tn__note_u64(const uint32_t words[2])
{
    return (uint64_t)words[1] << 32 | words[0];
}

#endif

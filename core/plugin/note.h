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

/* ---- the library's own note: what `tenon abi diff` reads of a libtenon (host.c) --------------- */
enum { TN__NOTE_HOST = 2, TN__NOTE_REVISIONS = 65 };
typedef struct __attribute__((packed, aligned(4))) tn__host_note {
    uint32_t owner_size, desc_size, type;
    char owner[8];
    uint32_t revision;                         /* of the border; the description begins here */
    uint64_t fingerprints[TN_BORDER_REVISION]; /* of revisions 1 .. revision */
} tn__host_note;
/* The revision of a libtenon's border and its fingerprints [1 .. revision]; 0 when the file is none. */
uint32_t tn__note_host(const tn__elf *e, uint64_t fingerprints[TN__NOTE_REVISIONS]);

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

/* host.c - the library's own note: which border it has, readable in the file. `tenon abi diff` takes
 * two builds of libtenon by it. */
#include "core/plugin/note.h"

__attribute__((section(".note.tenon"), used, aligned(4))) static const tn__host_note note = {
    .owner_size = 6,
    .desc_size = sizeof(tn__host_note) - offsetof(tn__host_note, revision),
    .type = TN__NOTE_HOST,
    .owner = "Tenon",
    .revision = TN_BORDER_REVISION,
    .fingerprints = TN_BORDER_FINGERPRINTS,
};

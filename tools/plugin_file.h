/* plugin_file.h - what can be said of a plugin from its file alone, check by check: what `tenon
 * doctor` looks at before it tries a plugin, and all of `tenon abi check`. */
#ifndef TENON_TOOLS_PLUGIN_FILE_H
#define TENON_TOOLS_PLUGIN_FILE_H

#include "core/plugin/note.h"

typedef struct plugin_file {
    tn__elf elf;
    tn_note note; /* valid where the check "note" passed */
} plugin_file;

typedef struct plugin_check {
    const char *name;
    bool (*passes)(const plugin_file *file, tn__finding *f);
    const char *what; /* what it means to pass */
} plugin_check;
/* Of a file whose note could be read; name NULL ends them. */
extern const plugin_check plugin_checks[];

/* Opens the file and reads its note. */
bool plugin_file_open(plugin_file *file, const char *path, tn__finding *f);
void plugin_file_close(plugin_file *file);

#endif

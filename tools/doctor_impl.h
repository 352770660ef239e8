/* doctor_impl.h - what the files of `tenon doctor` share. */
#ifndef TENON_TOOLS_DOCTOR_IMPL_H
#define TENON_TOOLS_DOCTOR_IMPL_H

#include <limits.h>

#include "core/plugin/plugin_impl.h"
#include "plugin_file.h"
#include "tool.h"

/* What was found out about one file. */
typedef struct doctor_row {
    char path[PATH_MAX];
    tn_note note; /* zero when it has no readable one */
    bool has_note, ok;
    tn__finding finding; /* why not; when ok, remarks in `reason` */
} doctor_row;

/* doctor_file.c: everything about one plugin: its file, its tables, and a trial load in a child
 * process, in which the plugins of `before` (paths, n of them) are loaded first. retry: also one
 * that is in quarantine. */
void doctor_examine(doctor_row *row, const char *path, const char *const *before, int n,
                    bool retry);

/* doctor_coverage.c: operators by device and dtype, of what is loaded in this process; every
 * operator by itself first where `each` is set. */
void doctor_coverage(tool_format format, bool each);

#endif

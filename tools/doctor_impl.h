/* doctor_impl.h - what the files of `tenon doctor` share. */
#ifndef TENON_TOOLS_DOCTOR_IMPL_H
#define TENON_TOOLS_DOCTOR_IMPL_H

#include <limits.h>

#include "core/plugin/plugin_impl.h"
#include "tool.h"

/* What was found out about one file. */
typedef struct doctor_row {
    char path[PATH_MAX];
    char name[TN_NOTE_NAME], version[TN_NOTE_TEXT]; /* "" when it has no readable note */
    bool ok;
    tn__finding finding; /* why not; when ok, remarks in `reason` */
} doctor_row;

/* doctor_file.c: everything about one plugin: its file, its tables, and a trial load in a child
 * process, in which the plugins of `before` (paths, n of them) are loaded first. */
void doctor_examine(doctor_row *row, const char *path, const char *const *before, int n);

/* doctor_coverage.c: operators by device and dtype, of what is loaded in this process. */
void doctor_coverage(tool_format format);

#endif

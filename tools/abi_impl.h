/* abi_impl.h - what the `tenon abi` subcommands share.
 *
 *     abi.c         the table of subcommands
 *     abi_source.c  a file -> what border it describes, needs or has
 *     abi_check.c   one plugin's file
 *     abi_diff.c    two sources, judged;  abi_layout.c  two descriptions, member by member
 *     abi_report.c  rows, in every format */
#ifndef TENON_TOOLS_ABI_IMPL_H
#define TENON_TOOLS_ABI_IMPL_H

#include "codegen/border_impl.h"
#include "plugin_file.h"
#include "tool.h"

int abi_cmd_check(int argc, char **argv);
int abi_cmd_diff(int argc, char **argv);

/* ---- rows ------------------------------------------------------------------------------------ */
typedef enum abi_kind { ABI_OK, ABI_ADDED, ABI_CHANGED, ABI_BREAK, ABI_KINDS } abi_kind;

typedef struct abi_report {
    tool_format format;
    const char *file; /* that the rows speak of */
    int count[ABI_KINDS];
} abi_report;

void abi_begin(abi_report *r, tool_format format, const char *file);
/* line: 0 for the file as a whole. The message is one sentence, the cure is "" or what to do. */
void abi_row(abi_report *r, abi_kind kind, int line, const char *subject, const char *cure,
             const char *message, ...) __attribute__((format(printf, 6, 7)));
int abi_end(abi_report *r); /* the exit status */

/* ---- sources --------------------------------------------------------------------------------- */
typedef enum abi_what { ABI_DESCRIPTION, ABI_PLUGIN, ABI_LIBRARY } abi_what;

typedef struct abi_source {
    abi_what what;
    const char *path;
    uint32_t revision; /* that it describes or has; of a plugin: that it needs */
    uint64_t fingerprints[TN__NOTE_REVISIONS]; /* [1 .. revision]; of a plugin: [revision] alone */
    bd_border border;                          /* of a description */
    cg_diag diag;
    plugin_file plugin;   /* of a plugin; of a library: its elf */
    const char **exports; /* of a library, sorted */
    size_t n_exports, cap_exports;
} abi_source;

/* Complains on standard error and returns false when the file is none of the three. */
bool abi_open(abi_source *s, const char *path);
void abi_close(abi_source *s);

/* abi_layout.c: every difference between two descriptions. */
void abi_layouts(abi_report *r, const bd_border *old, const bd_border *now);

#endif

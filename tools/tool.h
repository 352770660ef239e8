/* tool.h - what the subcommands of `tenon` share: options, output forms, exit status.
 *
 * A subcommand is one function, `int tenon_cmd_NAME(int argc, char **argv)` with argv[0] its name,
 * entered in the table of main.c. It returns an exit status. Results go to standard output,
 * complaints to standard error.
 *
 *     static const char usage[] = "usage: tenon ops [PATTERN] [--format text|json]\n...";
 *     const char *format = "text"; bool all = false;
 *     const tool_option options[] = {{"--format", &format, NULL}, {"--all", NULL, &all}, {0}};
 *     int n = tool_options(argc, argv, options, usage);   // arguments are now argv[1 .. n]
 *     if (n < 0)
 *         return tool_status(n); */
#ifndef TENON_TOOLS_TOOL_H
#define TENON_TOOLS_TOOL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
    TOOL_OK = 0,
    TOOL_FAILED = 1, /* the check that was asked for failed */
    TOOL_USAGE = 2,  /* wrong use, or nothing matched */
};

typedef enum tool_format {
    TOOL_TEXT,
    TOOL_JSON, /* JSON Lines: an object per row, the last one {"kind": "summary", ...} */
    TOOL_JUNIT,
    TOOL_GITHUB, /* workflow annotations */
    TOOL_FORMAT_BAD = -1,
} tool_format;

typedef struct tool_option {
    const char *name;   /* "--rules"; NULL ends the table */
    const char **value; /* the option takes a value: --rules V, --rules=V */
    bool *flag;         /* it takes none */
} tool_option;

/* Reads the options out of argv, wherever they stand, and moves the other arguments to argv[1 ..
 * n]. Returns n. A negative result is an exit status in disguise (tool_status): --help was given
 * and answered on standard output, or an option was wrong and said so on standard error. What
 * follows "--" is not an option; "-" is not one. */
int tool_options(int argc, char **argv, const tool_option *options, const char *usage);
int tool_status(int negative);

/* Prints "tenon: MESSAGE" on standard error and returns TOOL_USAGE. */
int tool_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The format by name; complains and returns TOOL_FORMAT_BAD when it is none of those `allowed`
 * ("text|json"). */
tool_format tool_format_parse(const char *name, const char *allowed);

/* A JSON string from bytes that may not be UTF-8 (jansson refuses those). */
json_t *tool_json_text(const char *text);
/* Prints one row and releases it. Keys come in the order in which they were set; put "kind" first.
 */
void tool_json_row(json_t *row);

/* Text for an XML attribute or body, for a GitHub annotation's message, and for one of its
 * properties. */
void tool_put_xml(FILE *to, const char *text);
void tool_put_github(FILE *to, const char *text, bool property);
/* ::error file=F,line=L::MESSAGE (level: error, warning or notice; file may be NULL) */
void tool_github(const char *level, const char *file, int line, const char *message);

/* A whole file, with a NUL behind its n bytes; the caller frees it. NULL: not readable, and said
 * so. */
char *tool_read_file(const char *path, size_t *n);
/* Replaces a file in one step, unless it holds these bytes already. 0, or -1 when it cannot be
 * written, and said so. */
int tool_write_file(const char *path, const char *bytes, size_t n);

#endif

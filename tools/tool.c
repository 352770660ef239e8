/* tool.c - options, output forms and files for every subcommand; tool.h says how to use them. */
#include "tool.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MINUS = -100 }; /* tool_options returns MINUS - status */

int tool_status(int negative)
{
    return MINUS - negative;
}

int tool_fail(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    fputs("tenon: ", stderr);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
    va_end(ap);
    return TOOL_USAGE;
}

static const tool_option *find_option(const tool_option *options, const char *arg, size_t len)
{
    for (; options->name; options++)
        if (strlen(options->name) == len && memcmp(options->name, arg, len) == 0)
            return options;
    return NULL;
}

/* Takes the option at argv[i]. Returns how many arguments it took, 0 after a complaint. */
static int take_option(int argc, char **argv, int i, const tool_option *options)
{
    size_t len = strcspn(argv[i], "=");
    const char *inline_value = argv[i][len] == '=' ? argv[i] + len + 1 : NULL;
    const tool_option *o = find_option(options, argv[i], len);
    if (!o) {
        tool_fail("unknown option '%.*s'; --help lists the options", (int)len, argv[i]);
        return 0;
    }
    if (o->flag) {
        if (inline_value) {
            tool_fail("option '%s' takes no value", o->name);
            return 0;
        }
        *o->flag = true;
        return 1;
    }
    if (!inline_value && i + 1 >= argc) {
        tool_fail("option '%s' needs a value", o->name);
        return 0;
    }
    *o->value = inline_value ? inline_value : argv[i + 1];
    return inline_value ? 1 : 2;
}

int tool_options(int argc, char **argv, const tool_option *options, const char *usage)
{
    int n = 0;
    bool only_arguments = false;
    for (int i = 1; i < argc;) {
        if (only_arguments || argv[i][0] != '-' || argv[i][1] == '\0') {
            argv[++n] = argv[i++];
        } else if (strcmp(argv[i], "--") == 0) {
            only_arguments = true;
            i++;
        } else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(usage, stdout);
            return MINUS - TOOL_OK;
        } else {
            int took = take_option(argc, argv, i, options);
            if (!took)
                return MINUS - TOOL_USAGE;
            i += took;
        }
    }
    return n;
}

tool_format tool_format_parse(const char *name, const char *allowed)
{
    static const char *const names[] = {"text", "json", "junit", "github"};
    size_t len = strlen(name);
    for (int i = 0; i < 4; i++) {
        const char *at = strstr(allowed, names[i]);
        if (at && strlen(names[i]) == len && strcmp(names[i], name) == 0)
            return (tool_format)i;
    }
    tool_fail("unknown format '%s'; write --format %s", name, allowed);
    return TOOL_FORMAT_BAD;
}

json_t *tool_json_text(const char *text)
{
    json_t *s = json_string(text);
    if (s)
        return s;
    char *copy = strdup(text);
    for (char *p = copy; p && *p; p++)
        if ((unsigned char)*p >= 0x80)
            *p = '?';
    s = json_string(copy ? copy : "");
    free(copy);
    return s;
}

void tool_json_row(json_t *row)
{
    json_dumpf(row, stdout, JSON_ENSURE_ASCII);
    fputc('\n', stdout);
    json_decref(row);
}

void tool_put_xml(FILE *to, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        switch (c) {
        case '&':
            fputs("&amp;", to);
            break;
        case '<':
            fputs("&lt;", to);
            break;
        case '>':
            fputs("&gt;", to);
            break;
        case '"':
            fputs("&quot;", to);
            break;
        default:
            fputc(c < 0x20 && c != '\n' && c != '\t' ? '?' : c, to);
        }
    }
}

void tool_put_github(FILE *to, const char *text, bool property)
{
    for (; *text; text++) {
        bool escape = strchr(property ? "%\r\n:," : "%\r\n", *text) != NULL;
        if (escape)
            fprintf(to, "%%%02X", (unsigned char)*text);
        else
            fputc(*text, to);
    }
}

void tool_github(const char *level, const char *file, int line, const char *message)
{
    printf("::%s", level);
    if (file) {
        fputs(" file=", stdout);
        tool_put_github(stdout, file, true);
        printf(",line=%d", line > 0 ? line : 1);
    }
    fputs("::", stdout);
    tool_put_github(stdout, message, false);
    fputc('\n', stdout);
}

static char *read_all(FILE *f, size_t *n)
{
    size_t cap = 1 << 16;
    char *bytes = malloc(cap);
    *n = 0;
    while (bytes) {
        *n += fread(bytes + *n, 1, cap - 1 - *n, f);
        if (*n < cap - 1)
            break;
        cap *= 2;
        char *more = realloc(bytes, cap);
        if (!more)
            free(bytes);
        bytes = more;
    }
    if (bytes)
        bytes[*n] = '\0';
    return bytes;
}

char *tool_read_file(const char *path, size_t *n)
{
    FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (!f) {
        tool_fail("cannot read %s: %s", path, strerror(errno));
        return NULL;
    }
    errno = 0;
    char *bytes = read_all(f, n);
    if (bytes && ferror(f)) {
        tool_fail("cannot read %s: %s", path, strerror(errno));
        free(bytes);
        bytes = NULL;
    } else if (!bytes) {
        tool_fail("cannot read %s: out of memory", path);
    }
    if (f != stdin)
        fclose(f);
    return bytes;
}

static bool holds(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return false;
    size_t have = 0;
    char *old = read_all(f, &have);
    fclose(f);
    bool same = old && have == n && memcmp(old, bytes, n) == 0;
    free(old);
    return same;
}

int tool_write_file(const char *path, const char *bytes, size_t n)
{
    if (holds(path, bytes, n))
        return 0;
    char *temporary = malloc(strlen(path) + 8);
    if (!temporary) {
        tool_fail("cannot write %s: out of memory", path);
        return -1;
    }
    sprintf(temporary, "%s.new", path);
    FILE *f = fopen(temporary, "wb");
    bool well = f && fwrite(bytes, 1, n, f) == n;
    if (f)
        well = fclose(f) == 0 && well;
    well = well && rename(temporary, path) == 0;
    if (!well) {
        tool_fail("cannot write %s: %s", path, strerror(errno));
        if (f)
            unlink(temporary);
    }
    free(temporary);
    return well ? 0 : -1;
}

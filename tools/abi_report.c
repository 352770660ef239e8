/* abi_report.c - the rows of `tenon abi`, in every format. */
#include "abi_impl.h"

#include <stdarg.h>
#include <string.h>

static const char *const names[ABI_KINDS] = {"ok", "added", "changed", "break"};

void abi_begin(abi_report *r, tool_format format, const char *file)
{
    *r = (abi_report){.format = format, .file = file};
    if (format == TOOL_JUNIT)
        puts("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"tenon abi\">");
}

static void put_text(abi_kind kind, const char *subject, const char *cure, const char *message)
{
    printf("%-8s %s: %s\n", names[kind], subject, message);
    if (*cure)
        printf("         cure: %s\n", cure);
}

static void put_json(const abi_report *r, abi_kind kind, int line, const char *subject,
                     const char *cure, const char *message)
{
    json_t *row = json_object();
    json_object_set_new(row, "kind", json_string(names[kind]));
    json_object_set_new(row, "subject", tool_json_text(subject));
    json_object_set_new(row, "message", tool_json_text(message));
    json_object_set_new(row, "cure", tool_json_text(cure));
    json_object_set_new(row, "file", tool_json_text(r->file));
    json_object_set_new(row, "line", line ? json_integer(line) : json_null());
    tool_json_row(row);
}

static void put_junit(abi_kind kind, const char *subject, const char *message)
{
    fputs("  <testcase classname=\"abi\" name=\"", stdout);
    tool_put_xml(stdout, subject);
    if (kind != ABI_BREAK) {
        puts("\"/>");
        return;
    }
    fputs("\"><failure message=\"", stdout);
    tool_put_xml(stdout, message);
    puts("\"/></testcase>");
}

static void put_github(const abi_report *r, abi_kind kind, int line, const char *subject,
                       const char *cure, const char *message)
{
    char text[2048];
    snprintf(text, sizeof text, "%s: %s%s%s", subject, message, *cure ? "; " : "", cure);
    if (kind != ABI_OK)
        tool_github(kind == ABI_BREAK ? "error" : "notice", r->file, line ? line : 1, text);
}

void abi_row(abi_report *r, abi_kind kind, int line, const char *subject, const char *cure,
             const char *format, ...)
{
    char message[1600];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    r->count[kind]++;
    if (r->format == TOOL_JSON)
        put_json(r, kind, line, subject, cure, message);
    else if (r->format == TOOL_JUNIT)
        put_junit(kind, subject, message);
    else if (r->format == TOOL_GITHUB)
        put_github(r, kind, line, subject, cure, message);
    else
        put_text(kind, subject, cure, message);
}

int abi_end(abi_report *r)
{
    const int *n = r->count;
    if (r->format == TOOL_JSON)
        tool_json_row(json_pack("{s:s, s:i, s:i, s:i, s:i}", "kind", "summary", "ok", n[ABI_OK],
                                "added", n[ABI_ADDED], "changed", n[ABI_CHANGED], "break",
                                n[ABI_BREAK]));
    else if (r->format == TOOL_JUNIT)
        puts("</testsuite>");
    else if (r->format == TOOL_TEXT)
        printf("%d ok, %d added, %d changed, %d break%s\n", n[ABI_OK], n[ABI_ADDED], n[ABI_CHANGED],
               n[ABI_BREAK], n[ABI_BREAK] == 1 ? "" : "s");
    return n[ABI_BREAK] ? TOOL_FAILED : TOOL_OK;
}

/* abi_check.c - `tenon abi check`: every rule of a plugin's file, each with its answer. Nothing of
 * the plugin runs, so that its author's CI can ask on any machine. */
#include "abi_impl.h"

#include <inttypes.h>
#include <string.h>

static const char usage[] =
    "usage: tenon abi check PLUGIN.so ... [--border FILE|LIBTENON] [--format "
    "text|json|junit|github]\n"
    "\n"
    "Reads the plugin's note and its ELF tables; nothing of it is loaded. One row a rule: the "
    "note,\n"
    "the border that it was built for, what it exports, what it needs, how it can be mapped.\n"
    "\n"
    "  --border B   judge the border by B, a description (border.yaml) or a libtenon, instead of\n"
    "               by this Tenon's own\n"
    "\n"
    "Exit status: 0 every rule is kept; 1 one is not; 2 wrong use.\n";

/* Whether a host with the border of `host` runs the plugin; machine and driver are not asked. */
static bool host_runs(const abi_source *host, const tn_note *note, tn__finding *f)
{
    if (note->abi == 0 || note->abi > host->revision)
        return tn__refuse(f, "build it with an older -DTN_TARGET_ABI, or update Tenon",
                          "it needs border revision %" PRIu32 ", and %s has revision %" PRIu32,
                          note->abi, host->path, host->revision);
    uint64_t theirs = tn__note_u64(note->fingerprint), ours = host->fingerprints[note->abi];
    return theirs == ours ||
           tn__refuse(f, "rebuild it against that Tenon's headers",
                      "at revision %" PRIu32 " its fingerprint is %016" PRIx64 ", that of %s is "
                      "%016" PRIx64,
                      note->abi, theirs, host->path, ours);
}

static void check_file(abi_report *r, const plugin_file *file, const abi_source *host)
{
    const tn_note *note = &file->note;
    abi_row(r, ABI_OK, 0, "note", "",
            "%s %s, for hosts of border revision %" PRIu32
            " and later; built with revision %" PRIu32 "%s%s%s%s",
            note->name, note->version, note->abi, note->abi_built, *note->cpu ? "; CPU: " : "",
            note->cpu, *note->driver ? "; library: " : "", note->driver);
    for (const plugin_check *c = plugin_checks; c->name; c++) {
        tn__finding f = {.state = ""};
        bool other = host && strcmp(c->name, "border") == 0;
        if (other ? host_runs(host, note, &f) : c->passes(file, &f))
            abi_row(r, ABI_OK, 0, c->name, "", "%s",
                    other ? "its note fits the border that was named" : c->what);
        else if (strcmp(f.state, "skipped") == 0)
            abi_row(r, ABI_CHANGED, 0, c->name, f.cure, "not on this machine: %s", f.reason);
        else
            abi_row(r, ABI_BREAK, 0, c->name, f.cure, "%s", f.reason);
    }
}

static void check_path(abi_report *r, const char *path, const abi_source *host)
{
    plugin_file file;
    tn__finding f = {.state = ""};
    r->file = path;
    if (r->format == TOOL_TEXT)
        printf("%s\n", path);
    if (!plugin_file_open(&file, path, &f)) {
        abi_row(r, ABI_BREAK, 0, "note", f.cure, "%s", f.reason);
        return;
    }
    check_file(r, &file, host);
    plugin_file_close(&file);
}

int abi_cmd_check(int argc, char **argv)
{
    const char *format_name = "text", *border = NULL;
    const tool_option options[] = {
        {"--format", &format_name, NULL}, {"--border", &border, NULL}, {0}};
    int n = tool_options(argc, argv, options, usage);
    if (n < 0)
        return tool_status(n);
    tool_format format = tool_format_parse(format_name, "text|json|junit|github");
    if (format == TOOL_FORMAT_BAD)
        return TOOL_USAGE;
    if (n == 0)
        return tool_fail("abi check needs a plugin's file; --help says more");
    static abi_source host;
    if (border && !abi_open(&host, border)) {
        abi_close(&host);
        return TOOL_USAGE;
    }
    if (border && host.what == ABI_PLUGIN)
        return tool_fail("%s is a plugin; --border takes a description or a libtenon", border);
    abi_report r;
    abi_begin(&r, format, argv[1]);
    for (int i = 1; i <= n; i++)
        check_path(&r, argv[i], border ? &host : NULL);
    if (border)
        abi_close(&host);
    return abi_end(&r);
}

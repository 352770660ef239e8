/* abi_diff.c - `tenon abi diff OLD NEW`: may the new one follow the old one?
 *
 * Two hosts (a description, a libtenon): every plugin that ran in the old one must run in the new
 * one, so each revision's fingerprint is as it was, and nothing public is gone. A plugin and a host:
 * does it run there. Two plugins: does the new one run wherever the old one ran. */
#include "abi_impl.h"

#include <inttypes.h>
#include <string.h>

static const char usage[] =
    "usage: tenon abi diff OLD NEW [--format text|json|junit|github]\n"
    "\n"
    "OLD and NEW are each a description of the border (border.yaml), a plugin or a libtenon. Two\n"
    "descriptions are compared member by member; with a binary the notes and symbols speak.\n"
    "\n"
    "Exit status: 0 NEW may follow OLD; 1 it breaks what ran with OLD; 2 wrong use.\n";

static const char cure_revision[] =
    "a released revision stays as it is: write additions at the end, with `since:` the next one";

/* ---- two hosts ------------------------------------------------------------------------------- */
static void compare_fingerprints(abi_report *r, const abi_source *old, const abi_source *now)
{
    char subject[32];
    for (uint32_t i = 1; i <= old->revision; i++) {
        snprintf(subject, sizeof subject, "revision %" PRIu32, i);
        if (i > now->revision)
            abi_row(r, ABI_BREAK, 0, subject, cure_revision, "it is gone");
        else if (old->fingerprints[i] == now->fingerprints[i])
            abi_row(r, ABI_OK, 0, subject, "", "its fingerprint is %016" PRIx64 " in both",
                    now->fingerprints[i]);
        else
            abi_row(r, ABI_BREAK, 0, subject, cure_revision,
                    "its fingerprint was %016" PRIx64 " and is %016" PRIx64, old->fingerprints[i],
                    now->fingerprints[i]);
    }
    for (uint32_t i = old->revision + 1; i <= now->revision; i++) {
        snprintf(subject, sizeof subject, "revision %" PRIu32, i);
        abi_row(r, ABI_ADDED, 0, subject, "", "new");
    }
}

static void compare_symbols(abi_report *r, const abi_source *old, const abi_source *now)
{
    size_t i = 0, k = 0;
    while (i < old->n_exports || k < now->n_exports) {
        int order = i == old->n_exports   ? 1
                    : k == now->n_exports ? -1
                                          : strcmp(old->exports[i], now->exports[k]);
        if (order < 0)
            abi_row(r, ABI_BREAK, 0, old->exports[i],
                    "keep it, or raise the library's major version",
                    "programs that call it no longer start: the symbol is gone");
        if (order > 0)
            abi_row(r, ABI_ADDED, 0, now->exports[k], "", "a new public symbol");
        i += order <= 0;
        k += order >= 0;
    }
}

/* ---- a plugin and a host --------------------------------------------------------------------- */
static void compare_plugin_with_host(abi_report *r, const abi_source *plugin,
                                     const abi_source *host)
{
    const tn_note *note = &plugin->plugin.note;
    uint32_t needs = plugin->revision;
    if (needs > host->revision)
        abi_row(r, ABI_BREAK, 0, note->name, "update that Tenon, or build with -DTN_TARGET_ABI",
                "it needs border revision %" PRIu32 ", and %s has %" PRIu32, needs, host->path,
                host->revision);
    else if (plugin->fingerprints[needs] != host->fingerprints[needs])
        abi_row(r, ABI_BREAK, 0, note->name, "rebuild it against that Tenon's headers",
                "at revision %" PRIu32 " its fingerprint is %016" PRIx64 ", that of %s is "
                "%016" PRIx64,
                needs, plugin->fingerprints[needs], host->path, host->fingerprints[needs]);
    else
        abi_row(r, ABI_OK, 0, note->name, "", "%s runs in hosts with the border of %s",
                plugin->path, host->path);
}

/* ---- two plugins ----------------------------------------------------------------------------- */
static void compare_text(abi_report *r, const char *subject, const char *old, const char *now,
                         bool needs)
{
    static const char cure[] = "raise the plugin's major version, or keep both builds";
    if (strcmp(old, now) == 0)
        abi_row(r, ABI_OK, 0, subject, "", "'%s' in both", now);
    else if (needs && *now)
        abi_row(r, ABI_BREAK, 0, subject, cure,
                "it needed '%s' and needs '%s': machines that ran the old one may not run it", old,
                now);
    else
        abi_row(r, ABI_CHANGED, 0, subject, "", "from '%s' to '%s'", old, now);
}

static void compare_plugins(abi_report *r, const abi_source *old, const abi_source *now)
{
    const tn_note *a = &old->plugin.note, *b = &now->plugin.note;
    if (strcmp(a->name, b->name) != 0)
        abi_row(r, ABI_BREAK, 0, "name", "keep the name", "from '%s' to '%s': another plugin",
                a->name, b->name);
    if (b->abi > a->abi)
        abi_row(r, ABI_BREAK, 0, "border", "build it with -DTN_TARGET_ABI for the old hosts",
                "it ran in hosts of revision %" PRIu32 ", and needs %" PRIu32, a->abi, b->abi);
    else if (b->abi < a->abi)
        abi_row(r, ABI_CHANGED, 0, "border", "",
                "it runs in older hosts, too: %" PRIu32 " instead of %" PRIu32, b->abi, a->abi);
    else if (old->fingerprints[a->abi] != now->fingerprints[b->abi])
        abi_row(r, ABI_BREAK, 0, "border", "build both against one Tenon",
                "they were built against different structs of revision %" PRIu32, a->abi);
    else
        abi_row(r, ABI_OK, 0, "border", "", "revision %" PRIu32 " in both", a->abi);
    compare_text(r, "version", a->version, b->version, false);
    compare_text(r, "CPU", a->cpu, b->cpu, true);
    compare_text(r, "library", a->driver, b->driver, true);
    if (tn__note_u64(a->schemas) != tn__note_u64(b->schemas))
        abi_row(r, ABI_CHANGED, 0, "schemas", "see `tenon schema check` of its YAML",
                "its operators' schemas are not the same");
}

static void compare(abi_report *r, const abi_source *old, const abi_source *now)
{
    bool plugin_old = old->what == ABI_PLUGIN, plugin_now = now->what == ABI_PLUGIN;
    if (plugin_old && plugin_now) {
        compare_plugins(r, old, now);
    } else if (plugin_old || plugin_now) {
        compare_plugin_with_host(r, plugin_old ? old : now, plugin_old ? now : old);
    } else {
        compare_fingerprints(r, old, now);
        if (old->what == ABI_DESCRIPTION && now->what == ABI_DESCRIPTION)
            abi_layouts(r, &old->border, &now->border);
        if (old->what == ABI_LIBRARY && now->what == ABI_LIBRARY)
            compare_symbols(r, old, now);
    }
}

int abi_cmd_diff(int argc, char **argv)
{
    const char *format_name = "text";
    const tool_option options[] = {{"--format", &format_name, NULL}, {0}};
    int n = tool_options(argc, argv, options, usage);
    if (n < 0)
        return tool_status(n);
    tool_format format = tool_format_parse(format_name, "text|json|junit|github");
    if (format == TOOL_FORMAT_BAD)
        return TOOL_USAGE;
    if (n != 2)
        return tool_fail("abi diff needs two files, OLD and NEW, got %d; --help says more", n);
    static abi_source old, now;
    int status = TOOL_USAGE;
    if (abi_open(&old, argv[1]) && abi_open(&now, argv[2])) {
        abi_report r;
        abi_begin(&r, format, argv[2]);
        compare(&r, &old, &now);
        status = abi_end(&r);
    }
    abi_close(&old);
    abi_close(&now);
    return status;
}

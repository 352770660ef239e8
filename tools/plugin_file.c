/* plugin_file.c - the checks of a plugin's file: a table of small functions over core/plugin/elf.h.
 *
 * They find what would go wrong only much later: a symbol that another library takes over, a second
 * libtenon in the process, code that cannot be mapped everywhere. */
#define _GNU_SOURCE
#include "plugin_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

bool plugin_file_open(plugin_file *file, const char *path, tn__finding *f)
{
    if (!tn__elf_open(&file->elf, path, f))
        return false;
    if (tn__note_find(&file->elf, &file->note, f))
        return true;
    tn__elf_close(&file->elf);
    return false;
}

void plugin_file_close(plugin_file *file)
{
    tn__elf_close(&file->elf);
}

/* ---- walks that keep the first name they object to ------------------------------------------- */
static bool keep(void *arg, const char *name)
{
    snprintf(arg, NAME_MAX, "%s", name);
    return false;
}

static bool is_entry(void *arg, const char *name)
{
    return strcmp(name, "tenon_plugin") == 0 || keep(arg, name);
}

static bool is_not_entry(void *arg, const char *name)
{
    return strcmp(name, "tenon_plugin") != 0 || keep(arg, name);
}

static bool is_not_ours(void *arg, const char *name)
{
    return strncmp(name, "tn_", 3) != 0 || keep(arg, name);
}

static bool is_other_library(void *arg, const char *name)
{
    const char *slash = strrchr(name, '/'); /* without a soname it is asked for by its path */
    return strncmp(slash ? slash + 1 : name, "libtenon", 8) != 0 || keep(arg, name);
}

/* Every place of a list "a:b" is absolute or relative to the file itself. */
static bool is_safe_path(void *arg, const char *list)
{
    for (const char *at = list;;) {
        size_t n = strcspn(at, ":");
        if (at[0] != '/' && strncmp(at, "$ORIGIN", 7) != 0 && strncmp(at, "${ORIGIN}", 9) != 0)
            return keep(arg, n ? list : "an empty place");
        if (!at[n])
            return true;
        at += n + 1;
    }
}

/* ---- the checks ------------------------------------------------------------------------------ */
static bool fits(const plugin_file *file, tn__finding *f)
{
    return tn__note_check(&file->note, f);
}

static bool exports_entry(const plugin_file *file, tn__finding *f)
{
    static const char cure[] = "compile with -fvisibility=hidden and link with the export map "
                               "share/tenon/tenon_plugin.map";
    char found[NAME_MAX] = "";
    if (!tn__elf_exports(&file->elf, is_entry, found, f))
        return false;
    if (*found)
        return tn__refuse(
            f, cure,
            "it exports the symbol '%.128s'; a plugin exports tenon_plugin and nothing else",
            found);
    if (!tn__elf_exports(&file->elf, is_not_entry, found, f))
        return false;
    return *found || tn__refuse(f, cure, "it does not export the symbol tenon_plugin");
}

static bool imports_nothing(const plugin_file *file, tn__finding *f)
{
    char found[NAME_MAX] = "";
    if (!tn__elf_imports(&file->elf, is_not_ours, found, f))
        return false;
    return !*found ||
           tn__refuse(f, "call it through the table: tn->NAME of tenon/plugin.h",
                      "it needs the symbol '%.128s' of libtenon; a plugin links nothing of Tenon",
                      found);
}

static bool links_nothing(const plugin_file *file, tn__finding *f)
{
    char found[NAME_MAX] = "";
    if (!tn__elf_needed(&file->elf, is_other_library, found, f))
        return false;
    return !*found ||
           tn__refuse(f, "do not link libtenon: the core hands its functions to the plugin at load",
                      "it is linked against %.128s", found);
}

static bool code_is_shared(const plugin_file *file, tn__finding *f)
{
    return !tn__elf_text_relocations(&file->elf) ||
           tn__refuse(f, "compile every source of it with -fPIC",
                      "its code has relocations, which would make it writable while it is mapped");
}

static bool stack_is_data(const plugin_file *file, tn__finding *f)
{
    return !tn__elf_executable_stack(&file->elf) ||
           tn__refuse(f, "link it with -Wl,-z,noexecstack",
                      "it asks for an executable stack, for the whole process");
}

static bool paths_are_absolute(const plugin_file *file, tn__finding *f)
{
    char found[NAME_MAX] = "";
    if (!tn__elf_run_paths(&file->elf, is_safe_path, found, f))
        return false;
    return !*found ||
           tn__refuse(f, "link with an absolute -rpath, or one below $ORIGIN",
                      "its library search path '%.128s' depends on the current directory", found);
}

const plugin_check plugin_checks[] = {
    {"border", fits, "its note fits this Tenon and this machine"},
    {"exports", exports_entry, "it exports tenon_plugin alone"},
    {"imports", imports_nothing, "it needs no symbol of libtenon"},
    {"libraries", links_nothing, "it is not linked against libtenon"},
    {"relocations", code_is_shared, "its code is position-independent"},
    {"stack", stack_is_data, "its stack is not executable"},
    {"run path", paths_are_absolute, "its libraries are not looked for in the current directory"},
    {0},
};

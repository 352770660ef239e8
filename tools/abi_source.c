/* abi_source.c - what a file says of the border: a description (YAML), a plugin or a libtenon (both
 * by their ELF notes; nothing is loaded). */
#include "abi_impl.h"

#include <stdlib.h>
#include <string.h>

static bool is_elf(const char *path)
{
    char magic[4] = "";
    FILE *f = fopen(path, "rb");
    bool elf = f && fread(magic, 1, 4, f) == 4 && memcmp(magic, "\177ELF", 4) == 0;
    if (f)
        fclose(f);
    return elf;
}

static bool open_description(abi_source *s)
{
    s->what = ABI_DESCRIPTION;
    if (!bd_open(&s->border, &s->diag, s->path)) {
        cg_diag_print(&s->diag, stderr, CG_DIAG_TEXT);
        return false;
    }
    s->revision = (uint32_t)s->border.revision;
    memcpy(s->fingerprints, s->border.fingerprint, sizeof s->border.fingerprint);
    return true;
}

/* ---- a library's public symbols -------------------------------------------------------------- */
static bool keep_public(void *arg, const char *name)
{
    abi_source *s = arg;
    if (strncmp(name, "tn_", 3) != 0 || strncmp(name, "tn__", 4) == 0)
        return true;
    if (s->n_exports == s->cap_exports) {
        size_t cap = s->cap_exports ? s->cap_exports * 2 : 1024;
        const char **more = realloc(s->exports, cap * sizeof *more);
        if (!more)
            return false;
        s->exports = more;
        s->cap_exports = cap;
    }
    char *copy = strdup(name);
    if (copy)
        s->exports[s->n_exports++] = copy;
    return copy != NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool read_exports(abi_source *s, tn__finding *f)
{
    if (!tn__elf_exports(&s->plugin.elf, keep_public, s, f))
        return false;
    if (s->n_exports)
        qsort(s->exports, s->n_exports, sizeof *s->exports, by_name);
    return true;
}

static bool read_plugin(abi_source *s, tn__finding *f)
{
    const tn_note *note = &s->plugin.note;
    s->what = ABI_PLUGIN;
    if (!tn__note_find(&s->plugin.elf, &s->plugin.note, f))
        return false;
    if (note->abi == 0 || note->abi >= TN__NOTE_REVISIONS)
        return tn__refuse(f, "build it again", "its note has border revision %u", note->abi);
    s->revision = note->abi;
    s->fingerprints[note->abi] = tn__note_u64(note->fingerprint);
    return true;
}

static bool open_elf(abi_source *s)
{
    tn__finding f = {.state = ""};
    bool ok = tn__elf_open(&s->plugin.elf, s->path, &f);
    if (ok) {
        s->what = ABI_LIBRARY;
        s->revision = tn__note_host(&s->plugin.elf, s->fingerprints);
        ok = s->revision ? read_exports(s, &f) : read_plugin(s, &f);
        tn__elf_close(&s->plugin.elf);
    }
    if (!ok)
        tool_fail("%s: %s; %s", s->path, f.reason, f.cure);
    return ok;
}

bool abi_open(abi_source *s, const char *path)
{
    *s = (abi_source){.path = path};
    return is_elf(path) ? open_elf(s) : open_description(s);
}

void abi_close(abi_source *s)
{
    for (size_t i = 0; i < s->n_exports; i++)
        free((char *)s->exports[i]);
    free(s->exports);
    if (s->what == ABI_DESCRIPTION)
        bd_close(&s->border);
    cg_diag_free(&s->diag);
}

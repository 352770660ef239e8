/* record.c - the list of plugin records: one for every file that was ever tried.
 *
 * Records are never freed: kernels and operators point to the plugin that registered them, and an
 * operator outlives its plugin to say who is gone. A file that is tried again gets the record that
 * it had. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/plugin/plugin_impl.h"

tn__plugin *tn__plugins;

const char *tn__plugin_name(const tn__plugin *p)
{
    return p ? p->name : "the core";
}

bool tn__plugin_is_newer(const tn__plugin *p)
{
    return p && p->built > TN_BORDER_REVISION;
}

const char *tn__plugin_text(const tn__plugin *p)
{
    return p ? p->text : "the core";
}

void tn__plugin_remark(tn__plugin *p, const char *fmt, ...)
{
    char *buf = p->finding.reason;
    size_t cap = sizeof p->finding.reason, used = strlen(buf);
    char remark[512];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(remark, sizeof remark, fmt, args);
    va_end(args);
    if (n < 0 || used + (size_t)n + sizeof "; " > cap)
        return;
    snprintf(buf + used, cap - used, "%s%s", used ? "; " : "", remark);
}

void tn__plugin_one_line(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == '\x7f')
            *text = '?';
}

bool tn__file_same(const tn__file_id *a, const tn__file_id *b)
{
    return a->device == b->device && a->inode == b->inode;
}

bool tn__file_unchanged(const tn__file_id *a, const tn__file_id *b)
{
    return tn__file_same(a, b) && a->size == b->size && a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec;
}

static tn__plugin *newest(tn__plugin *p)
{
    while (p && p->successor)
        p = p->successor;
    return p;
}

tn__plugin *tn__plugin_of_file(const tn__file_id *id)
{
    tn__plugin *p = tn__plugins;
    while (p && !(p->handle && tn__file_same(&p->id, id)))
        p = p->next;
    return newest(p);
}

tn__plugin *tn__plugin_of_handle(const tn_plugin_handle *handle)
{
    tn__plugin *p = tn__plugins;
    while (p && (const tn_plugin_handle *)p != handle)
        p = p->next;
    p = newest(p);
    return p && p->references > 0 ? p : NULL;
}

static tn__plugin *record_new(const char *path)
{
    tn__plugin *p = tn__zalloc(sizeof *p);
    char *copy = tn__strdup(path);
    if (!p || !copy) {
        tn__free(p);
        tn__free(copy);
        return NULL;
    }
    p->path = copy;
    p->text = copy;
    p->name = p->name_text;
    p->version = p->version_text;
    p->finding.state = "refused";
    p->generation = 1;
    return p;
}

tn__plugin *tn__plugin_of_path(const char *path)
{
    tn__plugin **at = &tn__plugins;
    while (*at && strcmp((*at)->path, path) != 0)
        at = &(*at)->next;
    if (!*at)
        *at = record_new(path);
    return newest(*at);
}

tn__plugin *tn__plugin_next(const tn__plugin *old)
{
    tn__plugin **at = &tn__plugins;
    while (*at)
        at = &(*at)->next;
    *at = record_new(old->path);
    if (*at)
        (*at)->generation = old->generation + 1;
    return *at;
}

bool tn__plugin_describe(tn__plugin *p, const tn_note *note)
{
    p->schemas = tn__note_u64(note->schemas);
    p->built = note->abi_built;
    if (p->handle)
        return true; /* its kernels' provenance: what was mapped, whatever the file says now */
    char generation[32] = "";
    if (p->generation > 1)
        snprintf(generation, sizeof generation, ", generation %d", p->generation);
    size_t n = strlen(note->name) + strlen(note->version) + strlen(p->path) + strlen(generation) +
               sizeof "  ()";
    char *text = tn__alloc(n);
    if (!text)
        return false;
    snprintf(text, n, "%s %s (%s%s)", note->name, note->version, p->path, generation);
    tn__plugin_one_line(text);
    snprintf(p->name_text, sizeof p->name_text, "%s", note->name);
    snprintf(p->version_text, sizeof p->version_text, "%s", note->version);
    if (p->text != p->path)
        tn__free(p->text);
    p->text = text;
    return true;
}

/* note.c - finds a plugin's note by plain file reads, and says whether this host can load it.
 *
 * A constructor runs inside dlopen, before any check could; so all that can be known of a plugin is
 * known from here, before dlopen. The note stands in a PT_NOTE segment: strip keeps it. */
#define _GNU_SOURCE
#include "core/plugin/note.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

TN_STATIC_ASSERT(sizeof(tn_note) == 192,
                 "the note's layout is frozen: a new one takes a new TN_NOTE_REVISION");

enum { OWNER_SIZE = 6, HEADER_BYTES = 12, NOTE_BUDGET = 4096 };

static const char cure_macro[] =
    "write TN_PLUGIN(..) in one of its sources and link with share/tenon/tenon_plugin.map";
static const char cure_damaged[] = "build it again with this Tenon's tenon/plugin.h";
static const char cure_rebuild[] = "rebuild the plugin against this Tenon's headers";

static uint64_t align(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

typedef struct search {
    uint32_t type;
    int budget;   /* of notes that are looked at */
    int found;    /* of that type */
    bool damaged; /* a note ends outside its segment */
    uint64_t at;  /* of the first one found */
} search;

/* Walks the notes of one segment. */
static void walk(const tn__elf *e, const Elf64_Phdr *segment, search *s)
{
    uint64_t step = segment->p_align == 8 ? 8 : 4;
    uint64_t offset = segment->p_offset, end = segment->p_offset + segment->p_filesz;
    if (end < offset || end > e->size)
        return;
    while (end - offset >= HEADER_BYTES && --s->budget > 0) {
        Elf64_Nhdr h;
        char owner[OWNER_SIZE];
        if (!tn__elf_read(e, offset, &h, sizeof h))
            return;
        if (h.n_namesz == OWNER_SIZE && h.n_type == s->type &&
            tn__elf_read(e, offset + HEADER_BYTES, owner, sizeof owner) &&
            memcmp(owner, "Tenon", sizeof owner) == 0 && s->found++ == 0)
            s->at = offset;
        uint64_t next = HEADER_BYTES + align(h.n_namesz, step) + align(h.n_descsz, step);
        if (next > end - offset) {
            s->damaged = true;
            return;
        }
        offset += next;
    }
}

static search locate(const tn__elf *e, uint32_t type)
{
    search s = {.type = type, .budget = NOTE_BUDGET};
    Elf64_Phdr segment;
    for (unsigned i = 0; tn__elf_segment(e, i, &segment); i++)
        if (segment.p_type == PT_NOTE)
            walk(e, &segment, &s);
    return s;
}

/* Printable, and NUL to the end of its place. */
static bool is_text(const char *s, size_t cap)
{
    size_t n = strnlen(s, cap);
    if (n == cap)
        return false;
    for (size_t i = 0; i < cap; i++)
        if (i < n ? s[i] < ' ' || s[i] > '~' : s[i] != '\0')
            return false;
    return true;
}

static const char digits[] = "0123456789",
                  letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* Nothing that means something in a path, a message or a shell. */
static bool is_word(const char *s, const char *first)
{
    size_t n = 0;
    if (!*s || !strchr(first, *s))
        return false;
    while (s[n] && (strchr(letters, s[n]) || strchr(digits, s[n]) || strchr("_-+~.", s[n])))
        n++;
    return s[n] == '\0';
}

static bool check_texts(const tn_note *n, tn__finding *f)
{
    if (!is_text(n->name, sizeof n->name) || !is_text(n->version, sizeof n->version) ||
        !is_text(n->cpu, sizeof n->cpu) || !is_text(n->driver, sizeof n->driver))
        return tn__refuse(f, cure_damaged,
                          "its note is damaged: a text in it is unprintable, has no end, or has "
                          "something behind its end");
    if (!is_word(n->name, letters))
        return tn__refuse(f, cure_macro,
                          "its note has the name '%s'; a name has letters, digits, '_', '-', '+' "
                          "and '.', and begins with a letter",
                          n->name);
    if (!is_word(n->version, digits))
        return tn__refuse(f, cure_macro,
                          "its note has the version '%s'; a version has letters, digits, '_', '-', "
                          "'+', '~' and '.', and begins with a digit",
                          n->version);
    return true;
}

bool tn__note_find(const tn__elf *e, tn_note *out, tn__finding *f)
{
    const uint32_t description = sizeof(tn_note) - offsetof(tn_note, revision);
    const search s = locate(e, TN_NOTE_TYPE);
    if (s.found == 0 && s.damaged)
        return tn__refuse(f, cure_damaged,
                          "its notes are damaged: one ends outside its segment, and Tenon's is not "
                          "found before it");
    if (s.found == 0)
        return tn__refuse(f, cure_macro, "it has no Tenon note, so it is no Tenon plugin");
    if (s.found > 1)
        return tn__refuse(f, "write TN_PLUGIN(..) once",
                          "it has %d Tenon notes, which say two things; a plugin has one", s.found);
    if (!tn__elf_read(e, s.at, out, sizeof *out))
        return tn__refuse(f, cure_damaged,
                          "it is truncated or damaged: its Tenon note ends outside the file");
    if (out->revision != TN_NOTE_REVISION || out->desc_size < description)
        return tn__refuse(f, cure_damaged,
                          "its note has layout %" PRIu32 " and %" PRIu32
                          " bytes; this Tenon reads layout %d with %" PRIu32 " bytes",
                          out->revision, out->desc_size, TN_NOTE_REVISION, description);
    if (s.damaged)
        return tn__refuse(f, cure_damaged, "its notes are damaged: one ends outside its segment");
    return check_texts(out, f);
}

uint32_t tn__note_host(const tn__elf *e, uint64_t fingerprints[TN__NOTE_REVISIONS])
{
    tn__host_note note;
    const uint64_t body = offsetof(tn__host_note, fingerprints);
    const search s = locate(e, TN__NOTE_HOST);
    uint64_t at = s.at;
    if (!s.found || !tn__elf_read(e, at, &note, body) || note.revision == 0 ||
        note.revision >= TN__NOTE_REVISIONS)
        return 0;
    return tn__elf_read(e, at + body, fingerprints + 1, note.revision * sizeof *fingerprints)
               ? note.revision
               : 0;
}

bool tn__note_read(const char *path, tn_note *out, tn__finding *f)
{
    tn__elf e;
    if (!tn__elf_open(&e, path, f))
        return false;
    bool ok = tn__note_find(&e, out, f);
    tn__elf_close(&e);
    return ok;
}

uint64_t tn__border_fingerprint(uint32_t revision)
{
    static const uint64_t fingerprints[] = TN_BORDER_FINGERPRINTS;
    return revision >= 1 && revision <= TN_COUNT(fingerprints) ? fingerprints[revision - 1] : 0;
}

static bool check_border(const tn_note *note, tn__finding *f)
{
    if (note->abi > TN_BORDER_REVISION) {
        char cure[128];
        snprintf(cure, sizeof cure, "update Tenon, or build the plugin with -DTN_TARGET_ABI=%d",
                 TN_BORDER_REVISION);
        return tn__refuse(f, cure,
                          "it needs border revision %" PRIu32 ", and this Tenon has revision %d",
                          note->abi, TN_BORDER_REVISION);
    }
    if (note->abi > note->abi_built)
        return tn__refuse(f, cure_damaged,
                          "its note contradicts itself: it asks for border revision %" PRIu32
                          " at least, and was built with revision %" PRIu32,
                          note->abi, note->abi_built);
    uint64_t ours = tn__border_fingerprint(note->abi), theirs = tn__note_u64(note->fingerprint);
    if (ours == 0)
        return tn__refuse(f, cure_rebuild,
                          "it was built for border revision %" PRIu32
                          ", which this Tenon does not know",
                          note->abi);
    if (ours != theirs)
        return tn__refuse(f, cure_rebuild,
                          "it was built against other border structs: at revision %" PRIu32
                          " its fingerprint is %016" PRIx64 ", this Tenon's %016" PRIx64,
                          note->abi, theirs, ours);
    return true;
}

/* 1: the CPU has it, 0: it has not, -1: no such feature is known here. */
static int cpu_has(const char *feature, size_t n)
{
#if defined(__x86_64__)
    const struct {
        const char *name;
        int has;
    } known[] = {
        {"sse4.2", __builtin_cpu_supports("sse4.2")},
        {"avx", __builtin_cpu_supports("avx")},
        {"avx2", __builtin_cpu_supports("avx2")},
        {"fma", __builtin_cpu_supports("fma")},
        {"bmi2", __builtin_cpu_supports("bmi2")},
        {"avx512f", __builtin_cpu_supports("avx512f")},
        {"avx512bw", __builtin_cpu_supports("avx512bw")},
        {"avx512vl", __builtin_cpu_supports("avx512vl")},
        {"avx512dq", __builtin_cpu_supports("avx512dq")},
        {"avx512cd", __builtin_cpu_supports("avx512cd")},
    };
    for (size_t i = 0; i < TN_COUNT(known); i++)
        if (strlen(known[i].name) == n && memcmp(known[i].name, feature, n) == 0)
            return known[i].has != 0;
#else
    (void)feature, (void)n;
#endif
    return -1;
}

static bool check_cpu(const tn_note *note, tn__finding *f)
{
    for (const char *at = note->cpu; *at;) {
        size_t n = strcspn(at, ",");
        if (n == 0)
            return tn__refuse(f, "write TN_PLUGIN_CPU as \"avx2,fma\"",
                              "its note's list of CPU features, '%s', has an empty one", note->cpu);
        int has = cpu_has(at, n);
        if (has < 0)
            return tn__skip(f, "use a build of the plugin for this kind of CPU",
                            "it needs the CPU feature '%.*s', which this Tenon knows nothing of",
                            (int)n, at);
        if (has == 0)
            return tn__skip(f, "use a build of the plugin without that instruction set",
                            "it needs the CPU feature '%.*s', which this CPU has not", (int)n, at);
        at += n + (at[n] == ',');
    }
    return true;
}

static bool check_driver(const tn_note *note, tn__finding *f)
{
    if (!note->driver[0])
        return true;
    if (strchr(note->driver, '/'))
        return tn__refuse(f, "name a shared library such as libcuda.so.1, not a path",
                          "its note asks for the driver library '%s', which is a path",
                          note->driver);
    void *handle = dlopen(note->driver, RTLD_LAZY | RTLD_LOCAL);
    if (!handle)
        return tn__skip(f, "install the driver that brings this library",
                        "it needs the driver library '%s', which is not here", note->driver);
    return true; /* the handle stays: the plugin is about to use it */
}

bool tn__note_check(const tn_note *note, tn__finding *f)
{
    return check_border(note, f) && check_cpu(note, f) && check_driver(note, f);
}

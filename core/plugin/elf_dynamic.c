/* elf_dynamic.c - what the dynamic linker would read of a shared object: symbols that it defines and
 * wants, libraries, search paths, and two marks that say how its code must be mapped.
 *
 * Every loop has a fixed limit, as in elf.c. */
#include "core/plugin/elf.h"

enum { MAX_SYMBOLS = 1 << 20, MAX_DYNAMIC = 1 << 14, NAME_CHARS = 512 };

/* ---- symbols --------------------------------------------------------------------------------- */
static bool is_export(const Elf64_Sym *s)
{
    int bind = ELF64_ST_BIND(s->st_info), visibility = ELF64_ST_VISIBILITY(s->st_other);
    bool global = bind == STB_GLOBAL || bind == STB_WEAK || bind == STB_GNU_UNIQUE;
    return global && s->st_shndx != SHN_UNDEF &&
           (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

static bool is_import(const Elf64_Sym *s)
{
    return s->st_shndx == SHN_UNDEF && ELF64_ST_BIND(s->st_info) == STB_GLOBAL;
}

static bool walk_symbols(const tn__elf *e, bool (*wanted)(const Elf64_Sym *), tn__elf_name_fn fn,
                         void *arg, tn__finding *f)
{
    Elf64_Shdr symbols, strings;
    unsigned i = 0;
    while (tn__elf_section(e, i, &symbols) && symbols.sh_type != SHT_DYNSYM)
        i++;
    if (!tn__elf_section(e, i, &symbols) || !tn__elf_section(e, symbols.sh_link, &strings))
        return tn__refuse(
            f, "do not remove the section headers (strip keeps them)",
            "its exported symbols cannot be listed: it has no section of dynamic symbols");
    uint64_t n = symbols.sh_size / sizeof(Elf64_Sym);
    for (uint64_t k = 1; k < n && k < MAX_SYMBOLS; k++) {
        Elf64_Sym s;
        char name[NAME_CHARS];
        if (!tn__elf_read(e, symbols.sh_offset + k * sizeof s, &s, sizeof s))
            return tn__refuse(f, "build it again",
                              "it is truncated or damaged: its symbols lie outside the file");
        if (wanted(&s) &&
            !fn(arg, tn__elf_text(e, strings.sh_offset + s.st_name, name, sizeof name)))
            break;
    }
    return true;
}

bool tn__elf_exports(const tn__elf *e, tn__elf_name_fn fn, void *arg, tn__finding *f)
{
    return walk_symbols(e, is_export, fn, arg, f);
}

bool tn__elf_imports(const tn__elf *e, tn__elf_name_fn fn, void *arg, tn__finding *f)
{
    return walk_symbols(e, is_import, fn, arg, f);
}

/* ---- the dynamic section --------------------------------------------------------------------- */
/* Where in the file the loaded address `vaddr` comes from. */
static bool file_offset(const tn__elf *e, uint64_t vaddr, uint64_t *out)
{
    Elf64_Phdr p;
    for (unsigned i = 0; tn__elf_segment(e, i, &p); i++) {
        if (p.p_type != PT_LOAD || vaddr < p.p_vaddr || vaddr - p.p_vaddr >= p.p_filesz)
            continue;
        *out = p.p_offset + (vaddr - p.p_vaddr);
        return true;
    }
    return false;
}

/* The value of the first entry with `tag`. */
static bool dynamic_value(const tn__elf *e, const Elf64_Phdr *dynamic, int64_t tag, uint64_t *out)
{
    uint64_t n = dynamic->p_filesz / sizeof(Elf64_Dyn);
    Elf64_Dyn d;
    for (uint64_t i = 0; i < n && i < MAX_DYNAMIC; i++) {
        if (!tn__elf_read(e, dynamic->p_offset + i * sizeof d, &d, sizeof d) || d.d_tag == DT_NULL)
            return false;
        if (d.d_tag == tag) {
            *out = d.d_un.d_val;
            return true;
        }
    }
    return false;
}

static bool find_dynamic(const tn__elf *e, Elf64_Phdr *out)
{
    for (unsigned i = 0; tn__elf_segment(e, i, out); i++)
        if (out->p_type == PT_DYNAMIC)
            return true;
    return false;
}

/* Calls fn with the text of every entry that has `tag`. */
static bool walk_texts(const tn__elf *e, int64_t tag, tn__elf_name_fn fn, void *arg, tn__finding *f)
{
    Elf64_Phdr dynamic;
    uint64_t vaddr, strings;
    if (!find_dynamic(e, &dynamic) || !dynamic_value(e, &dynamic, DT_STRTAB, &vaddr) ||
        !file_offset(e, vaddr, &strings))
        return tn__refuse(f, "build it again", "it is damaged: it has no readable dynamic section");
    uint64_t n = dynamic.p_filesz / sizeof(Elf64_Dyn);
    for (uint64_t k = 0; k < n && k < MAX_DYNAMIC; k++) {
        Elf64_Dyn d;
        char name[NAME_CHARS];
        if (!tn__elf_read(e, dynamic.p_offset + k * sizeof d, &d, sizeof d) || d.d_tag == DT_NULL)
            break;
        if (d.d_tag == tag && !fn(arg, tn__elf_text(e, strings + d.d_un.d_val, name, sizeof name)))
            break;
    }
    return true;
}

bool tn__elf_needed(const tn__elf *e, tn__elf_name_fn fn, void *arg, tn__finding *f)
{
    return walk_texts(e, DT_NEEDED, fn, arg, f);
}

bool tn__elf_run_paths(const tn__elf *e, tn__elf_name_fn fn, void *arg, tn__finding *f)
{
    return walk_texts(e, DT_RPATH, fn, arg, f) && walk_texts(e, DT_RUNPATH, fn, arg, f);
}

bool tn__elf_text_relocations(const tn__elf *e)
{
    Elf64_Phdr dynamic;
    uint64_t value;
    if (!find_dynamic(e, &dynamic))
        return false;
    return dynamic_value(e, &dynamic, DT_TEXTREL, &value) ||
           (dynamic_value(e, &dynamic, DT_FLAGS, &value) && value & DF_TEXTREL);
}

bool tn__elf_executable_stack(const tn__elf *e)
{
    Elf64_Phdr p;
    for (unsigned i = 0; tn__elf_segment(e, i, &p); i++)
        if (p.p_type == PT_GNU_STACK)
            return p.p_flags & PF_X;
    return true; /* without the mark the linker's old default counts */
}

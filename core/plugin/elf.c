/* elf.c - the bounds-checked ELF reader: header, segments, sections, dynamic symbols and needed
 * libraries.
 *
 * The one trick: every access goes through tn__elf_read, which compares against the file's size
 * before it reads, and every loop has a fixed limit, so that no file, however made, costs more than
 * a moment. */
#define _GNU_SOURCE
#include "core/plugin/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_SEGMENTS = 512,
    MAX_SECTIONS = 4096,
    MAX_SYMBOLS = 1 << 20,
    MAX_DYNAMIC = 1 << 14,
    NAME_CHARS = 512
};

#if defined(__x86_64__)
enum { HOST_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { HOST_MACHINE = EM_AARCH64 };
#elif defined(__riscv)
enum { HOST_MACHINE = EM_RISCV };
#else
enum { HOST_MACHINE = EM_NONE }; /* not checked: dlopen will */
#endif

static const char cure_build[] = "give it the shared object that the plugin's build made";

static bool set(tn__finding *f, const char *state, const char *cure, const char *reason,
                va_list args)
{
    f->state = state;
    snprintf(f->cure, sizeof f->cure, "%s", cure);
    vsnprintf(f->reason, sizeof f->reason, reason, args);
    return false;
}

bool tn__refuse(tn__finding *f, const char *cure, const char *reason, ...)
{
    va_list args;
    va_start(args, reason);
    set(f, "refused", cure, reason, args);
    va_end(args);
    return false;
}

bool tn__skip(tn__finding *f, const char *cure, const char *reason, ...)
{
    va_list args;
    va_start(args, reason);
    set(f, "skipped", cure, reason, args);
    va_end(args);
    return false;
}

bool tn__elf_read(const tn__elf *e, uint64_t offset, void *buf, size_t n)
{
    if (offset > e->size || n > e->size - offset)
        return false;
    char *at = buf;
    while (n) {
        ssize_t got = pread(e->fd, at, n, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false; /* the file shrank, or the disk failed */
        at += got;
        n -= (size_t)got;
        offset += (uint64_t)got;
    }
    return true;
}

const char *tn__elf_text(const tn__elf *e, uint64_t offset, char *buf, size_t cap)
{
    buf[0] = '\0';
    if (offset >= e->size)
        return buf;
    size_t n = cap - 1;
    if (n > e->size - offset)
        n = (size_t)(e->size - offset);
    if (!tn__elf_read(e, offset, buf, n))
        n = 0;
    buf[n] = '\0';
    return buf;
}

static bool check_header(const tn__elf *e, tn__finding *f)
{
    const Elf64_Ehdr *h = &e->header;
    if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
        return tn__refuse(f, cure_build, "it is not an ELF file");
    int order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != order)
        return tn__refuse(f, "build it for this machine",
                          "it is not a 64-bit ELF file of this machine's byte order");
    if (HOST_MACHINE != EM_NONE && h->e_machine != HOST_MACHINE)
        return tn__refuse(f, "build it for this machine",
                          "it is for machine type %d, and this is type %d", h->e_machine,
                          HOST_MACHINE);
    if (h->e_type != ET_DYN)
        return tn__refuse(f, "link it with -shared",
                          "it is an ELF file of type %d, not a shared object (%d)", h->e_type,
                          ET_DYN);
    uint64_t segments = (uint64_t)h->e_phnum * sizeof(Elf64_Phdr);
    if (h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phnum == 0 || h->e_phnum > MAX_SEGMENTS ||
        h->e_phoff > e->size || segments > e->size - h->e_phoff)
        return tn__refuse(f, "build it again",
                          "it is truncated or damaged: its program headers lie outside the file");
    return true;
}

static bool check_file(tn__elf *e, tn__finding *f)
{
    struct stat st;
    if (fstat(e->fd, &st) != 0)
        return tn__refuse(f, cure_build, "it cannot be read: %s", strerror(errno));
    if (!S_ISREG(st.st_mode))
        return tn__refuse(f, cure_build, "it is not a regular file");
    e->size = (uint64_t)st.st_size;
    if (e->size == 0)
        return tn__refuse(f, "build it again", "the file is empty");
    memset(&e->header, 0, sizeof e->header);
    size_t n = e->size < sizeof e->header ? (size_t)e->size : sizeof e->header;
    if (!tn__elf_read(e, 0, &e->header, n))
        return tn__refuse(f, cure_build, "it cannot be read");
    if (memcmp(e->header.e_ident, ELFMAG, SELFMAG) == 0 && n < sizeof e->header)
        return tn__refuse(f, "build it again",
                          "it is truncated: %zu bytes, less than an ELF header", n);
    return check_header(e, f);
}

bool tn__elf_open(tn__elf *e, const char *path, tn__finding *f)
{
    /* O_NONBLOCK: opening a fifo must not wait for its writer */
    e->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (e->fd < 0)
        return tn__refuse(f, "check the path and its permissions", "it cannot be opened: %s",
                          strerror(errno));
    if (check_file(e, f))
        return true;
    tn__elf_close(e);
    return false;
}

void tn__elf_close(tn__elf *e)
{
    close(e->fd);
    e->fd = -1;
}

bool tn__elf_segment(const tn__elf *e, unsigned i, Elf64_Phdr *out)
{
    return i < e->header.e_phnum &&
           tn__elf_read(e, e->header.e_phoff + (uint64_t)i * sizeof *out, out, sizeof *out);
}

bool tn__elf_section(const tn__elf *e, unsigned i, Elf64_Shdr *out)
{
    if (i >= e->header.e_shnum || i >= MAX_SECTIONS || e->header.e_shentsize != sizeof *out)
        return false;
    if (e->header.e_shoff > e->size)
        return false;
    return tn__elf_read(e, e->header.e_shoff + (uint64_t)i * sizeof *out, out, sizeof *out);
}

static bool is_export(const Elf64_Sym *s)
{
    int bind = ELF64_ST_BIND(s->st_info), visibility = ELF64_ST_VISIBILITY(s->st_other);
    bool global = bind == STB_GLOBAL || bind == STB_WEAK || bind == STB_GNU_UNIQUE;
    return global && s->st_shndx != SHN_UNDEF &&
           (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

bool tn__elf_exports(const tn__elf *e, tn__elf_name_fn fn, void *arg, tn__finding *f)
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
        if (is_export(&s) &&
            !fn(arg, tn__elf_text(e, strings.sh_offset + s.st_name, name, sizeof name)))
            break;
    }
    return true;
}

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

bool tn__elf_needed(const tn__elf *e, tn__elf_name_fn fn, void *arg, tn__finding *f)
{
    Elf64_Phdr dynamic;
    unsigned i = 0;
    while (tn__elf_segment(e, i, &dynamic) && dynamic.p_type != PT_DYNAMIC)
        i++;
    uint64_t vaddr, strings;
    if (!tn__elf_segment(e, i, &dynamic) || !dynamic_value(e, &dynamic, DT_STRTAB, &vaddr) ||
        !file_offset(e, vaddr, &strings))
        return tn__refuse(f, "build it again", "it is damaged: it has no readable dynamic section");
    uint64_t n = dynamic.p_filesz / sizeof(Elf64_Dyn);
    for (uint64_t k = 0; k < n && k < MAX_DYNAMIC; k++) {
        Elf64_Dyn d;
        char name[NAME_CHARS];
        if (!tn__elf_read(e, dynamic.p_offset + k * sizeof d, &d, sizeof d) || d.d_tag == DT_NULL)
            break;
        if (d.d_tag == DT_NEEDED &&
            !fn(arg, tn__elf_text(e, strings + d.d_un.d_val, name, sizeof name)))
            break;
    }
    return true;
}

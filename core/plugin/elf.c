/* elf.c - the bounds-checked ELF reader: header, segments and sections. What the dynamic linker
 * reads is in elf_dynamic.c.
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

/* Of a file that was cut, the part behind the cut would be mapped all the same, and reading it would
 * end the process. */
static bool check_segments(const tn__elf *e, tn__finding *f)
{
    Elf64_Phdr p;
    for (unsigned i = 0; tn__elf_segment(e, i, &p); i++)
        if (p.p_filesz > e->size || p.p_offset > e->size - p.p_filesz)
            return tn__refuse(f, "build it again",
                              "it is truncated or damaged: its segment %u ends outside the file",
                              i);
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
    return check_header(e, f) && check_segments(e, f);
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

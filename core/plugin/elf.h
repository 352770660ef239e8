/* elf.h - a bounds-checked reader of 64-bit ELF files, by plain reads: nothing is mapped, nothing
 * runs.
 *
 * Every offset and count in a file is taken for hostile: what does not lie inside the file is not
 * read. Depends on libc only, so that the command `tenon doctor` shares it with the loader. */
#ifndef TN_CORE_PLUGIN_ELF_H
#define TN_CORE_PLUGIN_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a plugin is not loaded: one reason, one cure. What a check fills when it answers false. */
typedef struct tn__finding {
    const char *state; /* "refused": something is wrong with it; "skipped": this machine lacks what
                          it needs */
    char reason[1280];
    char cure[256];
} tn__finding;

/* Both return false, so that a check ends with `return tn__refuse(..)`. */
bool tn__refuse(tn__finding *f, const char *cure, const char *reason, ...)
    __attribute__((format(printf, 3, 4), cold));
bool tn__skip(tn__finding *f, const char *cure, const char *reason, ...)
    __attribute__((format(printf, 3, 4), cold));

typedef struct tn__elf {
    int fd;
    uint64_t size; /* of the file */
    Elf64_Ehdr header;
} tn__elf;

/* Opens a shared object for this machine. On success the caller closes it. */
bool tn__elf_open(tn__elf *e, const char *path, tn__finding *f);
void tn__elf_close(tn__elf *e);

/* n bytes at offset, all of them or false. */
bool tn__elf_read(const tn__elf *e, uint64_t offset, void *buf, size_t n);
/* The text at offset, cut to cap - 1 bytes; "" when there is none. Returns buf. */
const char *tn__elf_text(const tn__elf *e, uint64_t offset, char *buf, size_t cap);
/* The i-th program or section header; false at the end. */
bool tn__elf_segment(const tn__elf *e, unsigned i, Elf64_Phdr *out);
bool tn__elf_section(const tn__elf *e, unsigned i, Elf64_Shdr *out);

/* Called for each name; false stops the walk. */
typedef bool (*tn__elf_name_fn)(void *arg, const char *name);
/* The global symbols that the object defines; false when the file's tables cannot be read. */
bool tn__elf_exports(const tn__elf *e, tn__elf_name_fn fn, void *arg, tn__finding *f);
/* The global symbols that it expects from others; weak ones may stay away. */
bool tn__elf_imports(const tn__elf *e, tn__elf_name_fn fn, void *arg, tn__finding *f);
/* Where it lets the dynamic linker look for libraries: DT_RPATH, DT_RUNPATH; colons inside. */
bool tn__elf_run_paths(const tn__elf *e, tn__elf_name_fn fn, void *arg, tn__finding *f);
/* Its code has to be changed while it is mapped: it was compiled without -fPIC. */
bool tn__elf_text_relocations(const tn__elf *e);
bool tn__elf_executable_stack(const tn__elf *e);
/* The libraries that it asks the dynamic linker for. */
bool tn__elf_needed(const tn__elf *e, tn__elf_name_fn fn, void *arg, tn__finding *f);

#endif

/* plugin.h - a plugin as the core knows it, and what the rest of the core asks of this folder.
 *
 * A record is made for every file that was tried and stays for the life of the process: kernels,
 * operators and error messages point to it. */
#ifndef TN_CORE_PLUGIN_H
#define TN_CORE_PLUGIN_H

#include <sys/types.h>
#include <time.h>

#include <tenon/runtime.h>

#include "core/base/base.h"
#include "core/base/provenance.h"
#include "core/plugin/elf.h"

/* What makes two paths the same plugin: the file, not its name. */
typedef struct tn__file_id {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
} tn__file_id;

struct tn__plugin {
    const char *name, *version; /* of the note; "" when it could not be read */
    char *path;                 /* absolute and without links, where that could be found out */
    char *text;                 /* "cpu 1.0.0 (/usr/lib/tenon/plugins/cpu.so)" */
    tn__file_id id;             /* of the file when its code was mapped */
    void *handle;               /* of dlopen; kept for ever, NULL when never mapped */
    const tn_plugin *entry;     /* its exported table */
    uint64_t schemas;           /* the note's hash of its operators' schemas; 0: not given */
    uint32_t built;             /* border revision of the headers it was compiled with */
    int32_t references;         /* > 0: loaded */
    int32_t generation;         /* 1, and one more with every reload */
    tn__plugin *successor;      /* the generation that took over; NULL: this is the newest */
    _Atomic int64_t calls;      /* in its kernels now; counted in a checked host only */
    _Atomic bool told_of_mode;  /* that a kernel of it changes the floating-point mode */
    tn__finding finding;        /* why it is not loaded; when loaded, remarks of the registry */
    char name_text[48], version_text[32];
    tn__plugin *next; /* in the order of the first try */
};

/* The table handed to every plugin (api.c). */
extern const tn_api tn__api;
/* The optional ability of that id and revision (recording.c); NULL when there is none. */
const void *tn__extension(const char *id, int revision);
/* The transaction that is open in this thread, set by the loader; NULL outside a plugin's init. */
extern _Thread_local tn_registry *tn__registry_open;

#endif

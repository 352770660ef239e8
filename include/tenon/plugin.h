/* plugin.h - what a plugin's source includes: the border, the table of functions `tn`, and
 * TN_PLUGIN.
 *
 *     static tn_status relu(tn_call *call, struct tn_relu_args *a) { ... tn->tensor_new(call, ...)
 * ... } static const tn_kernel_decl kernels[] = {TN_KERNEL(relu, "CPU", relu)}; static tn_status
 * start(tn_registry *r) { return tn->register_kernels(r, kernels, TN_COUNT(kernels)); }
 *     TN_PLUGIN("myops", "1.0.0", start, NULL);
 *
 * A plugin links nothing of Tenon: compile with -fvisibility=hidden, link with -shared and the
 * export map share/tenon/tenon_plugin.map. TN_TARGET_ABI (tenon/border.h) chooses the oldest host
 * that can load it. */
#ifndef TENON_PLUGIN_H
#define TENON_PLUGIN_H

#include <tenon/border.h>

#if defined(__GNUC__)
#define TN_HIDDEN __attribute__((visibility("hidden")))
#define TN_NOTE_SECTION __attribute__((section(".note.tenon"), used, aligned(4)))
#else
#define TN_HIDDEN
#define TN_NOTE_SECTION
#endif

TN_BEGIN_DECLS

/* ---- the note: who the plugin is, readable before any of its code runs ----------------------- */
/* An ELF note in section .note.tenon, owner "Tenon", type 1; core/plugin/README.md has the layout.
 * Only 32-bit words and texts padded with NUL, because a note is 4-aligned. */
enum {
    TN_NOTE_TYPE = 1,
    TN_NOTE_REVISION = 1,
    TN_NOTE_NAME = 48, /* bytes of each text, its final NUL included */
    TN_NOTE_TEXT = 32,
};
typedef struct tn_note {
    uint32_t owner_size, desc_size, type;
    char owner[8];
    uint32_t revision;       /* of this layout; the description begins here */
    uint32_t abi;            /* oldest border revision of a host that can load it: TN_TARGET_ABI */
    uint32_t abi_built;      /* border revision of the headers it was compiled with */
    uint32_t fingerprint[2]; /* of the border's layout at revision `abi`; low word first */
    uint32_t schemas[2];     /* hash of its operators' schemas; 0: not given */
    char name[TN_NOTE_NAME];
    char version[TN_NOTE_TEXT];
    char cpu[TN_NOTE_TEXT]; /* CPU features that it cannot run without: "avx2,fma"; "" for none */
    char driver[TN_NOTE_TEXT]; /* a shared library that it cannot run without: "libcuda.so.1"; ""
                                  for none */
} tn_note;

/* A plugin that needs more than the baseline defines these before it includes this header. */
#ifndef TN_PLUGIN_CPU
#define TN_PLUGIN_CPU ""
#endif
#ifndef TN_PLUGIN_DRIVER
#define TN_PLUGIN_DRIVER ""
#endif
#ifndef TN_PLUGIN_SCHEMAS
#define TN_PLUGIN_SCHEMAS UINT64_C(0)
#endif

/* ---- the table and the start ----------------------------------------------------------------- */
/* The core's functions. Set before the plugin's init runs; one per plugin, hidden from every other.
 */
extern TN_HIDDEN const tn_api *tn;

/* What TN_PLUGIN was given: called once `tn` is set. It registers, and returns the first status
 * that is not TN_OK; then nothing of what it registered appears. */
extern TN_HIDDEN tn_status (*const tn_plugin_init)(tn_registry *r);

extern TN_EXPORT const tn_plugin tenon_plugin;

static inline tn_status tn_plugin_start(const tn_api *api, tn_registry *r)
{
    tn = api;
    return tn_plugin_init(r);
}

TN_END_DECLS

#define TN_NOTE_WORDS(u64)                                                                         \
    {                                                                                              \
        (uint32_t)((u64)&0xffffffffu), (uint32_t)((u64) >> 32)                                     \
    }

/* Once, at file scope. init: `tn_status init(tn_registry *r)`. exit: `void exit(void)` or NULL; it
 * runs when the plugin is unloaded, and when its registrations clash with another plugin's after
 * init succeeded. */
#define TN_PLUGIN(name_, version_, init_, exit_)                                                   \
    const tn_api *tn = NULL;                                                                       \
    tn_status (*const tn_plugin_init)(tn_registry *) = init_;                                      \
    static const tn_note tn_plugin_note TN_NOTE_SECTION = {                                        \
        6,                                                                                         \
        (uint32_t)(sizeof(tn_note) - offsetof(tn_note, revision)),                                 \
        TN_NOTE_TYPE,                                                                              \
        "Tenon",                                                                                   \
        TN_NOTE_REVISION,                                                                          \
        TN_TARGET_ABI,                                                                             \
        TN_BORDER_REVISION,                                                                        \
        TN_NOTE_WORDS(TN_BORDER_FINGERPRINT),                                                      \
        TN_NOTE_WORDS(TN_PLUGIN_SCHEMAS),                                                          \
        name_,                                                                                     \
        version_,                                                                                  \
        TN_PLUGIN_CPU,                                                                             \
        TN_PLUGIN_DRIVER,                                                                          \
    };                                                                                             \
    TN_STATIC_ASSERT(sizeof(name_) <= TN_NOTE_NAME && sizeof(version_) <= TN_NOTE_TEXT,            \
                     "a plugin's name has 47 bytes at most, its version 31");                      \
    const tn_plugin tenon_plugin = {                                                               \
        (uint32_t)sizeof(tn_plugin),                                                               \
        TN_TARGET_ABI,                                                                             \
        TN_BORDER_FINGERPRINT,                                                                     \
        name_,                                                                                     \
        version_,                                                                                  \
        tn_plugin_start,                                                                           \
        exit_,                                                                                     \
    }

/* ---- small helps ----------------------------------------------------------------------------- */
/* Passes a failure on to the caller. */
#define TN_TRY(expr)                                                                               \
    do {                                                                                           \
        tn_status tn_try_status = (expr);                                                          \
        if (tn_try_status != TN_OK)                                                                \
            return tn_try_status;                                                                  \
    } while (0)

#define TN_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A tn_kernel_decl for the operator whose frame is struct tn_NAME_args (tenon/frames.h, or what
 * tenon-gen made from your own YAML). fn_ is `tn_status fn_(tn_call *call, struct tn_NAME_args
 * *a)`; another type is a warning in C and an error in C++. A kernel that fails releases what it
 * has made so far: the core takes its results for absent. */
#define TN_KERNEL(NAME, key_, fn_) TN_KERNEL_DATA(NAME, key_, fn_, NULL)
#define TN_KERNEL_DATA(NAME, key_, fn_, data_) TN_KERNEL_DECL(NAME, key_, fn_, data_, 0, 0, NULL, 0)
/* The same for a kernel that keeps the promises of TN_KERNEL_LEAF. */
#define TN_LEAF_KERNEL(NAME, key_, fn_)                                                            \
    TN_KERNEL_DECL(NAME, key_, fn_, NULL, 0, TN_KERNEL_LEAF, NULL, 0)
/* The same for a plain kernel that takes some dtypes alone (tn_kernel_decl.dtypes). */
#define TN_KERNEL_DTYPES(NAME, key_, fn_, dtypes_)                                                 \
    TN_KERNEL_DECL(NAME, key_, fn_, NULL, dtypes_, 0, NULL, 0)
/* The same for a pointwise kernel with its inner loops (tn_kernel_decl.loops), as many as this
 * header knows dtypes. */
#define TN_LOOP_KERNEL(NAME, key_, fn_, loops_)                                                    \
    TN_KERNEL_DECL(NAME, key_, fn_, NULL, 0, 0, loops_, TN_DTYPE_COUNT)
#define TN_KERNEL_DECL(NAME, key_, fn_, data_, dtypes_, flags_, loops_, loops_count_)              \
    {                                                                                              \
        TN_SCHEMA_##NAME, key_, TN_KERNEL_FN(NAME, fn_), data_,                                    \
            (uint32_t)sizeof(struct tn_##NAME##_args), 0, dtypes_, flags_, loops_, loops_count_, 0 \
    }
#define TN_KERNEL_FN(NAME, fn_)                                                                    \
    (tn_kernel_fn)(1 ? (fn_) : (tn_status(*)(tn_call *, struct tn_##NAME##_args *))NULL)

#endif

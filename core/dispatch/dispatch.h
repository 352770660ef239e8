/* dispatch.h - the dispatcher: key sets, one table of slots per operator, and the registry behind
 * it.
 *
 * A key set is 64 bits: the low eight name backends (bit = device type), the others functionalities
 * in order of precedence. A call takes the highest functionality of its tensors' key sets and,
 * where that functionality has a kernel per backend, the highest backend: one load and one indirect
 * call. Tables are computed at registration. */
#ifndef TN_CORE_DISPATCH_H
#define TN_CORE_DISPATCH_H

#include <stdatomic.h>

#include <tenon/observe.h>

#include "core/base/base.h"
#include "core/base/devices.h"
#include "core/base/provenance.h"
#include "core/schema/layout.h"
#include "core/tensor/tensor_impl.h"

/* ---- keys (keys.c) --------------------------------------------------------------------------- */
enum {
    TN__BACKENDS = TN_DEVICE_TYPES, /* bits 0..7 */
    TN__BIT_DENSE = 8,              /* per backend */
    TN__BIT_BACKEND_SELECT,
    TN__BIT_AD_INPLACE_OR_VIEW,
    TN__BIT_AUTOGRAD, /* per backend */
    TN__BIT_AUTOCAST, /* per backend */
    TN__BIT_FUNCTIONALIZE,
    TN__BIT_TRACER,
    TN__BITS,
};
#define TN__KEY(bit) (UINT64_C(1) << (bit))
#define TN__KEY_BACKENDS UINT64_C(0xff)
#define TN__KEYS_HOST (TN__KEY(TN__BIT_DENSE) | TN__KEY(TN_CPU)) /* of a plain host tensor */
_Static_assert(TN__KEY(TN__BIT_AUTOGRAD) == TN__KEY_AUTOGRAD, "tensor_impl.h knows the bit");

enum { /* slots of an operator's table */
       TN__SLOT_UNDEFINED = 0,
       TN__SLOT_DENSE = 1,
       TN__SLOT_BACKEND_SELECT = TN__SLOT_DENSE + TN__BACKENDS,
       TN__SLOT_AD_INPLACE_OR_VIEW,
       TN__SLOT_AUTOGRAD,
       TN__SLOT_AUTOCAST = TN__SLOT_AUTOGRAD + TN__BACKENDS,
       TN__SLOT_FUNCTIONALIZE = TN__SLOT_AUTOCAST + TN__BACKENDS,
       TN__SLOT_TRACER,
       TN__SLOTS,
       /* alias keys: they stand for several slots and are resolved when a table is computed */
       TN__ALIAS_AUTOGRAD = TN__SLOTS,
       TN__ALIAS_COMPOSITE_IMPLICIT,
       TN__ALIAS_COMPOSITE_EXPLICIT,
       TN__ALIAS_COMPOSITE_EXPLICIT_NON_FUNCTIONAL,
       TN__REGISTRABLE, /* number of keys a kernel can be registered under */
};

typedef struct tn__slot_shape {
    uint8_t base, mask; /* slot = base + (backend & mask) */
} tn__slot_shape;
extern const tn__slot_shape tn__slot_shapes[64];

static inline size_t tn__slot_of(uint64_t keys)
{
    if (TN__LIKELY(keys == TN__KEYS_HOST))
        return TN__SLOT_DENSE + TN_CPU;
    unsigned functionality = 63 ^ (unsigned)__builtin_clzll(keys | 1);
    unsigned backend = 63 ^ (unsigned)__builtin_clzll((keys & TN__KEY_BACKENDS) | 1);
    tn__slot_shape s = tn__slot_shapes[functionality];
    return s.base + (backend & s.mask);
}

int tn__key_parse(const char *name); /* a slot or alias; -1 when unknown */
const char *tn__key_name(int registrable);
uint64_t tn__key_bit(const char *name); /* of a functionality; 0: none of that name */

typedef struct tn__key_guard { /* thread-local sets that every call applies */
    uint64_t include, exclude;
} tn__key_guard;
extern _Thread_local tn__key_guard tn__keys_tls __attribute__((tls_model("initial-exec")));

/* Where the call is made whose kernel this thread is in: calls that the kernel makes are made there,
 * too (core/plugin/api.c). */
typedef struct tn__call_site {
    const char *file; /* NULL: not known */
    int line;
} tn__call_site;
extern _Thread_local tn__call_site tn__call_site_tls __attribute__((tls_model("initial-exec")));

/* ---- operators ------------------------------------------------------------------------------- */
typedef struct tn__kernel tn__kernel;

typedef enum tn__form { TN__FORM_FUNCTIONAL, TN__FORM_INPLACE, TN__FORM_OUT, TN__FORMS } tn__form;

/* How a call enters a kernel: with a tn_call of its own, by the short road, or as a leaf. */
typedef tn_status (*tn__enter_fn)(const tn_op *op, tn__kernel *k, void *frame, uint64_t keys,
                                  const char *file, int line);

/* A registered kernel. Kernels of one key form a list by falling rank; the first one serves. Never
 * freed while the process lives, so that a call in flight stays valid whatever is unloaded beside
 * it. */
struct tn__kernel {
    tn__enter_fn enter;
    tn_kernel_fn fn;
    const void *data;
    tn__plugin *plugin; /* NULL: the core's own */
    tn__kernel *next;   /* of the same key, lower rank */
    tn__kernel
        *inner; /* what fn wraps: a structured kernel, or one of an older schema; else NULL */
    tn__kernel *outer[TN__FORMS]; /* the other way: what is called for each form; NULL: itself */
    tn__kernel *_Atomic replaced; /* whose place it has: the next of its list (table.c) */
    tn__kernel *made_before;      /* of the same transaction */
    const tn__layout
        *layout; /* of the schema it was compiled against, when older than the operator's */
    const tn_loop_fn *loops; /* of a structured kernel that has them: the short road (short.c) */
    tn__kernel *observed;    /* what stands before it while calls are observed (observe.c) */
    /* The one record of all calls of a leaf, which asks nothing of it that differs between them;
     * NULL: a call makes its own. */
    const tn_call *leaf;
    int32_t rank;
    tn_dtypes dtypes;
    void *owned;           /* data that goes with a transaction that fails */
    tn_call leaf_record[]; /* of a leaf only */
};

/* How a call of a structured operator is prepared; shared by the forms of one declaration. The
 * frames of the three forms have the same beginning, so one set of offsets and one kernel serve
 * them all. */
typedef struct tn__structure {
    tn_shape_fn shape; /* NULL: pointwise */
    int32_t pointwise; /* TN_POINTWISE_* */
    tn_dtypes dtypes;
    /* Computed and stored without a cast, of one or two inputs: the short road; 0: none. */
    tn_dtypes direct;
    int16_t n_results, n_tensors;
    int16_t n_numbers;                 /* Scalars, in the order of the schema */
    uint16_t tensors[TN_MAX_OPERANDS]; /* offsets in the frame */
    uint16_t numbers[TN_MAX_OPERANDS];
    /* Of the `dtype` argument; 0: none. When it is given, an out must have just that dtype. */
    uint16_t dtype_offset;
    struct tn__structure *retired; /* the next one that was replaced when its operator came back */
    /* a number without a default takes part in promotion; alpha only scales */
    bool promotes[TN_MAX_OPERANDS];
} tn__structure;

struct tn_op {
    _Atomic uint64_t key_mask; /* functionalities with a kernel somewhere, and the backends */
    tn_status (*call)(const tn_op *op, void *frame); /* tn_op_call for frames of its kind (op.c) */
    uint16_t n_tensor_args; /* Tensor and Tensor? arguments, the required ones first */
    uint16_t n_required;    /* Tensor arguments */
    bool checks_more;       /* strings or lists that must not be NULL */
    uint16_t n_list_args;   /* Tensor[] arguments */
    uint16_t device_offset; /* of the `device` argument of an operator without tensors; 0: none */
    uint16_t frame_size;
    uint16_t tensor_offsets[TN_MAX_OPERANDS];
    uint16_t list_offsets[4];
    /* Of the tensor that receives result 0: self or the first out; 0: functional. */
    uint16_t given_offset;
    tn__structure *structure;             /* NULL: not structured */
    tn__form form;                        /* which form of its declaration this is */
    tn__kernel *_Atomic slots[TN__SLOTS]; /* never NULL: a missing kernel raises the error */

    const char *name;   /* "aten::add.Tensor" */
    const char *schema; /* with its namespace */
    const tn__layout *layout;
    tn_op *forms[TN__FORMS]; /* functional, in-place, out of one declaration; NULL where absent */
    tn__plugin *owner;       /* who defined it; NULL: native */
    bool defined;            /* false once its plugin was unloaded */
    uint8_t how[TN__SLOTS];  /* tn__how: why a slot holds what it holds */
    /* core/autograd: what stands for a derivative while nobody has registered one. */
    const void *_Atomic unknown_derivative;
    tn__kernel *kernels[TN__REGISTRABLE];
    tn_op
        *retired; /* the next one whose name another operator has taken: handles to it stay safe */
};

/* ---- tables (table.c) ------------------------------------------------------------------------ */
typedef enum tn__how {
    TN__HOW_MISSING,
    TN__HOW_KERNEL,
    TN__HOW_COMPOSITE_EXPLICIT_NON_FUNCTIONAL,
    TN__HOW_COMPOSITE_EXPLICIT,
    TN__HOW_COMPOSITE_IMPLICIT,
    TN__HOW_AUTOGRAD,
    TN__HOW_FALLTHROUGH,
    TN__HOW_FALLBACK,
} tn__how;
/* Recomputes every slot from the registered kernels, by PyTorch's precedence. */
void tn__table_compute(tn_op *op);
const char *tn__how_text(tn__how how);

/* ---- autocast (autocast.c) ------------------------------------------------------------------- */
/* What the plugin that casts is given; include/tenon/autocast.h. */
extern const struct tn_autocast_api tn__autocast_api;

/* ---- observed calls (observe.c) -------------------------------------------------------------- */
/* What goes into a backend's slot for the kernel: itself while nobody observes. */
tn__kernel *tn__observed(tn__kernel *k);
/* From now on `o` sees every call; NULL: nobody does. */
void tn__observe(const tn_observer *o);
/* From now on backends' kernels are entered through g, which calls tn__kernel_enter; NULL: not. */
typedef tn_status (*tn__guard_fn)(const tn_call *call, tn__kernel *k, void *frame);
void tn__guard(tn__guard_fn g);
tn_status tn__kernel_enter(const tn_call *call, tn__kernel *k, void *frame);
tn_status tn__kernel_missing(tn_call *call, void *frame); /* the error of an empty slot */

/* ---- calls (call.c, structured.c, adapt.c) --------------------------------------------------- */
tn_status tn__dispatch(const tn_op *op, void *frame, uint64_t keys, const char *file, int line);
uint64_t tn__frame_keys(const tn_op *op, const void *frame);
/* What tn_op.call is, by what the operator's frame holds. */
void tn__op_choose_call(tn_op *op);
/* Calls the kernel that dispatch has chosen. */
tn_status tn__kernel_call(const tn_op *op, tn__kernel *k, void *frame, uint64_t keys,
                          const char *file, int line);
/* The same for a kernel of a device type that a plugin brings: with the stream that the thread's work
 * goes to (stream.c). */
tn_status tn__device_call(const tn_op *op, tn__kernel *k, void *frame, uint64_t keys,
                          const char *file, int line);
tn_status tn__kernel_call_on(void *stream, const tn_op *op, tn__kernel *k, void *frame,
                             uint64_t keys, const char *file, int line);
/* The same for a kernel that promised TN_KERNEL_LEAF. */
tn_status tn__leaf_call(const tn_op *op, tn__kernel *k, void *frame, uint64_t keys,
                        const char *file, int line);
/* The same for a kernel with loops: a small call on alike operands needs neither kernel nor
 * iterator. */
tn_status tn__short_call(const tn_op *op, tn__kernel *k, void *frame, uint64_t keys,
                         const char *file, int line);
tn_status tn__structured_call(tn_call *call,
                              void *frame); /* prepares results and iterator, then the kernel */
tn_status tn__written_call(tn_call *call, void *frame); /* a plain kernel, then counts its writes */
tn_status tn__fresh_call(tn_call *call, void *frame);   /* a composite one: results are unwritten */
tn_status tn__adapted_call(tn_call *call,
                           void *frame); /* a kernel compiled against an older schema */
/* Completes a frame that ends early. keys: those that are left below a kernel; 0: the tensors'. */
tn_status tn__call_with_older_frame(const tn_op *op, void *frame, uint64_t keys, const char *file,
                                    int line);

/* Runs what a kernel has replaced, by its rank, on the same frame (replaced.c). */
tn_status tn__kernel_call_replaced(tn_call *call, void *frame);

/* Clears a failed kernel's results, which must not be seen, and returns its status, or an error
 * when it is none. */
tn_status tn__kernel_failed(const tn_op *op, void *frame, tn_status status) TN_COLD;
tn_status tn__status_of_kernel(const tn_op *op, tn_status status) TN_COLD;

/* The keys that choose the kernel, of those that the tensors have. Backends and dense cannot be
 * excluded: there is nothing below them. */
static inline uint64_t tn__keys_in_force(const tn_op *op, uint64_t keys)
{
    uint64_t excluded = tn__keys_tls.exclude & ~(TN__KEY_BACKENDS | TN__KEY(TN__BIT_DENSE));
    return (keys | tn__keys_tls.include) & ~excluded &
           atomic_load_explicit(&((tn_op *)op)->key_mask, memory_order_relaxed);
}

static inline tn__kernel *tn__kernel_in(const tn_op *op, size_t slot)
{
    return atomic_load_explicit(&((tn_op *)op)->slots[slot], memory_order_acquire);
}

/* tn__dispatch for a frame of today's size that comes from no call site. */
tn_status tn__enter_any(const tn_op *op, void *frame, uint64_t keys);

/* The same inline, which is what typed calls are made of. Plain host tensors are looked for first: no
 * guard and no mask takes a key from what they have. A leaf's status comes as it is: of a failure
 * tn__kernel_failed makes an error. */
static inline __attribute__((always_inline)) tn_status tn__enter(const tn_op *op, void *frame,
                                                                 uint64_t keys)
{
    keys |= tn__keys_tls.include;
    if (TN__UNLIKELY(keys != TN__KEYS_HOST))
        return tn__enter_any(op, frame, keys);
    tn__kernel *k = tn__kernel_in(op, TN__SLOT_DENSE + TN_CPU);
    if (k->leaf)
        return k->fn((tn_call *)k->leaf, frame);
    return k->enter(op, k, frame, TN__KEYS_HOST, NULL, 0);
}

/* ---- the registry (stage.c, registry.c) ------------------------------------------------------ */
/* A transaction: what one plugin registers, staged; commit publishes all of it, rollback nothing.
 * The first failure sticks: whatever is registered afterwards returns it, and commit refuses. */
struct tn_registry {
    tn__plugin *plugin;
    tn__plugin *replaced; /* the generation of it whose place this one takes; NULL: none */
    struct tn__staged_op *ops;
    struct tn__staged_kernel *kernels;
    size_t n_ops, n_kernels, cap_ops, cap_kernels;
    tn__kernel *made; /* every record of the transaction, for rollback */
    uint32_t devices,
        new_devices;  /* types that it has brought (bit = type), and those without a name before */
    uint64_t schemas; /* hash of all that it has registered, in order */
    tn_status status;
};
void tn__registry_begin(tn_registry *r, tn__plugin *plugin);
tn_status tn__registry_ops(tn_registry *r, const tn_op_decl *ops, size_t n);
tn_status tn__registry_kernels(tn_registry *r, const tn_kernel_decl *kernels, size_t n);
/* The operator that a schema names, as the transaction sees it, and the forms of its declaration
 * (NULL where absent). */
tn_status tn__registry_find(const tn_registry *r, const char *schema, tn_op **out,
                            tn_op *forms[TN__FORMS]);
/* One kernel as the fallback of `n` neighbouring runtime slots, of device types to come, too. */
tn_status tn__registry_fallbacks(tn_registry *r, int slot, int n, tn_kernel_fn fn);
tn_status tn__registry_device(tn_registry *r, const tn_device_decl *device, int16_t *type_out);
tn_status tn__registry_imports(tn_registry *r, const char *const *schemas, const tn_op **handles,
                               size_t n);
tn_status tn__registry_commit(
    tn_registry *r); /* fails on conflicts, and then nothing has changed */
void tn__registry_rollback(tn_registry *r);
/* Computes every operator's table anew. */
void tn__registry_recompute(void);
/* Takes back everything a plugin registered; kernels that it had replaced serve again. */
void tn__registry_remove(tn__plugin *plugin);

/* "aten::add.Tensor", n bytes; NULL when never defined. Takes the registry's lock. */
tn_op *tn__op_lookup(const char *name, size_t n);
tn_op *tn__op_index(size_t i); /* i-th by name; NULL at the end */
void tn__registry_counts(tn__plugin *plugin, size_t *ops,
                         size_t *kernels); /* what a plugin has registered */

#endif

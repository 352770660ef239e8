/* table.c - which kernel each slot of an operator holds.
 *
 * The precedence is PyTorch's: a kernel registered for the key itself; then the composite-explicit
 * aliases (dense keys); then composite-implicit (dense and autograd keys, unless a kernel for that
 * backend exists); then the Autograd alias; then the key's fallback. Autograd, Autocast,
 * ADInplaceOrView, BackendSelect, Functionalize and Tracer fall through by default: a functionality
 * that does so for every backend is masked out of the call's key set and costs nothing. */
#include <string.h>

#include "core/dispatch/dispatch.h"
#include "core/dispatch/registry.h"

static tn__kernel missing_kernel = {.enter = tn__kernel_call, .fn = tn__kernel_missing};
static tn__kernel fallthrough_kernel = {.enter = tn__kernel_call, .fn = tn__kernel_fall_through};

typedef struct choice {
    tn__kernel *kernel;
    tn__how how;
} choice;

static bool in_range(int slot, int first)
{
    return slot >= first && slot < first + TN__BACKENDS;
}

static bool is_dense(int slot)
{
    return slot == TN__SLOT_UNDEFINED || in_range(slot, TN__SLOT_DENSE);
}

static bool is_autograd(int slot)
{
    return in_range(slot, TN__SLOT_AUTOGRAD);
}

/* Whether the backend below an autograd slot has a kernel of its own, so that composite-implicit
 * must not differentiate through its decomposition. */
static bool has_backend_kernel(const tn_op *op, int slot)
{
    if (op->kernels[TN__ALIAS_COMPOSITE_EXPLICIT])
        return true;
    if (slot == TN__SLOT_UNDEFINED)
        return false;
    int backend = is_autograd(slot) ? slot - TN__SLOT_AUTOGRAD : slot - TN__SLOT_DENSE;
    return op->kernels[TN__SLOT_DENSE + backend] != NULL;
}

static choice choose(const tn_op *op, int slot)
{
    tn__kernel *const *k = op->kernels;
    if (k[slot])
        return (choice){k[slot], k[slot]->fn ? TN__HOW_KERNEL : TN__HOW_FALLTHROUGH};
    if (is_dense(slot)) {
        if (k[TN__ALIAS_COMPOSITE_EXPLICIT_NON_FUNCTIONAL])
            return (choice){k[TN__ALIAS_COMPOSITE_EXPLICIT_NON_FUNCTIONAL],
                            TN__HOW_COMPOSITE_EXPLICIT_NON_FUNCTIONAL};
        if (k[TN__ALIAS_COMPOSITE_EXPLICIT])
            return (choice){k[TN__ALIAS_COMPOSITE_EXPLICIT], TN__HOW_COMPOSITE_EXPLICIT};
    }
    if ((is_dense(slot) || is_autograd(slot)) && k[TN__ALIAS_COMPOSITE_IMPLICIT] &&
        !has_backend_kernel(op, slot))
        return (choice){k[TN__ALIAS_COMPOSITE_IMPLICIT], TN__HOW_COMPOSITE_IMPLICIT};
    if (is_autograd(slot) && k[TN__ALIAS_AUTOGRAD])
        return (choice){k[TN__ALIAS_AUTOGRAD], TN__HOW_AUTOGRAD};
    tn__kernel *fallback = tn__registry_fallback(slot);
    if (fallback)
        return (choice){fallback, fallback->fn ? TN__HOW_FALLBACK : TN__HOW_FALLTHROUGH};
    if (!is_dense(slot))
        return (choice){&fallthrough_kernel, TN__HOW_FALLTHROUGH};
    return (choice){&missing_kernel, TN__HOW_MISSING};
}

/* A functionality stays in the key mask when at least one of its slots does something. */
static uint64_t mask_of(const tn_op *op)
{
    uint64_t mask = TN__KEY_BACKENDS | TN__KEY(TN__BIT_DENSE);
    for (int bit = TN__BIT_DENSE + 1; bit < TN__BITS; bit++) {
        tn__slot_shape s = tn__slot_shapes[bit];
        for (int i = 0; i <= s.mask; i++)
            if (op->how[s.base + i] != TN__HOW_FALLTHROUGH)
                mask |= TN__KEY(bit);
    }
    return mask;
}

void tn__list_chain(tn__kernel *list)
{
    for (tn__kernel *k = list; k; k = k->next)
        atomic_store_explicit(&k->replaced, k->next, memory_order_release);
}

void tn__table_compute(tn_op *op)
{
    for (int key = 0; key < TN__REGISTRABLE; key++)
        tn__list_chain(op->kernels[key]);
    for (int slot = 0; slot < TN__SLOTS; slot++) {
        choice c = op->defined ? choose(op, slot) : (choice){&missing_kernel, TN__HOW_MISSING};
        if (c.how == TN__HOW_FALLTHROUGH)
            c.kernel = &fallthrough_kernel;
        else if (is_dense(slot) && c.how != TN__HOW_MISSING)
            c.kernel = tn__observed(c.kernel);
        op->how[slot] = (uint8_t)c.how;
        atomic_store_explicit(&op->slots[slot], c.kernel, memory_order_release);
    }
    atomic_store_explicit(&op->key_mask, op->defined ? mask_of(op) : ~UINT64_C(0),
                          memory_order_release);
}

const char *tn__how_text(tn__how how)
{
    static const char *const texts[] = {
        [TN__HOW_MISSING] = "missing",
        [TN__HOW_KERNEL] = "kernel",
        [TN__HOW_COMPOSITE_EXPLICIT_NON_FUNCTIONAL] = "CompositeExplicitAutogradNonFunctional",
        [TN__HOW_COMPOSITE_EXPLICIT] = "CompositeExplicitAutograd",
        [TN__HOW_COMPOSITE_IMPLICIT] = "CompositeImplicitAutograd",
        [TN__HOW_AUTOGRAD] = "Autograd",
        [TN__HOW_FALLTHROUGH] = "fallthrough",
        [TN__HOW_FALLBACK] = "fallback",
    };
    return texts[how];
}

/* hooks.h - what a hook is; hooks.c and retain.c. */
#ifndef TN_CORE_AUTOGRAD_HOOKS_H
#define TN_CORE_AUTOGRAD_HOOKS_H

#include "core/autograd/autograd_impl.h"

typedef enum tn__hook_kind {
    TN__HOOK_TENSOR, /* of output nr */
    TN__HOOK_RETAIN, /* keeps output nr's gradient in its tensor's grad */
    TN__HOOK_BEFORE,
    TN__HOOK_AFTER,
    TN__HOOK_LEAF,
} tn__hook_kind;

struct tn__hooks { /* one hook, and with it the rest of its list */
    tn__hooks *next;
    tn__hooks **list; /* where its list begins; NULL: it has been taken out */
    tn__hook_kind kind;
    uint32_t nr;
    int32_t uses; /* the list, and passes that are about to call it: at 0 its data goes */
    int32_t refs; /* its being in use, and the handle: at 0 it goes itself */
    union {
        tn_grad_hook tensor;
        tn_node_hook node;
        tn_leaf_hook leaf;
    } call;
    void *data;
    void (*release)(void *data);
    tn_tensor *keeper; /* RETAIN: whose grad it is; not held, NULL when it is gone */
};
struct tn_hook { /* the handle */
    tn__hooks hook;
};

extern pthread_mutex_t tn__hooks_lock; /* of all lists */
/* Adds to the end. */
void tn__hook_append(tn__hooks **list, tn__hooks *h);
/* Under the lock: whether it was in a list, whose hold is the caller's now. */
bool tn__hook_unlink(tn__hooks *h);
void tn__hook_release_use(tn__hooks *h);

#endif

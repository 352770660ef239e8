/* derivative.h - a registered derivative, with the places of everything in its operator's frame,
 * and the nodes that record calls of it. */
#ifndef TN_CORE_AUTOGRAD_DERIVATIVE_H
#define TN_CORE_AUTOGRAD_DERIVATIVE_H

#include "core/autograd/autograd_impl.h"

enum {
    TN__MOST_DIFFERENTIABLE = 16,
    TN__MOST_FIELDS = 48,
    TN__LEADING = 4, /* tensors at a frame's beginning that are told from the rest */
};

typedef enum tn__effect {                     /* of a call on its tensors */
                          TN__EFFECT_NEW,     /* results are new tensors */
                          TN__EFFECT_VIEW,    /* results share an argument's memory */
                          TN__EFFECT_INPLACE, /* an argument is written and returned */
                          TN__EFFECT_OUT, /* arguments are written that were given for the results */
} tn__effect;

typedef struct tn__place { /* a tensor or a list of them in the frame */
    uint16_t offset;
    bool is_list;
    bool no_formula;     /* of an argument */
    bool differentiable; /* of a result */
} tn__place;

typedef struct tn__kept { /* a tensor field that a node saves, for the gradients in the masks */
    tn__place place;
    int8_t result; /* -1: an argument */
    uint64_t value_for, shape_for;
} tn__kept;

typedef struct tn__list { /* a plain list, or a string, that a node copies */
    uint16_t offset;
    uint8_t item; /* bytes; 0: a string */
} tn__list;

typedef struct tn__derivative {
    tn_derivative_decl decl; /* backward NULL: no gradient flows through */
    const tn_op *op;
    tn__effect effect;
    int n_args, n_results, n_outs, n_lists;
    int n_kept, n_kept_results; /* of the kept fields, those that are results come first */
    bool has_lists;             /* a differentiable argument is a Tensor[] */
    bool is_plain;      /* no field at all is a list or a string: all its nodes have one size */
    bool keeps_results; /* of a result something is saved, or it is a list */
    bool unknown;       /* there is no formula: the fallback's */
    bool is_usual; /* it has a formula, writes no argument, and has no lists to differentiate */
    bool is_short; /* and it is plain */
    bool has_one_result; /* a tensor that is differentiable, and no other result */
    int written;         /* INPLACE: which differentiable argument is written; -1: none of them */
    uint16_t self;       /* INPLACE: its offset */
    uint32_t frame_size;
    uint32_t leading_end; /* of a frame's first tensors, if it has no others before it */
    int n_leading;
    size_t edges_at;   /* where a node's edges stand */
    size_t node_bytes; /* is_plain: of a node, with room for all that it may save */
    int node_class;    /* and the class of its block */
    tn__place args[TN__MOST_DIFFERENTIABLE];
    tn__place results[TN_MAX_OPERANDS];
    tn__place outs[TN_MAX_OPERANDS]; /* OUT: the arguments given for the results */
    int n_tensors;
    tn__place tensors[TN__MOST_FIELDS]; /* all fields that hold tensors */
    tn__kept kept[TN__MOST_FIELDS];
    tn__list lists[TN__MOST_FIELDS];
} tn__derivative;

/* recording.c: the boxed kernel; call->data is a tn__derivative. */
tn_status tn__autograd_call(tn_call *call, void *frame);
/* How dispatch enters that kernel. */
tn_status tn__autograd_enter(const tn_op *op, tn__kernel *k, void *frame, uint64_t keys,
                             const char *file, int line);
/* The same for an operator that nobody registered a derivative for: of its results none can be
 * differentiated, which backward says. */
tn_status tn__autograd_unknown(tn_call *call, void *frame);
/* The derivative of an operator without formulas, made on first use; NULL when memory ran out. */
const tn__derivative *tn__derivative_unknown(const tn_op *op);

/* ---- op_node.c: a recorded call -------------------------------------------------------------- */
typedef struct tn__survey { /* what a call asks for */
    bool wants;             /* an argument requires a gradient */
    bool tangents;
    int32_t n_edges; /* entries of all differentiable arguments */
} tn__survey;

/* Sets what is the same for all nodes of the derivative. */
void tn__op_node_prepare(tn__derivative *d);

static inline tn_tensor *tn__tensor_at(const void *frame, uint16_t offset)
{
    return *(tn_tensor *const *)((const char *)frame + offset);
}
static inline const tn_tensors *tn__tensors_at(const void *frame, uint16_t offset)
{
    return (const tn_tensors *)((const char *)frame + offset);
}

/* The tensors of a place, one or a list. */
typedef struct tn__items {
    tn_tensor *const *data;
    int64_t len;
} tn__items;
static inline tn__items tn__items_at(const void *frame, const tn__place *p)
{
    if (!p->is_list)
        return (tn__items){(tn_tensor *const *)((const char *)frame + p->offset), 1};
    const tn_tensors *list = tn__tensors_at(frame, p->offset);
    return (tn__items){list->data, list->len > 0 ? list->len : 0};
}

#endif

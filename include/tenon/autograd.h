/* autograd.h - gradients: what requires them, running backward, hooks, modes, tangents.
 *
 * Operators called on tensors that require gradients record a graph as they run; backward walks it
 * from the results to the leaves. A *leaf* is a tensor that no recorded operator made; its gradient
 * is added up in its grad. Complex gradients follow the conjugate Wirtinger convention: of a real
 * loss L, grad = dL/dRe + i dL/dIm.
 *
 * Threads: modes (no_grad ...) are the thread's own. Any number of threads may record and run
 * backward at a time on graphs that share leaves; one graph is written (in place) from one thread.
 */
#ifndef TENON_AUTOGRAD_H
#define TENON_AUTOGRAD_H

#include <tenon/tensor.h>

TN_BEGIN_DECLS

typedef struct tn_node tn_node; /* of the graph: one recorded call, or a leaf */

/* ---- tensors --------------------------------------------------------------------------------- */
/* Whether a result made from t now would require a gradient. */
TN_API bool tn_requires_grad(const tn_tensor *t);
/* Makes a floating or complex leaf require a gradient, or no longer. Of a tensor that an
 * operator made the history says what it requires: true changes nothing, false is an error; detach
 * gives one without history. */
TN_API tn_status tn_set_requires_grad(tn_tensor *t, bool requires_grad);
TN_API bool tn_is_leaf(const tn_tensor *t);
/* The gradient so far, borrowed; NULL: none yet. */
TN_API tn_tensor *tn_grad(const tn_tensor *t);
/* Replaces it; NULL clears it. Shape, dtype and device are t's. */
TN_API tn_status tn_set_grad(tn_tensor *t, tn_tensor *grad);
/* Keeps the gradient of a tensor that is no leaf in its grad, too. */
TN_API tn_status tn_retain_grad(tn_tensor *t);
/* The node that made t, borrowed as long as t keeps its history; NULL for a leaf. */
TN_API tn_node *tn_grad_fn(tn_tensor *t);
TN_API const char *tn_node_name(const tn_node *n);
/* Where gradients go next: node and which of its outputs; NULL where they end. i from 0; false at
 * the end. */
TN_API bool tn_node_next(const tn_node *n, int i, tn_node **next, int *output);

/* ---- backward -------------------------------------------------------------------------------- */
typedef struct tn_backward_options {
    bool keep_graph;   /* what was saved stays, so that the graph can be walked again */
    bool create_graph; /* record the walk itself, for gradients of gradients; implies keep_graph */
    bool allow_unused; /* tn_grad_of: an input that no output depends on gets NULL, not an error */
} tn_backward_options;

/* Adds the gradients of the outputs to the grad of every leaf below them. grads: d loss / d output
 * for each, NULL (or a NULL entry) meaning 1 for outputs of one real element. options: NULL for
 * none. What nodes had saved goes as they run; a graph that saved nothing can be walked again
 * without keep_graph. After a failure leaves that were reached before it keep what was added. */
TN_API tn_status tn_backward(tn_tensors outputs, const tn_tensors *grads,
                             const tn_backward_options *options);
/* The same for one output of one element: tn_backward_from(loss). NULL is passed on from failed
 * expressions: the thread's error record says what failed there. */
TN_API tn_status tn_backward_from(tn_tensor *loss);
/* The gradients of the inputs alone: out[i] is the caller's. No grad of a leaf changes. */
TN_API tn_status tn_grad_of(tn_tensors outputs, const tn_tensors *grads, tn_tensors inputs,
                            const tn_backward_options *options, tn_tensor **out);

/* ---- hooks ----------------------------------------------------------------------------------- */
/* Called with the gradient; *replacement (NULL at entry) may be set to another one, a reference for
 * the caller. A failure ends the walk. */
typedef tn_status (*tn_grad_hook)(void *data, tn_tensor *grad, tn_tensor **replacement);
/* Before a node runs: the gradients of its outputs; after: those of its inputs, too. NULL entries
 * are undefined. */
typedef tn_status (*tn_node_hook)(void *data, tn_node *node, tn_tensors inputs_grads,
                                  tn_tensors outputs_grads);
typedef tn_status (*tn_leaf_hook)(void *data, tn_tensor *leaf);
typedef struct tn_hook tn_hook;

/* release (may be NULL) is called with data when the hook goes; of a hook that could not be added it
 * is not. *out (may be NULL) is given back to tn_hook_remove once, also after the tensor or node is
 * gone. */
TN_API tn_status tn_tensor_hook(tn_tensor *t, tn_grad_hook hook, void *data,
                                void (*release)(void *data), tn_hook **out);
TN_API tn_status tn_node_hook_before(tn_node *n, tn_node_hook hook, void *data,
                                     void (*release)(void *data), tn_hook **out);
TN_API tn_status tn_node_hook_after(tn_node *n, tn_node_hook hook, void *data,
                                    void (*release)(void *data), tn_hook **out);
/* After a leaf's grad was added to. */
TN_API tn_status tn_leaf_hook_after(tn_tensor *leaf, tn_leaf_hook hook, void *data,
                                    void (*release)(void *data), tn_hook **out);
TN_API void tn_hook_remove(tn_hook *h);

/* ---- modes ----------------------------------------------------------------------------------- */
typedef struct tn_grad_mode {
    uint64_t held[3]; /* what tn_grad_mode_leave restores */
} tn_grad_mode;
typedef enum tn_grad_mode_kind {
    TN_GRAD_ENABLED,  /* also inside of inference mode */
    TN_GRAD_DISABLED, /* nothing is recorded */
    TN_GRAD_INFERENCE /* and tensors made in it can never take part in a recorded call */
} tn_grad_mode_kind;
TN_API void tn_grad_mode_enter(tn_grad_mode *m, tn_grad_mode_kind kind);
TN_API void tn_grad_mode_leave(tn_grad_mode *m);
TN_API bool tn_grad_enabled(void);
/* Anomaly mode, for the whole process: a NaN in a gradient is an error that names the operator and
 * the call site in the forward pass. */
TN_API void tn_set_anomaly_mode(bool on);
#if defined(__GNUC__) && !defined(__cplusplus)
static inline tn_grad_mode *tn_grad_mode_begin(tn_grad_mode *m, tn_grad_mode_kind kind)
{
    tn_grad_mode_enter(m, kind);
    return m;
}
/* TN_NO_GRAD { ... }: the block's calls are not recorded; left in any way but longjmp. */
#define TN_GRAD_MODE_BLOCK(kind)                                                                   \
    for (tn_grad_mode tn_mode_here __attribute__((cleanup(tn_grad_mode_leave))),                   \
         *tn_mode_once = tn_grad_mode_begin(&tn_mode_here, kind);                                  \
         tn_mode_once; tn_mode_once = NULL)
#define TN_NO_GRAD TN_GRAD_MODE_BLOCK (TN_GRAD_DISABLED)
#define TN_ENABLE_GRAD TN_GRAD_MODE_BLOCK (TN_GRAD_ENABLED)
#define TN_INFERENCE_MODE TN_GRAD_MODE_BLOCK (TN_GRAD_INFERENCE)
#endif

/* ---- forward mode ---------------------------------------------------------------------------- */
/* Between tn_forward_enter and tn_forward_leave tensors may carry tangents, which operators pass on
 * (jvp). One level: entering twice is an error. Leaving drops all tangents of the thread's level.
 */
TN_API tn_status tn_forward_enter(void);
TN_API void tn_forward_leave(void);
/* t with a tangent of its shape and dtype: a view of t, the caller's. */
TN_API tn_status tn_make_dual(tn_tensor *t, tn_tensor *tangent, tn_tensor **out);
/* Borrowed; NULL: zero. */
TN_API tn_tensor *tn_tangent_of(const tn_tensor *t);

/* ---- functions of one's own ------------------------------------------------------------------ */
/* As a plugin's function_apply (tenon/border.h: tn_function_decl). */
TN_API tn_status tn_function_apply(const tn_function_decl *f, void *context,
                                   tn_tensor *const *inputs, size_t n_inputs, tn_tensor **outputs,
                                   size_t n_outputs);
TN_API tn_status tn_function_save(tn_grad_call *g, tn_tensor *const *tensors, size_t n);
TN_API tn_tensor *tn_function_saved(tn_grad_call *g, size_t i);

TN_END_DECLS
#endif

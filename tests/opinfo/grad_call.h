/* grad_call.h - a sample as a function from tensors to tensors, which gradcheck can call. */
#ifndef TENON_OPINFO_GRAD_CALL_H
#define TENON_OPINFO_GRAD_CALL_H

#include <tenon/gradcheck.h>

#include "opinfo.h"

typedef enum oi_form {
    OI_FUNCTIONAL,
    OI_INPLACE_FORM, /* of a copy of self, which is the output */
    OI_WRITTEN_VIEW, /* a view of a copy of self is written; outputs: the copy and the view */
    OI_FORMS,
} oi_form;
const char *oi_grad_form_name(oi_form f);

typedef struct oi_grad_call {
    oi_form form;
    const tn_op *op; /* of the form */
    oi_call call;
    tn_tensor **slots[OI_ARGS * 2]; /* where each input stands in the frame */
    tn_tensor *inputs[OI_ARGS * 2]; /* float64 and complex128 ones require a gradient */
    int field_of[OI_ARGS * 2];      /* the input's argument */
    int n_inputs, n_outputs;
    bool wanted[OI_ARGS * 2];
} oi_grad_call;

/* False: `why` says what is wrong; NULL why[0]: the form has nothing to say about this sample. */
bool oi_grad_call_make(oi_grad_call *g, const oi_case *c, const oi_sample *s, oi_form form,
                       char *why);
void oi_grad_call_free(oi_grad_call *g);
/* A tn_gradcheck_fn; data is an oi_grad_call. */
tn_status oi_grad_function(void *data, tn_tensors inputs, tn_tensors outputs);
/* Calls a one-argument operator by name, "aten::clone"; the rest is left at its defaults. */
tn_status oi_call_unary(const char *name, tn_tensor *self, tn_tensor **out);

/* ---- refusals (grad_guards.c) ---------------------------------------------------------------- */
typedef struct oi_grad_outcome {
    tn_tensor *outputs[OI_RESULTS];
    int n, floating, requiring; /* of the outputs: floating or complex ones, those with history */
} oi_grad_outcome;
/* A recorded call; a failure here is one that only recording makes. */
bool oi_grad_record(oi_grad_call *g, const oi_sample *s, oi_grad_outcome *o, oi_result *r);
void oi_grad_release(oi_grad_outcome *o);
/* Backward through what has no gradient, or shall have none, is a clear refusal. */
void oi_grad_expect_none(oi_grad_call *g, const oi_grad_outcome *o, const oi_sample *s,
                         oi_result *r);
/* The recorded call is a clear refusal. */
void oi_grad_expect_refusal(oi_grad_call *g, const oi_sample *s, oi_result *r);
/* After a tensor of the call was written, backward gives what it gave before, or refuses. */
void oi_grad_check_saved(const oi_case *c, const oi_sample *s, oi_result *r);
/* An out= form differentiates nothing, and says so when it is given what requires a gradient. */
void oi_grad_check_out(const oi_case *c, const oi_sample *s, oi_result *r);

/* ---- hints (grad_hints.c) -------------------------------------------------------------------- */
enum {
    OI_GRAD_NONE = 1,    /* no gradient although the result is floating: the reason says why */
    OI_GRAD_TIES = 2,    /* equal elements compete: no sample of stride 0 */
    OI_GRAD_SIGNED = 4,  /* drawn from lo to hi with either sign */
    OI_GRAD_REFUSED = 8, /* the call itself is refused where it would be recorded */
};
typedef struct oi_grad_hint {
    const char *op;
    double lo, hi; /* inputs are drawn from here instead of the row's domain; 0, 0: the row's */
    unsigned flags;
    const char *reason;
} oi_grad_hint;
oi_grad_hint oi_grad_hint_of(const oi_row *row);
/* The sample as the gradient columns use it: real second operands of complex ones, hints obeyed.
 * False: it is none for them. */
bool oi_grad_sample(const oi_case *c, const oi_sample *s, oi_sample *out);

#endif

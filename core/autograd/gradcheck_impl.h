/* gradcheck_impl.h - what the files of gradcheck share.
 *
 *     gradcheck.c          the check as a whole, its verdicts and its report
 *     gradcheck_backward.c, gradcheck_forward.c   derivatives by each mode, compared
 *     gradcheck_numeric.c  differences and complex steps, with their errors
 *     gradcheck_flat.c     tensors as lists of reals: row-major, a complex number as two
 *     gradcheck_second.c   the gradients as a function, checked in turn
 *
 * Over such lists every derivative is a real matrix, complex numbers or not, and backward with
 * the convention of autograd.h is its transpose. */
#ifndef TN_CORE_GRADCHECK_IMPL_H
#define TN_CORE_GRADCHECK_IMPL_H

#include <tenon/gradcheck.h>

#include "core/base/base.h"
#include "core/schema/schema.h"

/* ---- tensors as lists of reals --------------------------------------------------------------- */
bool tn__flat_has(const tn_tensor *t); /* float64 or complex128, on the host */
int64_t tn__flat_count(const tn_tensor *t);
void tn__flat_read(const tn_tensor *t, double *v);
/* Past the dispatcher and the version counter. */
void tn__flat_write(tn_tensor *t, const double *v);
/* A tensor of t's sizes, dtype and, where its elements do not overlap, strides and offset, with
 * the values v. */
tn_status tn__flat_like(const tn_tensor *t, const double *v, tn_tensor **out);
/* A row-major complex128 tensor v + i * w of the float64 tensor t's sizes; w may be NULL. */
tn_status tn__flat_complex(const tn_tensor *t, const double *v, const double *w, tn_tensor **out);

/* ---- a check --------------------------------------------------------------------------------- */
typedef struct tn__check {
    const char *name; /* "gradcheck", for messages */
    tn_gradcheck_fn f;
    void *data;
    tn_tensors inputs;
    int64_t n_outputs;
    tn_gradcheck_options o;
    tn_gradcheck_report *report;
    tn__arena arena;
    uint64_t random;
    tn_tensor **copies; /* [inputs]: a copy of each that is checked, else the input, borrowed */
    double **x;         /* [inputs]: the values of those checked; NULL: not checked */
    double *y;          /* the outputs' values, one behind the other */
    int64_t *first;     /* [n_outputs + 1]: where each output begins; as long as nothing: ignored */
    uint8_t *parts;     /* [n_outputs]: reals of an element, 0: not looked at */
    double *work[5];    /* as long as y; the last twice that */
    double *moved;      /* as long as the longest input */
    /* Of fast mode, for forward mode to agree with: the projections, and (v J) u by input and output. */
    double **u, **v, *pulled;
} tn__check;

double *tn__check_reals(tn__check *c,
                        int64_t n);    /* zeroed, as long as the check; NULL: no memory */
double tn__check_random(tn__check *c); /* +-[0.5, 1.5) */
double *tn__check_random_reals(tn__check *c, int64_t n);
/* Their product, and the sum of its terms' magnitudes. */
double tn__check_product(const double *v, const double *w, int64_t n, double *size);
/* f of these inputs, without recording; y as in tn__check. NULL y: the first call, which finds out
 * what the outputs are. */
tn_status tn__check_evaluate(tn__check *c, tn_tensor **inputs, double *y);
/* d outputs / d t of input i + t * u at 0, and its error; each as long as y. */
tn_status tn__check_numeric(tn__check *c, int64_t i, const double *u, double *d, double *error);

typedef struct tn__place_checked {
    const char *mode; /* "backward", "forward mode" */
    int64_t input, output;
    int64_t from, to; /* reals of the input and the output; -1: a projection */
} tn__place_checked;
double tn__check_largest(const double *v, int64_t n); /* magnitude */
/* size: of the terms that were added up to numeric, or of what it is computed beside. */
tn_status tn__check_judge(tn__check *c, const tn__place_checked *p, double analytic, double numeric,
                          double error, double size);

tn_status tn__check_begin(tn__check *c);
tn_status tn__check_run(tn__check *c);
tn_status tn__check_backward(tn__check *c);
tn_status tn__check_forward(tn__check *c);
void tn__check_end(tn__check *c);

#endif

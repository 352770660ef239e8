/* gradcheck.h - is a gradient the gradient? Derivatives against differences of values.
 *
 *     static tn_status f(void *data, tn_tensors in, tn_tensors out)
 *     {
 *         return tn_call_mul_Tensor(in.data[0], in.data[1], &out.data[0]);
 *     }
 *     ... tn_gradcheck(f, NULL, TN_TENSORS(x, y), 1, NULL, NULL) == TN_OK
 *
 * The numeric side is a central difference at shrinking steps, extrapolated, and its own error is
 * estimated from the steps and from rounding: that estimate is the tolerance. A complex number is
 * a pair of reals throughout, which is the conjugate Wirtinger convention of tenon/autograd.h. NaN
 * fails, and so does an estimate too large to say anything. */
#ifndef TENON_GRADCHECK_H
#define TENON_GRADCHECK_H

#include <tenon/autograd.h>

TN_BEGIN_DECLS

/* The function under test: makes every output from the inputs and puts a reference, the caller's,
 * into outputs.data[0 .. len-1]. It is called many times and must give the same for the same
 * inputs, which it may not write. */
typedef tn_status (*tn_gradcheck_fn)(void *data, tn_tensors inputs, tn_tensors outputs);

typedef struct tn_gradcheck_options {
    bool slow;          /* every element of the Jacobian; else random projections of it */
    bool forward;       /* forward mode, too: against differences, and against backward */
    bool skip_backward; /* forward mode alone */
    /* f is analytic: real input as complex numbers with a tiny imaginary part gives the derivative
     * without a difference. Where f refuses that, or differences contradict it, they are used. */
    bool complex_step;
    double step;       /* of the first difference, for inputs of size 1; 0: 2^-9 */
    double rtol, atol; /* granted beyond the estimated error; 0 */
    uint64_t seed;     /* of projections and cotangents */
} tn_gradcheck_options;

typedef struct tn_gradcheck_report {
    int64_t input, output; /* where it went wrong, or where it came nearest to its limit */
    /* Element in row-major order; -1: of a projection. */
    int64_t input_element, output_element;
    double analytic, numeric;
    double error, limit; /* the estimated error of numeric, and what was granted */
    double nearest;      /* the largest |analytic - numeric| / limit */
    int64_t compared;    /* numbers */
    char message[600];   /* what was wrong, in one line; "" */
} tn_gradcheck_report;

/* Inputs on the host that require a gradient are checked; they are float64 or complex128, of any
 * strides, also 0. Outputs of other dtypes are not looked at; one that does not require a gradient
 * must not change with the inputs. TN_ERR_AUTOGRAD: a derivative is wrong; any other failure is
 * f's own. options and report may be NULL. */
TN_API tn_status tn_gradcheck(tn_gradcheck_fn f, void *data, tn_tensors inputs, int64_t n_outputs,
                              const tn_gradcheck_options *options, tn_gradcheck_report *report);
/* The same of the function from inputs and cotangents to gradients: double backward. */
TN_API tn_status tn_gradgradcheck(tn_gradcheck_fn f, void *data, tn_tensors inputs,
                                  int64_t n_outputs, const tn_gradcheck_options *options,
                                  tn_gradcheck_report *report);

TN_END_DECLS
#endif

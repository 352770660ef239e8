/* user.c - a user's program: every way to leave options out. It is compiled with all warnings as
 * errors, by each compiler. */
#include <tenon/ops.h>
#include <tenon/tensor.h>

tn_tensor *user(tn_tensor *x);

tn_tensor *user(tn_tensor *x)
{
    tn_tensor *y = tn_add(x, x);                  /* an option left out */
    tn_tensor *z = tn_add(x, y, .alpha = 2);      /* a number without braces */
    tn_tensor *sum = tn_sum(z);                   /* nothing behind the last required argument */
    tn_tensor *empty = tn_zeros(TN_INTS(2, 3));   /* only a list */
    tn_tensor *low = tn_clamp(empty, .min = 0.5); /* one optional Scalar of two */
    tn_tensor *half = tn_mul(tn_add(sum, 1, .alpha = 3), 0.5f); /* numbers for tensors */
    tn_tensor *rest = tn_sub_(half, tn_pow(tn_rsub(low, true), tn_scalar_complex(2, 1)));
    tn_tensor *first = tn_select(tn_softmax(rest, 1), 0, 0); /* the only overload: its plain word */
    tn_tensor *best = tn_argmax(first, .dim = -1);           /* an optional int */
    tn_tensor *row = tn_slice(best, .start = 1);
    TN_SCOPE {
        tn_fill_(tn_scoped(row), tn_as_double(best));
    }
    return tn_add_(tn_add(sum, low), tn_zeros_like(x, .dtype = TN_F32));
}

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
    return tn_add_(tn_add(sum, low), tn_zeros_like(x, .dtype = TN_F32));
}

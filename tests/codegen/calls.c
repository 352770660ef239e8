/* calls.c - a program that uses two plugins whose operators have the names of each other's and of
 * Tenon's own, with every kind of option given and left out. It is compiled with all warnings as
 * errors, by each compiler. */
#include <tenon/ops.h>

#include "left_calls.h"
#include "right_calls.h"

tn_tensor *program(tn_tensor *x);
tn_status typed(tn_tensor *x, tn_tensors *parts);

tn_tensor *program(tn_tensor *x)
{
    tn_tensor *y = left_add(x, right_add(x, 2), .alpha = 3); /* a tensor, a number */
    tn_tensor *z = tn_add(left_add_(y, x), right_add_out(x, y, y), .alpha = 0.5);
    tn_tensor *all = left_pick(z); /* nothing behind the last required argument */
    tn_tensor *some = right_pick(all, .at = 1, .scale = 0.5, .low = 2, .dtype = TN_F32, .keep = 1,
                                 .mode = "some", .sizes = TN_INTS(3));
    return left_status(some, .file = x, .line = TN_TENSORS(x, NULL), .op = 2);
}

tn_status typed(tn_tensor *x, tn_tensors *parts)
{
    const bool which[] = {true, false};
    const tn_bools both = {which, 2};
    const tn_floats none = {NULL, -1};
    tn_tensor *halves[2];
    tn_status status = left_call_halves(x, both, none, &halves[0], &halves[1]);
    if (status != TN_OK)
        return status;
    const tn_tensors list = {halves, 2};
    return right_call_parts(list, (tn_device){TN_DEVICE_NONE, -1}, parts);
}

// calls.cc - the same headers in C++: the typed calls.
#include <tenon/ops.h>

#include "left_calls.h"
#include "right_calls.h"

tn_tensor *program(tn_tensor *x);

tn_tensor *program(tn_tensor *x)
{
    tn_tensor *y = nullptr, *z = nullptr;
    if (left_call_add_Scalar(x, tn_scalar_int(2), tn_scalar_int(1), &y) != TN_OK)
        return nullptr;
    const tn_status status = right_call_add_Tensor(x, y, tn_scalar_int(1), &z);
    tn_release(y);
    return status == TN_OK ? z : nullptr;
}

// user.cc - the same header in C++: the typed calls.
#include <tenon/ops.h>
#include <tenon/tensor.h>

tn_tensor *user(tn_tensor *x);

tn_tensor *user(tn_tensor *x)
{
    tn_tensor *y = nullptr;
    tn_scalar alpha = {};
    return tn_call_add_Tensor(x, x, alpha, &y) == TN_OK ? y : nullptr;
}

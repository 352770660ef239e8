/* helpers_order.c - gradients of the ordering family that indices do not say: of both extremes,
 * whose equals share the gradient. */
#include "helpers.h"

tn_tensor *extremes_back(tn_grad_call *g, tn_tensor *grad_min, tn_tensor *grad_max, tn_tensor *self,
                         tn_tensor *min, tn_tensor *max, tn_opt_int dim, bool keepdim)
{
    tn_ints dims = {&dim.value, dim.has ? 1 : 0};
    return add(g, extreme_back(g, grad_min, self, min, dims, keepdim),
               extreme_back(g, grad_max, self, max, dims, keepdim));
}

tn_tensor *one_extreme_forward(tn_grad_call *g, tn_tensor *tangent, tn_tensor *self,
                               tn_tensor *result, tn_opt_int dim, bool keepdim)
{
    return extreme_forward(g, tangent, self, result, (tn_ints){&dim.value, dim.has ? 1 : 0},
                           keepdim);
}

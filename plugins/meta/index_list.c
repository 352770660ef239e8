/* index_list.c - index, nonzero, masked_select without data. Where a mask decides how large a
 * result is, its values would have to be known: that is refused, after everything that shapes can
 * tell has been checked. */
#include <tenon/frames.h>
#include <tenon/indexing.h>
#include <tenon/plugin.h>

#include "meta.h"

static tn_status refuse(tn_call *call, const char *what)
{
    return tn->fail(call, TN_ERR_UNSUPPORTED,
                    "data-dependent: %s decide the shape of the result, and meta has no data",
                    what);
}

/* All are on self's device, which tn_indexing_of sees to: so self is on meta as well. */
static tn_status index_tensor(tn_call *call, struct tn_index_Tensor_args *a)
{
    tn_indexing x;
    tn_status status = tn_indexing_of(&x, a->self, a->indices, NULL);
    if (status != TN_OK)
        return tn->fail(call, status, "%s", x.text);
    if (x.unknown)
        return refuse(call, "the values of a mask among the indices");
    return tn->tensor_new(call, x.ndim, x.sizes, a->self->dtype, a->self->device, &a->result);
}

static tn_status nonzero(tn_call *call, struct tn_nonzero_args *a)
{
    (void)a;
    return refuse(call, "the values of self");
}

static tn_status masked_select(tn_call *call, struct tn_masked_select_args *a)
{
    if (a->mask->dtype != TN_BOOL)
        return tn->fail(call, TN_ERR_DTYPE, "mask has dtype %s; it must be bool",
                        tn->dtype_name(a->mask->dtype));
    if (a->self->device.type != a->mask->device.type)
        return tn->fail(call, TN_ERR_DEVICE, "mask is on another device than self");
    return refuse(call, "the values of mask");
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(index_Tensor, "Meta", index_tensor),
    TN_KERNEL(nonzero, "Meta", nonzero),
    TN_KERNEL(masked_select, "Meta", masked_select),
};
const meta_kernels meta_index_list = {kernels, TN_COUNT(kernels)};

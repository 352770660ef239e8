/* unique.c - _unique2, unique_consecutive without data: how many elements differ only they could
 * say. */
#include <tenon/frames.h>
#include <tenon/plugin.h>

#include "meta.h"

static tn_status refuse(tn_call *call)
{
    return tn->fail(call, TN_ERR_UNSUPPORTED,
                    "data-dependent: the values of self decide the shape of the result, and meta "
                    "has no data");
}

static tn_status unique2(tn_call *call, struct tn__unique2_args *a)
{
    (void)a;
    return refuse(call);
}

static tn_status unique_consecutive(tn_call *call, struct tn_unique_consecutive_args *a)
{
    (void)a;
    return refuse(call);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(_unique2, "Meta", unique2),
    TN_KERNEL(unique_consecutive, "Meta", unique_consecutive),
};
const meta_kernels meta_unique = {kernels, TN_COUNT(kernels)};

/* composites.c - operators that call operators. Not one element is touched here, so they run on
 * every device, now and later, and their gradients follow from those of what they call. */
#include "composites_ops.h"  /* generated from composites.yaml */
#include "composites_work.h" /* generated from composites_calls.yaml */

/* The mean of (self - target)^2. */
static tn_status mse(tn_call *call, struct tn_mse_args *a)
{
    work w = work_on(call);
    tn_tensor *apart = work_sub(&w, a->self, a->target);
    return work_end(&w, work_mean(&w, work_mul(&w, apart, apart)), &a->result);
}

/* Rows of self, divided by the root of the mean of their squares, times weight. */
static tn_status rms_norm(tn_call *call, struct tn_rms_norm_args *a)
{
    const int64_t last = -1;
    const tn_ints rows = {&last, 1};
    const tn_scalar eps = {{.f = a->eps}, TN_SCALAR_FLOAT, 0};
    if (a->self->ndim == 0)
        return tn->fail(call, TN_ERR_ARGUMENT, "self has no dimension to normalise over");
    work w = work_on(call);
    tn_tensor *square = work_mul(&w, a->self, a->self);
    tn_tensor *factor = work_rsqrt(&w, work_add(&w, work_mean_of(&w, square, rows, true), eps));
    tn_tensor *normal = work_mul(&w, a->self, factor);
    return work_end(&w, work_mul(&w, normal, a->weight), &a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(mse, "CompositeImplicitAutograd", mse),
    TN_KERNEL(rms_norm, "CompositeImplicitAutograd", rms_norm),
};

static tn_status start(tn_registry *r)
{
    TN_TRY(composites_register(r));
    TN_TRY(composites_import(r));
    return tn->register_kernels(r, kernels, TN_COUNT(kernels));
}

TN_PLUGIN("composites", "1.0.0", start, NULL);

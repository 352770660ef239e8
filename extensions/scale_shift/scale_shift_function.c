/* scale_shift_function.c - alpha * self + beta once more, as a function of one's own: a forward and a
 * backward with a context between them, for what no operator's formula says. The kernel is composite
 * and runs above the gradients, so that it is asked whether one is wanted or not. */
#include <stdlib.h>

#include "scale_shift.h"

typedef struct factors {
    tn_scalar alpha, beta;
} factors;

static const tn_op *scale_shift; /* resolved when the plugin is loaded */

static tn_status apply(tn_tensor *self, tn_scalar alpha, tn_scalar beta, tn_tensor **out)
{
    struct tn_scale_shift_args f = {TN_FRAME(scale_shift), .self = self, .alpha = alpha,
                                    .beta = beta};
    TN_TRY(tn->op_call(scale_shift, &f));
    *out = f.result;
    return TN_OK;
}

static tn_status forward(tn_grad_call *g)
{
    const factors *k = g->context;
    return apply(g->in[0], k->alpha, k->beta, &g->out[0]);
}

/* grad * conj(alpha) */
static tn_status backward(tn_grad_call *g)
{
    const factors *k = g->context;
    const tn_scalar none = {.v.i = 0, .kind = TN_SCALAR_INT};
    tn_scalar alpha = k->alpha;
    if (alpha.kind == TN_SCALAR_COMPLEX)
        alpha.v.c[1] = -alpha.v.c[1];
    return apply(g->in[0], alpha, none, &g->out[0]);
}

static const tn_function_decl function = {"ScaleShiftFunction", forward, backward, free};

static tn_status kernel(tn_call *call, struct tn_scale_shift_function_args *a)
{
    factors *k = malloc(sizeof *k);
    if (!k)
        return tn->fail(call, TN_ERR_MEMORY, "out of memory: %zu bytes were asked for", sizeof *k);
    *k = (factors){a->alpha, a->beta};
    return tn->function_apply(&function, k, &a->self, 1, &a->result, 1);
}

tn_status scale_shift_function_register(tn_registry *r)
{
    static const char *const schemas[] = {TN_SCHEMA_scale_shift};
    static const tn_kernel_decl kernels[] = {
        TN_KERNEL(scale_shift_function, "CompositeImplicitAutograd", kernel)};
    TN_TRY(tn->import_ops(r, schemas, &scale_shift, 1));
    return tn->register_kernels(r, kernels, TN_COUNT(kernels));
}

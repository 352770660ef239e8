/* comparisons.c - comparisons and logic in place: eq_ and its kin write 0 and 1 into self, which may
 * be floating. What they write moves with nothing, so every gradient is zero.
 *
 * The functional forms have bool results and no gradient, so derivatives.yaml has no place for
 * these; the declarations are written out here. */
#include "comparisons.h"
#include "helpers.h"

static tn_status backward(tn_grad_call *g, const void *args)
{
    (void)args;
    for (int i = 0; i < g->n_arguments; i++)
        if (tn_grad_wants(g, i))
            tn_grad_give(g, i, g->in[0] ? zeros(g, g->in[0], tn_sizes_of(g->in[0])) : NULL);
    return g->status;
}

/* No tangent is a tangent of zero. */
static tn_status forward(tn_grad_call *g, const void *args)
{
    (void)args;
    return g->status;
}

/* result, self, other; a number as `other` has no gradient */
static const tn_derivative_field tensors[] = {{TN_FIELD_DIFFERENTIABLE, 0, 0, 0},
                                              {TN_FIELD_DIFFERENTIABLE, 0, 0, 0},
                                              {TN_FIELD_DIFFERENTIABLE, 0, 0, 0}};
static const tn_derivative_field number_second[] = {
    {TN_FIELD_DIFFERENTIABLE, 0, 0, 0}, {TN_FIELD_DIFFERENTIABLE, 0, 0, 0}, {0, 0, 0, 0}};

#define CONSTANT(id, name, fields, n)                                                              \
    {                                                                                              \
        TN_SCHEMA_##id, name, backward, forward, fields, n, sizeof(struct tn_##id##_args), 0, 0    \
    }
#define BOTH(id, name)                                                                             \
    CONSTANT(id##_Tensor, name, tensors, 3), CONSTANT(id##_Scalar, name, number_second, 3)

static const tn_derivative_decl list[] = {
    BOTH(eq, "EqBackward"),
    BOTH(ne, "NeBackward"),
    BOTH(lt, "LtBackward"),
    BOTH(le, "LeBackward"),
    BOTH(gt, "GtBackward"),
    BOTH(ge, "GeBackward"),
    CONSTANT(logical_and, "LogicalAndBackward", tensors, 3),
    CONSTANT(logical_or, "LogicalOrBackward", tensors, 3),
    CONSTANT(logical_xor, "LogicalXorBackward", tensors, 3),
    CONSTANT(logical_not, "LogicalNotBackward", tensors, 2),
};

tn_status autograd_register_comparisons(tn_registry *r)
{
    return tn->register_derivatives(r, list, TN_COUNT(list));
}

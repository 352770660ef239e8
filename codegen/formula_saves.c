/* formula_saves.c - which tensors of a call a formula looks at: what is saved for backward, and whether
 * its value is needed or no more than its shape and dtype. */
#include "formula.h"

static void save(const cg_value *v, bool geometry, uint64_t bits, cg_derivative *d)
{
    geometry |= v->is_geometry;
    if (v->kind == CG_VALUE_FIELD && cg_field_is_tensor(&d->op->layout->fields[v->index]))
        *(geometry ? &d->shape_for[v->index] : &d->value_for[v->index]) |= bits;
    for (int i = 0; i < v->n; i++)
        save(v->operands[i], v->is_geometry && i == 0, bits, d);
}

void cg_formula_saves(const cg_value *v, uint64_t bits, cg_derivative *d)
{
    save(v, false, bits, d);
    for (int i = 0; i < d->op->layout->n_results + d->op->layout->n_args; i++)
        d->shape_for[i] &= ~d->value_for[i]; /* a value has its shape with it */
}

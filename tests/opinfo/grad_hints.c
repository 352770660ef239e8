/* grad_hints.c - what the gradient columns must know of an operator beside its row: where it is
 * smooth, and where it has no gradient on purpose. Everything else follows from the row. */
#include "grad_call.h"

#include <math.h>
#include <string.h>

static const oi_grad_hint hints[] = {
    {"pow.Tensor_Tensor", 0.3, 3, 0, NULL}, /* a negative base has no power in the reals */
    {"pow.Tensor_Scalar", 0.3, 3, 0, NULL},
    {"pow.Scalar", 0.3, 3, 0, NULL},
    /* stairs whose steps are wide beside a difference's step */
    {"floor_divide", 0.7, 9, OI_GRAD_SIGNED, NULL},
    {"remainder.Tensor", 0.7, 9, OI_GRAD_SIGNED, NULL},
    {"fmod.Tensor", 0.7, 9, OI_GRAD_SIGNED, NULL},
    {"div.Tensor_mode", 0.7, 9, OI_GRAD_SIGNED, NULL},
    {"tan", -1.3, 1.3, 0, NULL}, /* between two poles, so that no element dwarfs the others */
    {"special_entr", 0.1, 4, 0, NULL},
    {"amax", 0, 0, OI_GRAD_TIES, NULL},
    {"amin", 0, 0, OI_GRAD_TIES, NULL},
    {"max", 0, 0, OI_GRAD_TIES, NULL},
    {"min", 0, 0, OI_GRAD_TIES, NULL},
    {"max.dim", 0, 0, OI_GRAD_TIES, NULL},
    {"min.dim", 0, 0, OI_GRAD_TIES, NULL},
    {"sort", -9, 9, OI_GRAD_TIES, NULL},
    {"sort.stable", -9, 9, OI_GRAD_TIES, NULL},
    {"msort", -9, 9, OI_GRAD_TIES, NULL},
    {"topk", -9, 9, OI_GRAD_TIES, NULL},
    {"kthvalue", -9, 9, OI_GRAD_TIES, NULL},
    {"median", -9, 9, OI_GRAD_TIES, NULL},
    {"median.dim", -9, 9, OI_GRAD_TIES, NULL},
    {"nanmedian", -9, 9, OI_GRAD_TIES, NULL},
    {"nanmedian.dim", -9, 9, OI_GRAD_TIES, NULL},
    {"mode", -9, 9, OI_GRAD_TIES, NULL},
    {"cummax", -9, 9, OI_GRAD_TIES, NULL},
    {"cummin", -9, 9, OI_GRAD_TIES, NULL},
    {"aminmax", -9, 9, OI_GRAD_TIES, NULL},
    {"quantile.scalar", -9, 9, OI_GRAD_TIES, NULL},
    {"nanquantile.scalar", -9, 9, OI_GRAD_TIES, NULL},
    {"clamp.Tensor", -9, 9, 0, NULL}, /* the row's bounds can be equal */
    {"view.dtype", 0, 0, OI_GRAD_NONE, "the bits are read as another number"},
    {"detach", 0, 0, OI_GRAD_NONE, "it exists to give none"},
    {"_unique2", 0, 0, OI_GRAD_NONE, "a count of distinct values is no smooth function"},
    {"unique_consecutive", 0, 0, OI_GRAD_NONE, "a count of distinct values is no smooth function"},
    {"set_.source_Tensor", 0, 0, OI_GRAD_REFUSED, "the tensor has other memory"},
    {"set_.source_Tensor_storage_offset", 0, 0, OI_GRAD_REFUSED, "the tensor has other memory"},
    {"set_", 0, 0, OI_GRAD_REFUSED, "the tensor has no memory any more"},
    {"resize_", 0, 0, OI_GRAD_REFUSED, "the tensor has other elements"},
    {"resize_as_", 0, 0, OI_GRAD_REFUSED, "the tensor has other elements"},
    {"nextafter", 0, 0, OI_GRAD_NONE, "a step of one place has no derivative"},
};

oi_grad_hint oi_grad_hint_of(const oi_row *row)
{
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (strcmp(hints[i].op, row->op) == 0)
            return hints[i];
    /* whoever declares samples is not asked where his operator has ties */
    return (oi_grad_hint){.op = row->op, .flags = row->flags & OI_DECLARED ? OI_GRAD_TIES : 0};
}

/* ---- samples --------------------------------------------------------------------------------- */
static bool all_finite(const oi_array *a)
{
    for (int64_t i = 0; i < a->numel; i++)
        if (!isfinite(a->v[i].re) || !isfinite(a->v[i].im))
            return false;
    return true;
}

static oi_array redrawn(const oi_array *a, const oi_grad_hint *hint, oi_rng *r, oi_layout layout)
{
    oi_array fresh = oi_values_in(r, a->dtype, a->ndim, a->sizes, hint->lo, hint->hi);
    for (int64_t i = 0; hint->flags & OI_GRAD_SIGNED && i < a->numel; i++)
        if (oi_random(r) >> 63)
            fresh.v[i] = oi_complex(-fresh.v[i].re, -fresh.v[i].im);
    int64_t row = layout == OI_EXPANDED && a->ndim && a->sizes[0] ? a->numel / a->sizes[0] : 0;
    for (int64_t i = row; row && i < a->numel; i++)
        fresh.v[i] = fresh.v[i % row];
    return fresh;
}

/* One tensor as it is used; false: the sample is none for gradients. */
static bool take(const oi_case *c, const oi_grad_hint *hint, oi_rng *r, oi_tensor *t)
{
    bool real = oi_is_floating(t->a.dtype) || oi_is_complex(t->a.dtype);
    if (t->absent || !real)
        return true;
    if (t->layout == OI_HUGE || (t->layout == OI_EXPANDED && hint->flags & OI_GRAD_TIES) ||
        !all_finite(&t->a))
        return false;
    if (c->dtype == TN_C128 && t->a.dtype == TN_C64) {
        t->a = oi_array_cast(&t->a, TN_F64); /* complex with real: the gradient becomes real */
    }
    if (hint->lo || hint->hi)
        t->a = redrawn(&t->a, hint, r, t->layout);
    return true;
}

bool oi_grad_sample(const oi_case *c, const oi_sample *s, oi_sample *out)
{
    oi_grad_hint hint = oi_grad_hint_of(c->row);
    oi_rng r = oi_rng_make(c->seed, c->row->op, c->dtype, 1000 + s->number);
    *out = *s;
    if (s->error || s->large)
        return false;
    for (int k = 0; k < out->n_args; k++) {
        oi_arg *a = &out->args[k];
        if (a->kind != TN_FIELD_TENSOR && a->kind != TN_FIELD_TENSORS)
            continue;
        oi_tensor *copy = oi_alloc((size_t)(a->n + 1) * sizeof *copy);
        memcpy(copy, a->tensors, (size_t)a->n * sizeof *copy);
        a->tensors = copy;
        for (int64_t i = 0; i < a->n; i++)
            if (!take(c, &hint, &r, &copy[i]))
                return false;
    }
    return true;
}

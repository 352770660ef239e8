/* elementwise.c - rules of elementwise operators whose loop is written by hand. */
#include <string.h>

#include "core/shape/shape.h"

static tn_dtype real_of(tn_dtype d)
{
    return d == TN_C64 ? TN_F32 : d == TN_C128 ? TN_F64 : d;
}

tn_status tn__shape_abs(tn_call *call, tn_tensor *self, tn_result *r)
{
    (void)call;
    tn__result_like(self, real_of(self->dtype), r);
    return TN_OK;
}

/* The device of a call whose 0-dim host operands may be numbers. */
static const tn_tensor *owner_of(const tn_tensor *a, const tn_tensor *b)
{
    return a->device.type == TN_CPU && a->ndim == 0 ? b : a;
}

tn_status tn__shape_div_mode(tn_call *call, tn_tensor *self, tn_tensor *other,
                             const char *rounding_mode, tn_result *r)
{
    bool rounds = rounding_mode != NULL;
    if (rounds && strcmp(rounding_mode, "floor") != 0 && strcmp(rounding_mode, "trunc") != 0)
        return tn__fail(call, TN_ERR_ARGUMENT,
                        "rounding_mode is '%.40s'; it may be None, 'trunc' or 'floor'",
                        rounding_mode);
    tn_tensor *operands[] = {self, other};
    tn_dtype dtype = tn__result_type(operands, 2, NULL, 0);
    if (!rounds && tn_dtype_in(dtype, TN_DTYPES_WHOLE))
        dtype = tn__default_dtype();
    if (rounds && tn_dtype_in(dtype, TN_DTYPES_COMPLEX))
        return tn__fail(call, TN_ERR_UNSUPPORTED, "a %s quotient cannot be rounded",
                        tn__dtype_name(dtype));
    TN__TRY(tn__broadcast(call, operands, 2, &r->ndim, r->sizes));
    r->dtype = dtype;
    r->device = owner_of(self, other)->device;
    return TN_OK;
}

tn_status tn__shape_masked_fill(tn_call *call, tn_tensor *self, tn_tensor *mask, tn_result *r)
{
    tn_tensor *operands[] = {self, mask};
    if (mask->dtype != TN_BOOL)
        return tn__fail(call, TN_ERR_DTYPE, "mask has dtype %s; it must be bool",
                        tn__dtype_name(mask->dtype));
    TN__TRY(tn__same_device(call, self, mask, "mask"));
    TN__TRY(tn__broadcast(call, operands, 2, &r->ndim, r->sizes));
    r->dtype = self->dtype;
    r->device = self->device;
    return TN_OK;
}

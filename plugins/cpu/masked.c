/* masked.c - masked_fill: result = mask ? value : self, by the width of an element. In place self
 * is the result. */
#include <string.h>

#include <tenon/math.h>

#include "cpu.h"

static void fill_1(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    const uint8_t value = *(const uint8_t *)params;
    for (int64_t i = 0; i < n; i++)
        *(uint8_t *)(p[0] + i * s[0]) = *(p[2] + i * s[2]) ? value
                                                           : *(const uint8_t *)(p[1] + i * s[1]);
}

static void fill_2(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    const uint16_t value = *(const uint16_t *)params;
    for (int64_t i = 0; i < n; i++)
        *(uint16_t *)(p[0] + i * s[0]) = *(p[2] + i * s[2]) ? value
                                                            : *(const uint16_t *)(p[1] + i * s[1]);
}

static void fill_4(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    const uint32_t value = *(const uint32_t *)params;
    if (s[0] == 4 && s[1] == 4 && s[2] == 1) {
        uint32_t *out = (uint32_t *)p[0];
        const uint32_t *self = (const uint32_t *)p[1];
        const uint8_t *mask = (const uint8_t *)p[2];
        for (int64_t i = 0; i < n; i++)
            out[i] = mask[i] ? value : self[i];
        return;
    }
    for (int64_t i = 0; i < n; i++)
        *(uint32_t *)(p[0] + i * s[0]) = *(p[2] + i * s[2]) ? value
                                                            : *(const uint32_t *)(p[1] + i * s[1]);
}

static void fill_8(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    const uint64_t value = *(const uint64_t *)params;
    for (int64_t i = 0; i < n; i++)
        *(uint64_t *)(p[0] + i * s[0]) = *(p[2] + i * s[2]) ? value
                                                            : *(const uint64_t *)(p[1] + i * s[1]);
}

static void fill_16(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    for (int64_t i = 0; i < n; i++)
        memmove(p[0] + i * s[0], *(p[2] + i * s[2]) ? (const char *)params : p[1] + i * s[1], 16);
}

static tn_loop_fn loop_for(size_t bytes)
{
    switch (bytes) {
    case 1:
        return fill_1;
    case 2:
        return fill_2;
    case 4:
        return fill_4;
    case 8:
        return fill_8;
    default:
        return fill_16;
    }
}

/* `value` is one element of self's dtype. The result has that dtype too, or one it casts to: then
 * the fill is done in self's and cast on the way out. */
static tn_status fill(tn_call *call, tn_tensor *result, tn_tensor *self, tn_tensor *mask,
                      const tn_number *value)
{
    tn_iter it;
    tn_tensor *operands[] = {result, self, mask}, *aside = NULL;
    if (result->dtype != self->dtype) {
        TN_TRY(
            tn->tensor_new(call, result->ndim, result->sizes, self->dtype, result->device, &aside));
        operands[0] = aside;
    }
    tn_status status = tn->iter_init(call, &it, 1, 3, operands, TN_DTYPE_NONE, TN_DTYPE_NONE, 0);
    if (status == TN_OK)
        status = tn->iter_run(call, &it, loop_for(tn->dtype_size(self->dtype)), value);
    if (status == TN_OK && aside)
        status = cpu_copy_elements(call, result, aside);
    tn->tensor_release(aside);
    return status;
}

/* A complex value has no place among real elements; nor has a number beyond the dtype's range. */
static tn_status check_value(tn_call *call, const tn_scalar *value, tn_dtype dtype)
{
    static const double low[] = {0, 0, -0x1p7, -0x1p15, -0x1p31, -0x1p63},
                        high[] = {1, 0x1p8, 0x1p7, 0x1p15, 0x1p31, 0x1p63};
    bool is_complex = value->kind == TN_SCALAR_COMPLEX;
    if (is_complex && !tn_dtype_in(dtype, TN_DTYPES_COMPLEX) && value->v.c[1] != 0)
        return tn->fail(call, TN_ERR_DTYPE,
                        "value is a complex number, which does not fit in self's dtype %s",
                        tn->dtype_name(dtype));
    double x = is_complex                       ? value->v.c[0]
               : value->kind == TN_SCALAR_FLOAT ? value->v.f
                                                : (double)value->v.i;
    if (!tn_dtype_in(dtype, TN_DTYPES_INTEGRAL))
        return TN_OK;
    if (x > low[dtype] - 1 && x < high[dtype])
        return TN_OK;
    return tn->fail(call, TN_ERR_ARGUMENT, "value %g does not fit in self's dtype %s", x,
                    tn->dtype_name(dtype));
}

tn_status cpu_fill_value(tn_call *call, const tn_scalar *value, tn_dtype dtype, tn_number *out)
{
    TN_TRY(check_value(call, value, dtype));
    *out = tn_number_of(dtype, value);
    if (dtype == TN_F16 || dtype == TN_BF16)
        tn->convert(call, &out->i16, dtype, 2, &out->f32, TN_F32, 4, 1);
    return TN_OK;
}

static tn_status fill_scalar(tn_call *call, struct tn_masked_fill_Scalar_args *a)
{
    tn_dtype dtype = a->self->dtype;
    tn_number value;
    TN_TRY(cpu_fill_value(call, &a->value, dtype, &value));
    return fill(call, a->result, a->self, a->mask, &value);
}

static tn_status fill_tensor(tn_call *call, struct tn_masked_fill_Tensor_args *a)
{
    const tn_tensor *v = a->value;
    tn_number value;
    if (v->ndim != 0)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "value must be a tensor of no dimensions, got %d dimensions", v->ndim);
    if (v->device.type != TN_CPU)
        return tn->fail(call, TN_ERR_DEVICE, "value is on another device than self");
    if (!tn->can_cast(v->dtype, a->self->dtype))
        return tn->fail(call, TN_ERR_DTYPE, "value has dtype %s, which cannot be cast to self's %s",
                        tn->dtype_name(v->dtype), tn->dtype_name(a->self->dtype));
    TN_TRY(tn->convert(call, &value, a->self->dtype, 16, v->data, v->dtype, 16, 1));
    return fill(call, a->result, a->self, a->mask, &value);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(masked_fill_Scalar, "CPU", fill_scalar),
    TN_KERNEL(masked_fill_Tensor, "CPU", fill_tensor),
};
const cpu_kernels cpu_masked = {kernels, TN_COUNT(kernels)};

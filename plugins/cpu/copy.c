/* copy.c - copy_, fill_, zero_: moving elements, converting their dtype on the way. */
#include <string.h>

#include <tenon/math.h>

#include "cpu.h"

/* The iterator converts on load and store; between them there is nothing to do but to move the
 * element. */
static void move_1(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    (void)params;
    if (s[0] == 1 && s[1] == 1) {
        memmove(p[0], p[1], (size_t)n);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        p[0][i * s[0]] = p[1][i * s[1]];
}

static void move_2(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    (void)params;
    if (s[0] == 2 && s[1] == 2) {
        memmove(p[0], p[1], (size_t)n * 2);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        *(uint16_t *)(p[0] + i * s[0]) = *(const uint16_t *)(p[1] + i * s[1]);
}

static void move_4(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    (void)params;
    if (s[0] == 4 && s[1] == 4) {
        memmove(p[0], p[1], (size_t)n * 4);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        *(uint32_t *)(p[0] + i * s[0]) = *(const uint32_t *)(p[1] + i * s[1]);
}

static void move_8(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    (void)params;
    if (s[0] == 8 && s[1] == 8) {
        memmove(p[0], p[1], (size_t)n * 8);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        memcpy(p[0] + i * s[0], p[1] + i * s[1], 8);
}

static void move_16(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    (void)params;
    if (s[0] == 16 && s[1] == 16) {
        memmove(p[0], p[1], (size_t)n * 16);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        memcpy(p[0] + i * s[0], p[1] + i * s[1], 16);
}

static tn_loop_fn move_for(size_t bytes)
{
    switch (bytes) {
    case 1:
        return move_1;
    case 2:
        return move_2;
    case 4:
        return move_4;
    case 8:
        return move_8;
    default:
        return move_16;
    }
}

static tn_status copy_(tn_call *call, struct tn_copy__args *a)
{
    tn_iter it;
    tn_tensor *operands[] = {a->self, a->src};
    TN_TRY(tn->iter_init(call, &it, 1, 2, operands, a->self->dtype, a->self->dtype, 0));
    TN_TRY(tn->iter_run(call, &it, move_for(tn->dtype_size(a->self->dtype)), NULL));
    tn->tensor_retain(a->self);
    a->result = a->self;
    return TN_OK;
}

/* A fill is a copy from one element with stride 0. */
static tn_status fill_elements(tn_call *call, tn_tensor *self, const tn_scalar *value)
{
    tn_number element = tn_number_of(self->dtype, value);
    if (self->dtype == TN_F16 || self->dtype == TN_BF16)
        tn->convert(call, &element.i16, self->dtype, 2, &element.f32, TN_F32, 4, 1);
    tn_iter it;
    TN_TRY(tn->iter_init(call, &it, 1, 1, &self, self->dtype, self->dtype, 0));
    it.n_operands = 2;
    it.data[1] = (char *)&element;
    it.operands[1] = self;
    it.dtypes[1] = self->dtype;
    for (int d = 0; d < it.ndim; d++)
        it.strides[1][d] = 0;
    return tn->iter_run(call, &it, move_for(tn->dtype_size(self->dtype)), NULL);
}

/* An expanded tensor holds one value along the expanded dims, and a fill writes just that. */
static tn_status fill_with(tn_call *call, tn_tensor *self, const tn_scalar *value)
{
    int64_t sizes[TN_MAX_DIMS], expanded = 0;
    for (int d = 0; d < self->ndim; d++) {
        bool repeats = self->strides[d] == 0 && self->sizes[d] > 1;
        sizes[d] = repeats ? 1 : self->sizes[d];
        expanded += repeats;
    }
    if (expanded == 0)
        return fill_elements(call, self, value);
    tn_tensor *once;
    TN_TRY(tn->tensor_view(call, self, self->ndim, sizes, self->strides, tn->tensor_offset(self),
                           self->dtype, &once));
    tn_status status = fill_elements(call, once, value);
    tn->tensor_release(once);
    return status;
}

static tn_status fill_(tn_call *call, struct tn_fill__Scalar_args *a)
{
    TN_TRY(fill_with(call, a->self, &a->value));
    tn->tensor_retain(a->self);
    a->result = a->self;
    return TN_OK;
}

static tn_status zero_(tn_call *call, struct tn_zero__args *a)
{
    const tn_scalar zero = {{0}, TN_SCALAR_INT, 0};
    TN_TRY(fill_with(call, a->self, &zero));
    tn->tensor_retain(a->self);
    a->result = a->self;
    return TN_OK;
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(copy_, "CPU", copy_),
    TN_KERNEL(fill__Scalar, "CPU", fill_),
    TN_KERNEL(zero_, "CPU", zero_),
};
const cpu_kernels cpu_copy = {kernels, TN_COUNT(kernels)};

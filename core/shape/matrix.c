/* matrix.c - rules of matrix products. */
#include "core/shape/shape.h"

static tn_status check_matrix(tn_call *call, const tn_tensor *t, const char *name, int ndim)
{
    char shape[TN__SHAPE_CHARS];
    if (t->ndim == ndim)
        return TN_OK;
    return tn__fail(call, TN_ERR_ARGUMENT, "%s must have %d dimensions, got shape %s", name, ndim,
                    tn__shape_text(shape, t->ndim, t->sizes));
}

static tn_status check_product(tn_call *call, const tn_tensor *a, const tn_tensor *b,
                               const char *name)
{
    char x[TN__SHAPE_CHARS], y[TN__SHAPE_CHARS];
    if (a->dtype != b->dtype)
        return tn__fail(call, TN_ERR_DTYPE, "both matrices must have one dtype, got %s and %s",
                        tn__dtype_name(a->dtype), tn__dtype_name(b->dtype));
    if (a->sizes[a->ndim - 1] != b->sizes[b->ndim - 2])
        return tn__fail(call, TN_ERR_ARGUMENT,
                        "shapes %s and %s cannot be multiplied: %lld columns against %lld rows",
                        tn__shape_text(x, a->ndim, a->sizes), tn__shape_text(y, b->ndim, b->sizes),
                        (long long)a->sizes[a->ndim - 1], (long long)b->sizes[b->ndim - 2]);
    return tn__same_device(call, a, b, name);
}

static void result(const tn_tensor *a, const tn_tensor *b, tn_result *r)
{
    r->ndim = a->ndim;
    if (a->ndim == 3)
        r->sizes[0] = a->sizes[0];
    r->sizes[a->ndim - 2] = a->sizes[a->ndim - 2];
    r->sizes[a->ndim - 1] = b->sizes[b->ndim - 1];
    r->dtype = a->dtype;
    r->device = a->device;
}

tn_status tn__shape_mm(tn_call *call, tn_tensor *self, tn_tensor *mat2, tn_result *r)
{
    TN__TRY(check_matrix(call, self, "self", 2));
    TN__TRY(check_matrix(call, mat2, "mat2", 2));
    TN__TRY(check_product(call, self, mat2, "mat2"));
    result(self, mat2, r);
    return TN_OK;
}

tn_status tn__shape_bmm(tn_call *call, tn_tensor *self, tn_tensor *mat2, tn_result *r)
{
    TN__TRY(check_matrix(call, self, "self", 3));
    TN__TRY(check_matrix(call, mat2, "mat2", 3));
    if (self->sizes[0] != mat2->sizes[0])
        return tn__fail(call, TN_ERR_ARGUMENT, "mat2 has a batch of %lld matrices, self of %lld",
                        (long long)mat2->sizes[0], (long long)self->sizes[0]);
    TN__TRY(check_product(call, self, mat2, "mat2"));
    result(self, mat2, r);
    return TN_OK;
}

tn_status tn__shape_addmm(tn_call *call, tn_tensor *self, tn_tensor *mat1, tn_tensor *mat2,
                          tn_result *r)
{
    char x[TN__SHAPE_CHARS], y[TN__SHAPE_CHARS];
    TN__TRY(check_matrix(call, mat1, "mat1", 2));
    TN__TRY(check_matrix(call, mat2, "mat2", 2));
    TN__TRY(check_product(call, mat1, mat2, "mat2"));
    TN__TRY(tn__same_device(call, mat1, self, "self"));
    if (self->dtype != mat1->dtype)
        return tn__fail(call, TN_ERR_DTYPE, "self must have the matrices' dtype %s, got %s",
                        tn__dtype_name(mat1->dtype), tn__dtype_name(self->dtype));
    result(mat1, mat2, r);
    for (int i = 1; i <= self->ndim; i++) {
        int64_t n = self->sizes[self->ndim - i];
        if (i > 2 || (n != 1 && n != r->sizes[2 - i]))
            return tn__fail(call, TN_ERR_ARGUMENT,
                            "self of shape %s cannot be broadcast to the product's shape %s",
                            tn__shape_text(x, self->ndim, self->sizes),
                            tn__shape_text(y, 2, r->sizes));
    }
    return TN_OK;
}

/* work.c - chains of operators: holding what they return, and the operators as functions. Each
 * fills a frame; what is NULL ends the chain quietly, because the failure is in w->status. */
#include "work.h"

tn_tensor *work_hold(work *w, tn_tensor *t)
{
    if (!t)
        return NULL;
    if (w->n < WORK_HELD) {
        w->held[w->n++] = t;
        return t;
    }
    tn->tensor_release(t);
    if (w->status == TN_OK)
        w->status =
            tn->fail(w->call, TN_ERR_INTERNAL, "a chain of more than %d operators", WORK_HELD);
    return NULL;
}

tn_tensor *work_call(work *w, int op, void *frame, tn_tensor **result)
{
    if (w->status == TN_OK)
        w->status = tn->op_call(composite_ops[op], frame);
    return w->status == TN_OK ? work_hold(w, *result) : NULL;
}

tn_status work_end(work *w, tn_tensor *result, tn_tensor **out)
{
    if (w->status == TN_OK)
        composite_return_self(result, out);
    while (w->n > 0)
        tn->tensor_release(w->held[--w->n]);
    return w->status;
}

tn_status work_fail(work *w, tn_status status)
{
    if (w->status == TN_OK)
        w->status = status;
    return work_end(w, NULL, NULL);
}

tn_tensor *work_abs(work *w, tn_tensor *self)
{
    if (!self)
        return NULL;
    struct tn_abs_args f = {TN_FRAME(abs), .self = self};
    return work_call(w, OP_ABS, &f, &f.result);
}

tn_tensor *work_exp(work *w, tn_tensor *self)
{
    if (!self)
        return NULL;
    struct tn_exp_args f = {TN_FRAME(exp), .self = self};
    return work_call(w, OP_EXP, &f, &f.result);
}

tn_tensor *work_log(work *w, tn_tensor *self)
{
    if (!self)
        return NULL;
    struct tn_log_args f = {TN_FRAME(log), .self = self};
    return work_call(w, OP_LOG, &f, &f.result);
}

tn_tensor *work_log1p(work *w, tn_tensor *self)
{
    if (!self)
        return NULL;
    struct tn_log1p_args f = {TN_FRAME(log1p), .self = self};
    return work_call(w, OP_LOG1P, &f, &f.result);
}

tn_tensor *work_neg(work *w, tn_tensor *self)
{
    if (!self)
        return NULL;
    struct tn_neg_args f = {TN_FRAME(neg), .self = self};
    return work_call(w, OP_NEG, &f, &f.result);
}

tn_tensor *work_sqrt(work *w, tn_tensor *self)
{
    if (!self)
        return NULL;
    struct tn_sqrt_args f = {TN_FRAME(sqrt), .self = self};
    return work_call(w, OP_SQRT, &f, &f.result);
}

tn_tensor *work_detach(work *w, tn_tensor *self)
{
    if (!self)
        return NULL;
    struct tn_detach_args f = {TN_FRAME(detach), .self = self};
    return work_call(w, OP_DETACH, &f, &f.result);
}

tn_tensor *work_mul(work *w, tn_tensor *self, tn_tensor *other)
{
    if (!self || !other)
        return NULL;
    struct tn_mul_Tensor_args f = {TN_FRAME(mul_Tensor), .self = self, .other = other};
    return work_call(w, OP_MUL, &f, &f.result);
}

tn_tensor *work_div(work *w, tn_tensor *self, tn_tensor *other)
{
    if (!self || !other)
        return NULL;
    struct tn_div_Tensor_args f = {TN_FRAME(div_Tensor), .self = self, .other = other};
    return work_call(w, OP_DIV, &f, &f.result);
}

tn_tensor *work_le(work *w, tn_tensor *self, tn_tensor *other)
{
    if (!self || !other)
        return NULL;
    struct tn_le_Tensor_args f = {TN_FRAME(le_Tensor), .self = self, .other = other};
    return work_call(w, OP_LE, &f, &f.result);
}

tn_tensor *work_mm(work *w, tn_tensor *self, tn_tensor *mat2)
{
    if (!self || !mat2)
        return NULL;
    struct tn_mm_args f = {TN_FRAME(mm), .self = self, .mat2 = mat2};
    return work_call(w, OP_MM, &f, &f.result);
}

tn_tensor *work_bmm(work *w, tn_tensor *self, tn_tensor *mat2)
{
    if (!self || !mat2)
        return NULL;
    struct tn_bmm_args f = {TN_FRAME(bmm), .self = self, .mat2 = mat2};
    return work_call(w, OP_BMM, &f, &f.result);
}

tn_tensor *work_matmul(work *w, tn_tensor *self, tn_tensor *other)
{
    if (!self || !other)
        return NULL;
    struct tn_matmul_args f = {TN_FRAME(matmul), .self = self, .other = other};
    return work_call(w, OP_MATMUL, &f, &f.result);
}

tn_tensor *work_add_scaled(work *w, tn_tensor *self, tn_tensor *other, tn_scalar alpha)
{
    if (!self || !other)
        return NULL;
    struct tn_add_Tensor_args f = {TN_FRAME(add_Tensor), .self = self, .other = other,
                                   .alpha = alpha};
    return work_call(w, OP_ADD, &f, &f.result);
}

tn_tensor *work_add(work *w, tn_tensor *self, tn_tensor *other)
{
    return work_add_scaled(w, self, other, work_whole(1));
}

tn_tensor *work_sub(work *w, tn_tensor *self, tn_tensor *other)
{
    if (!self || !other)
        return NULL;
    struct tn_sub_Tensor_args f = {TN_FRAME(sub_Tensor), .self = self, .other = other,
                                   .alpha = work_whole(1)};
    return work_call(w, OP_SUB, &f, &f.result);
}

tn_tensor *work_add_number(work *w, tn_tensor *self, tn_scalar other)
{
    if (!self)
        return NULL;
    struct tn_add_Scalar_args f = {TN_FRAME(add_Scalar), .self = self, .other = other,
                                   .alpha = work_whole(1)};
    return work_call(w, OP_ADD_NUMBER, &f, &f.result);
}

tn_tensor *work_rsub(work *w, tn_tensor *self, tn_scalar other)
{
    if (!self)
        return NULL;
    struct tn_rsub_Scalar_args f = {TN_FRAME(rsub_Scalar), .self = self, .other = other,
                                    .alpha = work_whole(1)};
    return work_call(w, OP_RSUB_NUMBER, &f, &f.result);
}

tn_tensor *work_mul_number(work *w, tn_tensor *self, tn_scalar other)
{
    if (!self)
        return NULL;
    struct tn_mul_Scalar_args f = {TN_FRAME(mul_Scalar), .self = self, .other = other};
    return work_call(w, OP_MUL_NUMBER, &f, &f.result);
}

tn_tensor *work_div_number(work *w, tn_tensor *self, tn_scalar other)
{
    if (!self)
        return NULL;
    struct tn_div_Scalar_args f = {TN_FRAME(div_Scalar), .self = self, .other = other};
    return work_call(w, OP_DIV_NUMBER, &f, &f.result);
}

tn_tensor *work_eq(work *w, tn_tensor *self, tn_scalar other)
{
    if (!self)
        return NULL;
    struct tn_eq_Scalar_args f = {TN_FRAME(eq_Scalar), .self = self, .other = other};
    return work_call(w, OP_EQ_NUMBER, &f, &f.result);
}

tn_tensor *work_ne(work *w, tn_tensor *self, tn_scalar other)
{
    if (!self)
        return NULL;
    struct tn_ne_Scalar_args f = {TN_FRAME(ne_Scalar), .self = self, .other = other};
    return work_call(w, OP_NE_NUMBER, &f, &f.result);
}

tn_tensor *work_lt_number(work *w, tn_tensor *self, tn_scalar other)
{
    if (!self)
        return NULL;
    struct tn_lt_Scalar_args f = {TN_FRAME(lt_Scalar), .self = self, .other = other};
    return work_call(w, OP_LT_NUMBER, &f, &f.result);
}

tn_tensor *work_pow(work *w, tn_tensor *self, tn_scalar exponent)
{
    if (!self)
        return NULL;
    struct tn_pow_Tensor_Scalar_args f = {TN_FRAME(pow_Tensor_Scalar), .self = self,
                                          .exponent = exponent};
    return work_call(w, OP_POW_NUMBER, &f, &f.result);
}

tn_tensor *work_clamp_min(work *w, tn_tensor *self, tn_scalar min)
{
    if (!self)
        return NULL;
    struct tn_clamp_min_args f = {TN_FRAME(clamp_min), .self = self, .min = min};
    return work_call(w, OP_CLAMP_MIN, &f, &f.result);
}

tn_tensor *work_amax(work *w, tn_tensor *self, tn_ints dim, bool keepdim)
{
    if (!self)
        return NULL;
    struct tn_amax_args f = {TN_FRAME(amax), .self = self, .dim = dim, .keepdim = keepdim};
    return work_call(w, OP_AMAX, &f, &f.result);
}

tn_tensor *work_amin(work *w, tn_tensor *self, tn_ints dim, bool keepdim)
{
    if (!self)
        return NULL;
    struct tn_amin_args f = {TN_FRAME(amin), .self = self, .dim = dim, .keepdim = keepdim};
    return work_call(w, OP_AMIN, &f, &f.result);
}

tn_tensor *work_sum(work *w, tn_tensor *self, tn_ints dim, bool keepdim)
{
    if (!self)
        return NULL;
    struct tn_sum_dim_IntList_args f = {TN_FRAME(sum_dim_IntList), .self = self, .dim = dim,
                                        .keepdim = keepdim, .dtype = TN_DTYPE_NONE};
    return work_call(w, OP_SUM, &f, &f.result);
}

tn_tensor *work_mean(work *w, tn_tensor *self, tn_ints dim, bool keepdim)
{
    if (!self)
        return NULL;
    struct tn_mean_dim_args f = {TN_FRAME(mean_dim), .self = self, .dim = dim, .keepdim = keepdim,
                                 .dtype = TN_DTYPE_NONE};
    return work_call(w, OP_MEAN, &f, &f.result);
}

tn_tensor *work_where(work *w, tn_tensor *condition, tn_tensor *self, tn_tensor *other)
{
    if (!condition || !self || !other)
        return NULL;
    struct tn_where_self_args f = {TN_FRAME(where_self), .condition = condition, .self = self,
                                   .other = other};
    return work_call(w, OP_WHERE, &f, &f.result);
}

tn_tensor *work_cat(work *w, tn_tensors tensors, int64_t dim)
{
    if (w->status != TN_OK)
        return NULL;
    struct tn_cat_args f = {TN_FRAME(cat), .tensors = tensors, .dim = dim};
    return work_call(w, OP_CAT, &f, &f.result);
}

tn_tensor *work_clone(work *w, tn_tensor *self)
{
    if (!self)
        return NULL;
    struct tn_clone_args f = {TN_FRAME(clone), .self = self, .memory_format = TN_CONTIGUOUS};
    return work_call(w, OP_CLONE, &f, &f.result);
}

tn_tensor *work_contiguous(work *w, tn_tensor *self)
{
    if (!self)
        return NULL;
    struct tn_contiguous_args f = {TN_FRAME(contiguous), .self = self,
                                   .memory_format = TN_CONTIGUOUS};
    return work_call(w, OP_CONTIGUOUS, &f, &f.result);
}

tn_tensor *work_copy_(work *w, tn_tensor *self, tn_tensor *src)
{
    if (!self || !src)
        return NULL;
    struct tn_copy__args f = {TN_FRAME(copy_), .self = self, .src = src, .non_blocking = false};
    return work_call(w, OP_COPY_, &f, &f.result);
}

tn_tensor *work_diagonal(work *w, tn_tensor *self, int64_t offset, int64_t dim1, int64_t dim2)
{
    if (!self)
        return NULL;
    struct tn_diagonal_args f = {TN_FRAME(diagonal), .self = self, .offset = offset, .dim1 = dim1,
                                 .dim2 = dim2};
    return work_call(w, OP_DIAGONAL, &f, &f.result);
}

tn_tensor *work_expand(work *w, tn_tensor *self, tn_ints size)
{
    if (!self)
        return NULL;
    struct tn_expand_args f = {TN_FRAME(expand), .self = self, .size = size, .implicit = false};
    return work_call(w, OP_EXPAND, &f, &f.result);
}

tn_tensor *work_gather(work *w, tn_tensor *self, int64_t dim, tn_tensor *index)
{
    if (!self || !index)
        return NULL;
    struct tn_gather_args f = {TN_FRAME(gather), .self = self, .dim = dim, .index = index,
                               .sparse_grad = false};
    return work_call(w, OP_GATHER, &f, &f.result);
}

tn_tensor *work_index_select(work *w, tn_tensor *self, int64_t dim, tn_tensor *index)
{
    if (!self || !index)
        return NULL;
    struct tn_index_select_args f = {TN_FRAME(index_select), .self = self, .dim = dim,
                                     .index = index};
    return work_call(w, OP_INDEX_SELECT, &f, &f.result);
}

tn_tensor *work_permute(work *w, tn_tensor *self, tn_ints dims)
{
    if (!self)
        return NULL;
    struct tn_permute_args f = {TN_FRAME(permute), .self = self, .dims = dims};
    return work_call(w, OP_PERMUTE, &f, &f.result);
}

tn_tensor *work_reshape(work *w, tn_tensor *self, tn_ints shape)
{
    if (!self)
        return NULL;
    struct tn_reshape_args f = {TN_FRAME(reshape), .self = self, .shape = shape};
    return work_call(w, OP_RESHAPE, &f, &f.result);
}

tn_tensor *work_select(work *w, tn_tensor *self, int64_t dim, int64_t index)
{
    if (!self)
        return NULL;
    struct tn_select_int_args f = {TN_FRAME(select_int), .self = self, .dim = dim, .index = index};
    return work_call(w, OP_SELECT, &f, &f.result);
}

tn_tensor *work_slice(work *w, tn_tensor *self, int64_t dim, int64_t start, int64_t end)
{
    if (!self)
        return NULL;
    struct tn_slice_Tensor_args f = {TN_FRAME(slice_Tensor), .self = self,    .dim = dim,
                                     .start = {start, 1},    .end = {end, 1}, .step = 1};
    return work_call(w, OP_SLICE, &f, &f.result);
}

tn_tensor *work_squeeze(work *w, tn_tensor *self, int64_t dim)
{
    if (!self)
        return NULL;
    struct tn_squeeze_dim_args f = {TN_FRAME(squeeze_dim), .self = self, .dim = dim};
    return work_call(w, OP_SQUEEZE, &f, &f.result);
}

tn_tensor *work_transpose(work *w, tn_tensor *self, int64_t dim0, int64_t dim1)
{
    if (!self)
        return NULL;
    struct tn_transpose_int_args f = {TN_FRAME(transpose_int), .self = self, .dim0 = dim0,
                                      .dim1 = dim1};
    return work_call(w, OP_TRANSPOSE, &f, &f.result);
}

tn_tensor *work_unsqueeze(work *w, tn_tensor *self, int64_t dim)
{
    if (!self)
        return NULL;
    struct tn_unsqueeze_args f = {TN_FRAME(unsqueeze), .self = self, .dim = dim};
    return work_call(w, OP_UNSQUEEZE, &f, &f.result);
}

tn_tensor *work_conj(work *w, tn_tensor *self)
{
    if (!self || !(TN_DTYPE_BIT(self->dtype) & TN_DTYPES_COMPLEX))
        return self;
    struct tn__conj_physical_args f = {TN_FRAME(_conj_physical), .self = self};
    return work_call(w, OP_CONJ, &f, &f.result);
}

tn_tensor *work_as_dtype(work *w, tn_tensor *self, tn_dtype dtype)
{
    if (!self || self->dtype == dtype)
        return self;
    struct tn__to_copy_args f = {TN_FRAME(_to_copy),
                                 .self = self,
                                 .dtype = dtype,
                                 .layout = TN_LAYOUT_NONE,
                                 .device = {TN_DEVICE_NONE, -1},
                                 .pin_memory = -1,
                                 .memory_format = TN_FORMAT_NONE};
    return work_call(w, OP__TO_COPY, &f, &f.result);
}

tn_tensor *work_arange(work *w, int64_t start, int64_t step, int64_t n, tn_device device)
{
    tn_tensor *out = NULL;
    if (w->status == TN_OK)
        w->status = tn->tensor_new(w->call, 1, &n, TN_I64, device, &out);
    if (!work_hold(w, out))
        return NULL;
    struct tn_arange_start_out_args f = {TN_FRAME(arange_start_out), .start = work_whole(start),
                                         .end = work_whole(start + n * step),
                                         .step = work_whole(step), .out = out};
    return work_call(w, OP_ARANGE_OUT, &f, &f.result);
}

static tn_tensor *filled(work *w, tn_ints size, tn_dtype dtype, tn_device device,
                         const tn_scalar *value)
{
    tn_tensor *t = NULL;
    if (w->status == TN_OK)
        w->status = composite_new(w->call, size, TN_CONTIGUOUS, NULL, dtype, device, &t);
    if (w->status == TN_OK)
        w->status = composite_filled(w->call, t, value, &t);
    return w->status == TN_OK ? work_hold(w, t) : NULL;
}

tn_tensor *work_zeros(work *w, tn_ints size, tn_dtype dtype, tn_device device)
{
    tn_scalar zero = work_whole(0);
    return filled(w, size, dtype, device, &zero);
}

tn_tensor *work_constant(work *w, const tn_tensor *like, tn_scalar value)
{
    return like ? filled(w, (tn_ints){NULL, 0}, like->dtype, like->device, &value) : NULL;
}

tn_tensor *work_only_where(work *w, tn_tensor *condition, tn_tensor *self)
{
    return work_where(w, condition, self, work_constant(w, self, work_whole(0)));
}

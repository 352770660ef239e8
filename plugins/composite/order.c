/* order.c - sorting and searching by other operators: msort is sort along the first dimension; a
 * number that is searched for is a tensor without dimensions, weak in type promotion as numbers
 * are. */
#include "work.h"

static tn_status msort(tn_call *call, struct tn_msort_args *a)
{
    (void)call;
    struct tn_sort_args f = {TN_FRAME(sort), .self = a->self};
    TN_TRY(tn->op_call(composite_ops[OP_SORT], &f));
    tn->tensor_release(f.indices);
    a->result = f.values;
    return TN_OK;
}

static tn_status msort_out(tn_call *call, struct tn_msort_out_args *a)
{
    const int64_t none = 0;
    struct tn_sort_values_args f = {TN_FRAME(sort_values), .self = a->self, .values = a->out};
    TN_TRY(tn->tensor_new(call, 1, &none, TN_I64, a->self->device, &f.indices));
    tn_status status = tn->op_call(composite_ops[OP_SORT_OUT], &f);
    if (status == TN_OK) {
        a->result = f.result0;
        tn->tensor_release(f.result1);
    }
    tn->tensor_release(f.indices);
    return status;
}

/* ---- numbers --------------------------------------------------------------------------------- */
static tn_tensor *tensor_of(work *w, const tn_scalar *number, const tn_tensor *like)
{
    tn_tensor *t = NULL;
    w->status =
        tn->tensor_new(w->call, 0, NULL, composite_dtype_of_number(number), like->device, &t);
    if (w->status == TN_OK)
        w->status = composite_filled(w->call, t, number, &t);
    if (w->status == TN_OK)
        tn->tensor_mark_number(t);
    return w->status == TN_OK ? work_hold(w, t) : NULL;
}

static tn_status searchsorted(tn_call *call, struct tn_searchsorted_Scalar_args *a)
{
    work w = work_on(call);
    struct tn_searchsorted_Tensor_args f = {TN_FRAME(searchsorted_Tensor),
                                            .sorted_sequence = a->sorted_sequence,
                                            .self = tensor_of(&w, &a->self, a->sorted_sequence),
                                            .out_int32 = a->out_int32,
                                            .right = a->right,
                                            .side = a->side,
                                            .sorter = a->sorter};
    return work_end(&w, work_call(&w, OP_SEARCHSORTED, &f, &f.result), &a->result);
}

static tn_status bucketize(tn_call *call, struct tn_bucketize_Scalar_args *a)
{
    work w = work_on(call);
    struct tn_bucketize_Tensor_args f = {
        TN_FRAME(bucketize_Tensor), .self = tensor_of(&w, &a->self, a->boundaries),
        .boundaries = a->boundaries, .out_int32 = a->out_int32, .right = a->right};
    return work_end(&w, work_call(&w, OP_BUCKETIZE, &f, &f.result), &a->result);
}

static tn_status isin_scalar(tn_call *call, struct tn_isin_Tensor_Scalar_args *a)
{
    work w = work_on(call);
    if (tn_dtype_in(a->elements->dtype, TN_DTYPES_COMPLEX))
        return tn->fail(call, TN_ERR_UNSUPPORTED, "%s numbers have no order",
                        tn->dtype_name(a->elements->dtype));
    tn_tensor *r = a->invert ? work_ne(&w, a->elements, a->test_element)
                             : work_eq(&w, a->elements, a->test_element);
    return work_end(&w, r, &a->result);
}

static tn_status scalar_isin(tn_call *call, struct tn_isin_Scalar_Tensor_args *a)
{
    work w = work_on(call);
    struct tn_isin_Tensor_Tensor_args f = {
        TN_FRAME(isin_Tensor_Tensor), .elements = tensor_of(&w, &a->element, a->test_elements),
        .test_elements = a->test_elements, .assume_unique = a->assume_unique, .invert = a->invert};
    return work_end(&w, work_call(&w, OP_ISIN, &f, &f.result), &a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(isin_Tensor_Scalar, IMPLICIT, isin_scalar),
    TN_KERNEL(isin_Scalar_Tensor, IMPLICIT, scalar_isin),
    TN_KERNEL(msort, IMPLICIT, msort),
    TN_KERNEL(msort_out, IMPLICIT, msort_out),
    TN_KERNEL(searchsorted_Scalar, IMPLICIT, searchsorted),
    TN_KERNEL(bucketize_Scalar, IMPLICIT, bucketize),
};
const composite_kernels composite_order = {kernels, TN_COUNT(kernels)};

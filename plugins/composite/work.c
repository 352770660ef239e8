/* work.c - links of a chain of operators that are not one call each. Like those of composite_work.h
 * they pass NULL on, because the failure is in w->status. */
#include "work.h"

tn_tensor *work_conj(work *w, tn_tensor *self)
{
    bool complex = self && TN_DTYPE_BIT(self->dtype) & TN_DTYPES_COMPLEX;
    return complex ? work_conj_physical(w, self) : self;
}

tn_tensor *work_as_dtype(work *w, tn_tensor *self, tn_dtype dtype)
{
    return self && self->dtype != dtype ? work_to_dtype(w, self, dtype) : self;
}

tn_tensor *work_arange(work *w, int64_t start, int64_t step, int64_t n, tn_device device)
{
    tn_tensor *out = NULL;
    if (w->status == TN_OK)
        w->status = tn->tensor_new(w->call, 1, &n, TN_I64, device, &out);
    return work_arange_out(w, work_whole(start), work_whole(start + n * step), work_whole(step),
                           work_hold(w, out));
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

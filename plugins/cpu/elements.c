/* elements.c - what kernels with their own shape rules share: copying elements, keeping operands
 * apart from results, checking an out= tensor's dtype. */
#include "cpu.h"

static void copy_row(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    const tn_iter *it = params;
    tn->convert(NULL, p[0], it->dtypes[0], s[0], p[1], it->dtypes[1], s[1], n);
}

tn_status cpu_copy_elements(tn_call *call, tn_tensor *out, tn_tensor *in)
{
    tn_iter it;
    tn_tensor *operands[] = {out, in};
    TN_TRY(tn->iter_init(call, &it, 1, 2, operands, TN_DTYPE_NONE, TN_DTYPE_NONE, 0));
    return tn->iter_run(call, &it, copy_row, &it);
}

tn_status cpu_check_dtype(tn_call *call, const tn_tensor *out, tn_dtype dtype)
{
    if (out->dtype == dtype)
        return TN_OK;
    return tn->fail(call, TN_ERR_DTYPE, "out has dtype %s; expected the operands' %s",
                    tn->dtype_name(out->dtype), tn->dtype_name(dtype));
}

tn_status cpu_check_here(tn_call *call, const tn_tensor *t, const char *name)
{
    if (t->device.type == TN_CPU)
        return TN_OK;
    return tn->fail(call, TN_ERR_DEVICE, "%s is on another device than the host; move it with to()",
                    name);
}

tn_status cpu_copy_of(tn_call *call, tn_tensor **t, tn_tensor **copy)
{
    TN_TRY(tn->tensor_new(call, (*t)->ndim, (*t)->sizes, (*t)->dtype, (*t)->device, copy));
    TN_TRY(cpu_copy_elements(call, *copy, *t));
    *t = *copy;
    return TN_OK;
}

tn_status cpu_apart(tn_call *call, const tn_tensor *result, tn_tensor **t, tn_tensor **copy)
{
    return tn->tensor_same_storage(result, *t) ? cpu_copy_of(call, t, copy) : TN_OK;
}

/* api.c - the table of functions that every plugin is handed: one line each, pointing into the
 * core.
 *
 * Where the core's own function has another type, a few lines here make up the difference. The
 * order is the struct's; a member without a function would be a compile-time warning under
 * -Wmissing-field-initializers, and a test looks. */
#include "core/autograd/autograd.h"
#include "core/dispatch/registry.h"
#include "core/iter/iter.h"
#include "core/plugin/plugin.h"
#include "core/tensor/tensor_impl.h"

#include <tenon/tensor.h>

static int same_storage(const tn_tensor *a, const tn_tensor *b)
{
    return tn_tensor_same_storage(a, b);
}

static void mark_number(tn_tensor *t)
{
    t->flags |= TN_TENSOR_WRAPPED_NUMBER;
}

static tn_status redispatch(const tn_op *op, uint64_t keys, void *frame)
{
    tn__key_guard held = tn__keys_tls;
    tn__keys_tls = (tn__key_guard){0};
    tn_status status = tn__dispatch(op, frame, keys, NULL, 0);
    tn__keys_tls = held;
    return status;
}

/* An operator made of others is called at one place: what they record and say names that. */
static tn_status op_call(const tn_op *op, void *frame)
{
    const tn__call_site at = tn__call_site_tls;
    return at.file ? tn_op_call_at(op, frame, at.file, at.line) : tn_op_call(op, frame);
}

static void key_guard(uint64_t include, uint64_t exclude, uint64_t *old)
{
    if (old) {
        old[0] = tn__keys_tls.include;
        old[1] = tn__keys_tls.exclude;
    }
    tn__keys_tls = (tn__key_guard){include, exclude};
}

static size_t dtype_size(tn_dtype dtype)
{
    return dtype >= 0 && dtype < TN_DTYPE_COUNT ? tn__dtype_sizes[dtype] : 0;
}

static tn_status convert(tn_call *call, void *dst, tn_dtype to, int64_t dst_stride, const void *src,
                         tn_dtype from, int64_t src_stride, int64_t n)
{
    if (dtype_size(to) == 0 || dtype_size(from) == 0)
        return tn__fail(call, TN_ERR_DTYPE, "convert: expected two dtypes, got %d and %d", to,
                        from);
    tn__converter(to, from)(dst, dst_stride, src, src_stride, n);
    return TN_OK;
}

/* ---- registration: only inside init, only with the transaction that init was given ----------- */
static tn_status check_open(const tn_registry *r, const char *function)
{
    if (r && r == tn__registry_open)
        return TN_OK;
    return tn__fail(NULL, TN_ERR_PLUGIN,
                    "%s may be called inside a plugin's init only, with the registry that it was "
                    "given",
                    function);
}

/* A failure that init does not pass on fails it all the same. */
static tn_status check_list(tn_registry *r, const char *function, const void *list, size_t n)
{
    TN__TRY(check_open(r, function));
    if (list || n == 0)
        return TN_OK;
    r->status =
        tn__fail(NULL, TN_ERR_PLUGIN, "%s: expected %zu declarations, got NULL", function, n);
    return r->status;
}

static tn_status register_ops(tn_registry *r, const tn_op_decl *ops, size_t n)
{
    TN__TRY(check_list(r, "register_ops", ops, n));
    return tn__registry_ops(r, ops, n);
}

static tn_status register_kernels(tn_registry *r, const tn_kernel_decl *kernels, size_t n)
{
    TN__TRY(check_list(r, "register_kernels", kernels, n));
    return tn__registry_kernels(r, kernels, n);
}

static tn_status register_device(tn_registry *r, const tn_device_decl *device, int16_t *type_out)
{
    TN__TRY(check_open(r, "register_device"));
    return tn__registry_device(r, device, type_out);
}

static tn_status import_ops(tn_registry *r, const char *const *schemas, const tn_op **handles,
                            size_t n)
{
    TN__TRY(check_list(r, "import_ops", schemas, n));
    TN__TRY(check_list(r, "import_ops", handles, n));
    return tn__registry_imports(r, schemas, handles, n);
}

static tn_status register_derivatives(tn_registry *r, const tn_derivative_decl *decls, size_t n)
{
    TN__TRY(check_list(r, "register_derivatives", decls, n));
    return tn__registry_derivatives(r, decls, n);
}

const tn_api tn__api = {
    .size = sizeof(tn_api),
    .abi = TN_BORDER_REVISION,
    .fail = tn__fail,
    .tensor_retain = tn__tensor_retain,
    .tensor_release = tn__tensor_release,
    .tensor_new = tn__tensor_new,
    .tensor_new_strided = tn__tensor_new_strided,
    .tensor_view = tn__tensor_view,
    .tensor_offset = tn_tensor_offset,
    .tensor_storage_bytes = tn_tensor_storage_bytes,
    .tensor_same_storage = same_storage,
    .tensor_resize = tn__tensor_resize,
    .tensor_set_geometry = tn__tensor_set_geometry,
    .tensor_mark_number = mark_number,
    .tensors_new = tn__tensors_new,
    .tensors_release = tn__tensors_release,
    .scratch = tn__scratch,
    .op_find = tn_op_find,
    .op_call = op_call,
    .op_redispatch = redispatch,
    .op_name = tn_op_name,
    .op_schema = tn_op_schema,
    .promote = tn__promote,
    .result_type = tn__result_type,
    .can_cast = tn__can_cast,
    .dtype_size = dtype_size,
    .dtype_name = tn__dtype_name,
    .default_dtype = tn__default_dtype,
    .iter_init = tn__iter_init,
    .iter_run = tn__iter_run,
    .parallel_for = tn__parallel_for,
    .check_no_internal_overlap = tn__check_no_internal_overlap,
    .check_no_overlap = tn__check_no_overlap,
    .register_ops = register_ops,
    .register_kernels = register_kernels,
    .register_device = register_device,
    .import_ops = import_ops,
    .extension = tn__extension,
    .convert = convert,
    .tensor_permuted = tn__tensor_permuted,
    .register_derivatives = register_derivatives,
    .grad_hold = tn__grad_hold,
    .grad_call_op = tn__grad_call_op,
    .grad_save = tn_function_save,
    .grad_saved = tn_function_saved,
    .function_apply = tn_function_apply,
    .requires_grad = tn_requires_grad,
    .grad_hold_list = tn__grad_hold_list,
    .tensor_detached = tn__tensor_detached,
    .op_fields = tn_op_fields,
    .call_next = tn__kernel_fall_through,
    .key_bit = tn__key_bit,
    .key_guard = key_guard,
    .call_replaced = tn__kernel_call_replaced,
    .tensor_set_memory = tn__tensor_set_memory,
};

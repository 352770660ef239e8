/* composite.c - the composite plugin: the kernels that serve every backend. It imports the
 * operators that they call and registers every family. */
#include "composite.h"

const tn_op *composite_ops[OP_COUNT];

static const char *const imports[OP_COUNT] = {
    [OP__LOG_SOFTMAX] = TN_SCHEMA__log_softmax,
    [OP__SOFTMAX] = TN_SCHEMA__softmax,
    [OP__TO_COPY] = TN_SCHEMA__to_copy,
    [OP__UNSAFE_VIEW] = TN_SCHEMA__unsafe_view,
    [OP_ADD_] = TN_SCHEMA_add__Tensor,
    [OP_ADDMM] = TN_SCHEMA_addmm,
    [OP_ARANGE_OUT] = TN_SCHEMA_arange_start_out,
    [OP_BMM] = TN_SCHEMA_bmm,
    [OP_CAT] = TN_SCHEMA_cat,
    [OP_CLONE] = TN_SCHEMA_clone,
    [OP_COPY_] = TN_SCHEMA_copy_,
    [OP_EXPAND] = TN_SCHEMA_expand,
    [OP_FILL_] = TN_SCHEMA_fill__Scalar,
    [OP_MAXIMUM] = TN_SCHEMA_maximum,
    [OP_MINIMUM] = TN_SCHEMA_minimum,
    [OP_MM] = TN_SCHEMA_mm,
    [OP_PERMUTE] = TN_SCHEMA_permute,
    [OP_POW_SCALAR_OUT] = TN_SCHEMA_pow_Tensor_Scalar_out,
    [OP_POW_TENSOR_OUT] = TN_SCHEMA_pow_Tensor_Tensor_out,
    [OP_SLICE] = TN_SCHEMA_slice_Tensor,
    [OP_SPLIT] = TN_SCHEMA_split_Tensor,
    [OP_SPLIT_WITH_SIZES] = TN_SCHEMA_split_with_sizes,
    [OP_T] = TN_SCHEMA_t,
    [OP_TRANSPOSE] = TN_SCHEMA_transpose_int,
    [OP_UNSQUEEZE] = TN_SCHEMA_unsqueeze,
    [OP_VIEW] = TN_SCHEMA_view,
    [OP_ZERO_] = TN_SCHEMA_zero_,
};

static const composite_kernels *const families[] = {
    &composite_casts,    &composite_factories, &composite_likes,  &composite_pointwise,
    &composite_products, &composite_reshaping, &composite_slices, &composite_softmax,
    &composite_split,    &composite_stack,     &composite_views,  &composite_views_inplace,
};

static tn_status start(tn_registry *r)
{
    TN_TRY(tn->import_ops(r, imports, composite_ops, OP_COUNT));
    for (size_t i = 0; i < TN_COUNT(families); i++)
        TN_TRY(tn->register_kernels(r, families[i]->list, families[i]->count));
    return TN_OK;
}

TN_PLUGIN("composite", "0.1.0", start, NULL);

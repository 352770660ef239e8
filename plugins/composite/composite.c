/* composite.c - the composite plugin: the kernels that serve every backend. It imports the
 * operators that they call and registers every family. */
#include "composite.h"

const tn_op *composite_ops[OP_COUNT];

static const char *const imports[OP_COUNT] = {
    [OP_ABS] = TN_SCHEMA_abs,
    [OP_ADD] = TN_SCHEMA_add_Tensor,
    [OP_ADDMM] = TN_SCHEMA_addmm,
    [OP_ADD_] = TN_SCHEMA_add__Tensor,
    [OP_ADD_NUMBER] = TN_SCHEMA_add_Scalar,
    [OP_AMAX] = TN_SCHEMA_amax,
    [OP_AMIN] = TN_SCHEMA_amin,
    [OP_ARANGE_OUT] = TN_SCHEMA_arange_start_out,
    [OP_ATAN2] = TN_SCHEMA_atan2,
    [OP_BMM] = TN_SCHEMA_bmm,
    [OP_CAT] = TN_SCHEMA_cat,
    [OP_CLAMP] = TN_SCHEMA_clamp,
    [OP_CLAMP_MIN] = TN_SCHEMA_clamp_min,
    [OP_CLONE] = TN_SCHEMA_clone,
    [OP_COMPLEX] = TN_SCHEMA_complex,
    [OP_CONJ] = TN_SCHEMA__conj_physical,
    [OP_CONTIGUOUS] = TN_SCHEMA_contiguous,
    [OP_COPY_] = TN_SCHEMA_copy_,
    [OP_COS] = TN_SCHEMA_cos,
    [OP_DETACH] = TN_SCHEMA_detach,
    [OP_DIAGONAL] = TN_SCHEMA_diagonal,
    [OP_DIAG_EMBED] = TN_SCHEMA_diag_embed,
    [OP_DIV] = TN_SCHEMA_div_Tensor,
    [OP_DIV_NUMBER] = TN_SCHEMA_div_Scalar,
    [OP_EQ_NUMBER] = TN_SCHEMA_eq_Scalar,
    [OP_EXP] = TN_SCHEMA_exp,
    [OP_EXPAND] = TN_SCHEMA_expand,
    [OP_FILL_] = TN_SCHEMA_fill__Scalar,
    [OP_GATHER] = TN_SCHEMA_gather,
    [OP_INDEX_ADD_] = TN_SCHEMA_index_add_,
    [OP_INDEX_SELECT] = TN_SCHEMA_index_select,
    [OP_ISNAN] = TN_SCHEMA_isnan,
    [OP_LE] = TN_SCHEMA_le_Tensor,
    [OP_LOG] = TN_SCHEMA_log,
    [OP_LOG1P] = TN_SCHEMA_log1p,
    [OP_LT_NUMBER] = TN_SCHEMA_lt_Scalar,
    [OP_MATMUL] = TN_SCHEMA_matmul,
    [OP_MAXIMUM] = TN_SCHEMA_maximum,
    [OP_MEAN] = TN_SCHEMA_mean_dim,
    [OP_MINIMUM] = TN_SCHEMA_minimum,
    [OP_MM] = TN_SCHEMA_mm,
    [OP_MUL] = TN_SCHEMA_mul_Tensor,
    [OP_MUL_NUMBER] = TN_SCHEMA_mul_Scalar,
    [OP_NEG] = TN_SCHEMA_neg,
    [OP_NE_NUMBER] = TN_SCHEMA_ne_Scalar,
    [OP_PERMUTE] = TN_SCHEMA_permute,
    [OP_POW] = TN_SCHEMA_pow_Tensor_Tensor,
    [OP_POW_NUMBER] = TN_SCHEMA_pow_Tensor_Scalar,
    [OP_POW_SCALAR_OUT] = TN_SCHEMA_pow_Tensor_Scalar_out,
    [OP_POW_TENSOR_OUT] = TN_SCHEMA_pow_Tensor_Tensor_out,
    [OP_RESHAPE] = TN_SCHEMA_reshape,
    [OP_RSQRT] = TN_SCHEMA_rsqrt,
    [OP_RSUB_NUMBER] = TN_SCHEMA_rsub_Scalar,
    [OP_SELECT] = TN_SCHEMA_select_int,
    [OP_SIGN] = TN_SCHEMA_sign,
    [OP_SIN] = TN_SCHEMA_sin,
    [OP_SLICE] = TN_SCHEMA_slice_Tensor,
    [OP_SPLIT] = TN_SCHEMA_split_Tensor,
    [OP_SPLIT_WITH_SIZES] = TN_SCHEMA_split_with_sizes,
    [OP_SQRT] = TN_SCHEMA_sqrt,
    [OP_SQUEEZE] = TN_SCHEMA_squeeze_dim,
    [OP_STD] = TN_SCHEMA_std_correction,
    [OP_SUB] = TN_SCHEMA_sub_Tensor,
    [OP_SUM] = TN_SCHEMA_sum_dim_IntList,
    [OP_T] = TN_SCHEMA_t,
    [OP_TRANSPOSE] = TN_SCHEMA_transpose_int,
    [OP_UNSQUEEZE] = TN_SCHEMA_unsqueeze,
    [OP_VAR] = TN_SCHEMA_var_correction,
    [OP_VECTOR_NORM] = TN_SCHEMA_linalg_vector_norm,
    [OP_VIEW] = TN_SCHEMA_view,
    [OP_VIEW_AS_REAL] = TN_SCHEMA_view_as_real,
    [OP_WHERE] = TN_SCHEMA_where_self,
    [OP_ZERO_] = TN_SCHEMA_zero_,
    [OP__LOG_SOFTMAX] = TN_SCHEMA__log_softmax,
    [OP__SOFTMAX] = TN_SCHEMA__softmax,
    [OP__TO_COPY] = TN_SCHEMA__to_copy,
    [OP__UNSAFE_VIEW] = TN_SCHEMA__unsafe_view,
};

static const composite_kernels *const families[] = {
    &composite_arrange,       &composite_casts,   &composite_complex,   &composite_factories,
    &composite_layers,        &composite_likes,   &composite_losses,    &composite_moments,
    &composite_nll,           &composite_norms,   &composite_pointwise, &composite_products,
    &composite_reshaping,     &composite_slices,  &composite_softmax,   &composite_split,
    &composite_stack,         &composite_strided, &composite_vectors,   &composite_views,
    &composite_views_inplace,
};

static tn_status start(tn_registry *r)
{
    TN_TRY(tn->import_ops(r, imports, composite_ops, OP_COUNT));
    for (size_t i = 0; i < TN_COUNT(families); i++)
        TN_TRY(tn->register_kernels(r, families[i]->list, families[i]->count));
    return TN_OK;
}

TN_PLUGIN("composite", "0.1.0", start, NULL);

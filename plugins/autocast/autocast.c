/* autocast.c - which operators are cast, and how: PyTorch's lists, by name. An operator that is not
 * listed goes through, and one that is made of others has those cast.
 *
 * In-place and out= forms of what runs in the lower precision are listed with it, because products
 * do not promote: their arguments follow what is written. The other kinds promote by themselves. */
#include "cast.h"

#include <stdio.h>

static const char *const lower[] = {"mm",    "bmm",  "addmm",  "matmul",  "linear", "mv",
                                    "addmv", "addr", "addbmm", "baddbmm", "prelu"};

static const char *const float32[] = {
    /* functions that overflow or lose digits in a half */
    "acos", "asin", "cosh", "sinh", "tan", "exp", "expm1", "log", "log10", "log1p", "log2",
    "pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow.Scalar", "reciprocal", "rsqrt", "softplus",
    /* long sums and products */
    "cumprod", "cumsum", "dist", "linalg_vector_norm", "log_softmax.int", "logsumexp",
    "norm.Scalar", "norm.ScalarOpt_dim", "prod", "prod.dim_int", "softmax.int", "sum",
    "sum.dim_IntList",
    /* normalisations */
    "batch_norm", "cosine_similarity", "group_norm", "instance_norm", "layer_norm",
    "native_batch_norm", "native_group_norm", "native_layer_norm",
    /* losses */
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss",
    "hinge_embedding_loss", "kl_div", "margin_ranking_loss", "multi_margin_loss",
    "multilabel_margin_loss", "pairwise_distance", "soft_margin_loss", "triplet_margin_loss",
    "cross_entropy_loss", "huber_loss", "l1_loss", "mse_loss", "nll_loss_forward", "nll_loss_nd",
    "smooth_l1_loss"};

static const char *const widest[] = {"addcdiv", "addcmul",     "atan2", "cat",
                                     "dot",     "scatter_add", "stack", "vdot"};

static const struct {
    const char *const *names;
    size_t n;
    bool all_forms;
} lists[CAST_POLICIES] = {
    [CAST_LOWER] = {lower, TN_COUNT(lower), true},
    [CAST_FLOAT32] = {float32, TN_COUNT(float32), false},
    [CAST_WIDEST] = {widest, TN_COUNT(widest), false},
};

static const struct {
    const char *key;
    cast_rule rules[CAST_POLICIES];
} devices[] = {
    {"AutocastCPU", {{CAST_LOWER, TN_CPU}, {CAST_FLOAT32, TN_CPU}, {CAST_WIDEST, TN_CPU}}},
    {"AutocastCUDA", {{CAST_LOWER, TN_CUDA}, {CAST_FLOAT32, TN_CUDA}, {CAST_WIDEST, TN_CUDA}}},
};

static tn_status register_op(tn_registry *r, const tn_op *op, cast_policy policy)
{
    for (size_t i = 0; i < TN_COUNT(devices); i++) {
        const tn_kernel_decl kernel = {.schema = tn->op_schema(op),
                                       .key = devices[i].key,
                                       .fn = cast_call,
                                       .data = &devices[i].rules[policy]};
        TN_TRY(tn->register_kernels(r, &kernel, 1));
    }
    return TN_OK;
}

static tn_status register_name(tn_registry *r, const char *name, cast_policy policy)
{
    static const char *const endings[] = {"", "_", ".out"};
    size_t n = lists[policy].all_forms ? TN_COUNT(endings) : 1;
    for (size_t i = 0; i < n; i++) {
        char form[64];
        snprintf(form, sizeof form, "%s%s", name, endings[i]);
        const tn_op *op = tn->op_find(form);
        if (op)
            TN_TRY(register_op(r, op, policy));
        else if (i == 0)
            return tn->fail(NULL, TN_ERR_PLUGIN, "there is no operator %s", name);
    }
    return TN_OK;
}

static tn_status start(tn_registry *r)
{
    TN_TRY(cast_import(r));
    for (int policy = 0; policy < CAST_POLICIES; policy++)
        for (size_t i = 0; i < lists[policy].n; i++)
            TN_TRY(register_name(r, lists[policy].names[i], (cast_policy)policy));
    return TN_OK;
}

TN_PLUGIN("autocast", "0.1.0", start, NULL);

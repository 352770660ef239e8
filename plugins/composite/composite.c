/* composite.c - the composite plugin: the kernels that serve every backend. It imports the
 * operators that they call and registers every family. */
#include "composite.h"

static const composite_kernels *const families[] = {
    &composite_arrange,       &composite_casts,    &composite_complex,       &composite_factories,
    &composite_layers,        &composite_likes,    &composite_losses,        &composite_moments,
    &composite_nll,           &composite_norms,    &composite_pointwise,     &composite_products,
    &composite_reshaping,     &composite_slices,   &composite_softmax,       &composite_split,
    &composite_stack,         &composite_strided,  &composite_vectors,       &composite_views,
    &composite_views_inplace, &composite_memory,   &composite_differences,   &composite_order,
    &composite_quantile,      &composite_indexing, &composite_channel_norms, &composite_activation,
    &composite_margin_losses, &composite_avg_pool, &composite_max_pool,      &composite_pads,
    &composite_pixels,
};

static tn_status start(tn_registry *r)
{
    TN_TRY(composite_import(r));
    for (size_t i = 0; i < TN_COUNT(families); i++)
        TN_TRY(tn->register_kernels(r, families[i]->list, families[i]->count));
    return TN_OK;
}

TN_PLUGIN("composite", "0.1.0", start, NULL);

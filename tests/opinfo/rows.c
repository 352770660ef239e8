/* rows.c - the one place where the families of rows are listed. */
#include "opinfo.h"

#include <string.h>

static const oi_rows *const families[] = {
    &oi_rows_unary,          &oi_rows_binary,     &oi_rows_ternary,
    &oi_rows_reduce,         &oi_rows_view,       &oi_rows_create,
    &oi_rows_copy,           &oi_rows_matrix,     &oi_rows_index,
    &oi_rows_join,           &oi_rows_activation, &oi_rows_arrange,
    &oi_rows_scatter,        &oi_rows_moment,     &oi_rows_vector,
    &oi_rows_loss,           &oi_rows_layer,      &oi_rows_memory,
    &oi_rows_channel_norm,   &oi_rows_gate,       &oi_rows_margin,
    &oi_rows_pool,           &oi_rows_pad,        &oi_rows_order,
    &oi_rows_search,         &oi_rows_quantile,   &oi_rows_unique,
    &oi_rows_indexing,       &oi_rows_masks,      &oi_rows_places,
    &oi_rows_scatter_reduce,
};

const oi_row *oi_row_at(size_t i)
{
    for (size_t k = 0; k < sizeof families / sizeof *families; k++) {
        if (i < families[k]->n)
            return &families[k]->list[i];
        i -= families[k]->n;
    }
    return NULL;
}

const oi_row *oi_row_find(const char *op)
{
    if (strncmp(op, "aten::", 6) == 0)
        op += 6;
    const oi_row *row;
    for (size_t i = 0; (row = oi_row_at(i)); i++)
        if (strcmp(row->op, op) == 0)
            return row;
    return NULL;
}

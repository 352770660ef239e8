/* cpu.c - the cpu plugin: chooses an instruction set and registers every family of kernels. */
#include "cpu.h"

#include "isa.h"

static const cpu_kernels *const families[] = {
    &cpu_copy,       &cpu_matmul,         &cpu_cat,    &cpu_index,   &cpu_gamma, &cpu_scan,
    &cpu_scatter,    &cpu_masked,         &cpu_arange, &cpu_arith,   &cpu_pow,   &cpu_clamp,
    &cpu_abs,        &cpu_activation,     &cpu_reduce, &cpu_softmax, &cpu_sort,  &cpu_select,
    &cpu_extremes,   &cpu_search,         &cpu_nansum, &cpu_unique,  &cpu_isin,  &cpu_nonzero,
    &cpu_index_list, &cpu_scatter_reduce,
};

static tn_status start(tn_registry *r)
{
    cpu_isa_start();
    TN_TRY(tn->register_kernels(r, cpu_pointwise, cpu_pointwise_count));
    for (size_t i = 0; i < TN_COUNT(families); i++)
        TN_TRY(tn->register_kernels(r, families[i]->list, families[i]->count));
    return TN_OK;
}

TN_PLUGIN("cpu", "0.1.0", start, NULL);

/* cpu.h - what the files of the cpu plugin share: the tables of kernels, one per family of
 * operators. */
#ifndef CPU_H
#define CPU_H

#include <tenon/frames.h>
#include <tenon/number.h>
#include <tenon/plugin.h>

typedef struct cpu_kernels {
    const tn_kernel_decl *list;
    size_t count;
} cpu_kernels;

/* A family is one file; its table has the file's name. */
extern const tn_kernel_decl cpu_pointwise[]; /* generated */
extern const size_t cpu_pointwise_count;
extern const cpu_kernels cpu_copy; /* copy.c: copy_, fill_, zero_ */
extern const cpu_kernels
    cpu_reduce; /* reduce.c: sum, prod, mean, max, min, any, all and their kin */
extern const cpu_kernels cpu_gamma;          /* gamma.c: digamma, polygamma */
extern const cpu_kernels cpu_softmax;        /* softmax.c: _softmax, _log_softmax */
extern const cpu_kernels cpu_matmul;         /* matmul.c: mm, bmm, addmm */
extern const cpu_kernels cpu_cat;            /* cat.c */
extern const cpu_kernels cpu_index;          /* index.c: index_select, gather, embedding */
extern const cpu_kernels cpu_scan;           /* scan.c: cumsum, cumprod */
extern const cpu_kernels cpu_scatter_reduce; /* scatter_reduce.c: scatter_reduce, index_reduce */
extern const cpu_kernels cpu_scatter;        /* scatter.c: index_add, scatter, scatter_add */
extern const cpu_kernels cpu_masked;         /* masked.c: masked_fill */
extern const cpu_kernels cpu_nonzero;        /* nonzero.c: nonzero, masked_select, masked_scatter */
extern const cpu_kernels cpu_index_list;     /* index_list.c: index, index_put and their kin */
extern const cpu_kernels cpu_arange;         /* arange.c */
extern const cpu_kernels
    cpu_arith; /* arith.c: div with a rounding mode, floor_divide, remainder, fmod */
extern const cpu_kernels cpu_pow;        /* pow.c */
extern const cpu_kernels cpu_clamp;      /* clamp.c */
extern const cpu_kernels cpu_abs;        /* abs.c */
extern const cpu_kernels cpu_activation; /* activation.c: gelu */
extern const cpu_kernels cpu_sort;       /* sort.c: sort, argsort, mode */
extern const cpu_kernels cpu_select;     /* select.c: topk, kthvalue, medians */
extern const cpu_kernels cpu_extremes;   /* extremes.c: aminmax, cummax, cummin */
extern const cpu_kernels cpu_search;     /* search.c: searchsorted, bucketize */
extern const cpu_kernels cpu_nansum;     /* nansum.c */
extern const cpu_kernels cpu_unique;     /* unique.c: _unique2, unique_consecutive */
extern const cpu_kernels cpu_isin;       /* isin.c */

/* elements.c: out[i] = in[i], broadcast to out's shape and cast to its dtype. */
tn_status cpu_copy_elements(tn_call *call, tn_tensor *out, tn_tensor *in);
/* Of operators that do not cast their result: an out= tensor of another dtype is an error. */
tn_status cpu_check_dtype(tn_call *call, const tn_tensor *out, tn_dtype dtype);
/* t is in this backend's memory: plain kernels ask, structured ones are called only then. */
tn_status cpu_check_here(tn_call *call, const tn_tensor *t, const char *name);
/* *t becomes a row-major copy of itself, which *copy holds, too. */
tn_status cpu_copy_of(tn_call *call, tn_tensor **t, tn_tensor **copy);
/* The same only where *t shares memory with a result that is about to be written. */
tn_status cpu_apart(tn_call *call, const tn_tensor *result, tn_tensor **t, tn_tensor **copy);
/* masked.c: a number as an element of this dtype, or an error where it does not fit. */
tn_status cpu_fill_value(tn_call *call, const tn_scalar *value, tn_dtype dtype, tn_number *out);
/* index.c: every index is in low .. limit - 1; errors name the argument and whose limit it is. */
tn_status cpu_check_range(tn_call *call, const tn_tensor *index, const char *name, int64_t low,
                          int64_t limit, const char *of);
/* The same with low = 0. */
tn_status cpu_check_indices(tn_call *call, const tn_tensor *index, const char *name, int64_t limit,
                            const char *of);

#endif

/* shape.h - the named shape rules of native_functions.yaml: `shape: mm(self, mat2)` is a call of
 * tn__shape_mm.
 *
 * A rule checks its arguments and fills one tn_result per result of the operator: shape, dtype,
 * device. It reads no data, so what it says holds on every backend. A new rule is a function here;
 * the generator writes the calls. */
#ifndef TN_CORE_SHAPE_H
#define TN_CORE_SHAPE_H

#include "core/iter/iter.h"

/* ---- helpers of the rules (common.c) --------------------------------------------------------- */
/* dim in [-ndim, ndim) to [0, ndim); a 0-dim tensor takes -1 and 0. An error names the allowed
 * range. */
tn_status tn__wrap_dim(tn_call *call, int64_t dim, int64_t ndim, int64_t *out);
void tn__result_like(const tn_tensor *t, tn_dtype dtype, tn_result *r);
/* The set of reduced dimensions as bits; an absent or empty list is all of them (PyTorch's rule for
 * every reduction). */
tn_status tn__reduced_dims(tn_call *call, const tn_tensor *self, tn_ints dims, uint64_t *mask);
void tn__result_reduced(const tn_tensor *self, uint64_t mask, bool keepdim, tn_dtype dtype,
                        tn_result *r);
tn_status tn__same_device(tn_call *call, const tn_tensor *a, const tn_tensor *b, const char *name);

/* ---- pointwise-like (elementwise.c) ---------------------------------------------------------- */
tn_status tn__shape_abs(tn_call *call, tn_tensor *self,
                        tn_result *r); /* complex gives its real dtype */
tn_status tn__shape_div_mode(tn_call *call, tn_tensor *self, tn_tensor *other,
                             const char *rounding_mode, tn_result *r);
tn_status tn__shape_masked_fill(tn_call *call, tn_tensor *self, tn_tensor *mask, tn_result *r);

/* ---- reductions (reduce.c). dtype: asked for, or TN_DTYPE_NONE ------------------------------- */
tn_status tn__shape_sum_all(tn_call *call, tn_tensor *self, tn_dtype dtype,
                            tn_result *r); /* integers to i64 */
tn_status tn__shape_sum_dims(tn_call *call, tn_tensor *self, tn_ints dim, bool keepdim,
                             tn_dtype dtype, tn_result *r);
tn_status tn__shape_prod_dim(tn_call *call, tn_tensor *self, int64_t dim, bool keepdim,
                             tn_dtype dtype, tn_result *r);
tn_status tn__shape_mean_all(tn_call *call, tn_tensor *self, tn_dtype dtype,
                             tn_result *r); /* floating, complex */
tn_status tn__shape_mean_dims(tn_call *call, tn_tensor *self, tn_ints dim, bool keepdim,
                              tn_dtype dtype, tn_result *r);
tn_status tn__shape_extreme_all(tn_call *call, tn_tensor *self,
                                tn_result *r); /* error when empty, as below */
tn_status tn__shape_extreme_dims(tn_call *call, tn_tensor *self, tn_ints dim, bool keepdim,
                                 tn_result *r);
tn_status tn__shape_extreme_dim(tn_call *call, tn_tensor *self, int64_t dim, bool keepdim,
                                tn_result *r); /* values, indices */
tn_status tn__shape_index_dim(tn_call *call, tn_tensor *self, tn_opt_int dim, bool keepdim,
                              tn_result *r);                                 /* i64 */
tn_status tn__shape_truth_all(tn_call *call, tn_tensor *self, tn_result *r); /* bool; u8 stays u8 */
tn_status tn__shape_truth_dim(tn_call *call, tn_tensor *self, int64_t dim, bool keepdim,
                              tn_result *r);
tn_status tn__shape_softmax(tn_call *call, tn_tensor *self, int64_t dim, bool half_to_float,
                            tn_result *r);

/* ---- matrix products (matrix.c) -------------------------------------------------------------- */
tn_status tn__shape_mm(tn_call *call, tn_tensor *self, tn_tensor *mat2, tn_result *r);
tn_status tn__shape_bmm(tn_call *call, tn_tensor *self, tn_tensor *mat2, tn_result *r);
tn_status tn__shape_addmm(tn_call *call, tn_tensor *self, tn_tensor *mat1, tn_tensor *mat2,
                          tn_result *r);

/* ---- joining and indexing (index.c) ---------------------------------------------------------- */
tn_status tn__shape_cat(tn_call *call, tn_tensors tensors, int64_t dim, tn_result *r);
tn_status tn__shape_index_select(tn_call *call, tn_tensor *self, int64_t dim, tn_tensor *index,
                                 tn_result *r);
tn_status tn__shape_gather(tn_call *call, tn_tensor *self, int64_t dim, tn_tensor *index,
                           tn_result *r);
tn_status tn__shape_embedding(tn_call *call, tn_tensor *weight, tn_tensor *indices, tn_result *r);

/* ---- writing by index, running along a dim (scatter.c) --------------------------------------- */
tn_status tn__shape_like(tn_call *call, tn_tensor *self, tn_result *r);
tn_status tn__shape_cumulative(tn_call *call, tn_tensor *self, int64_t dim, tn_dtype dtype,
                               tn_result *r); /* integers to i64 */
tn_status tn__shape_index_add(tn_call *call, tn_tensor *self, int64_t dim, tn_tensor *index,
                              tn_tensor *source, tn_result *r);
tn_status tn__shape_scatter_value(tn_call *call, tn_tensor *self, int64_t dim, tn_tensor *index,
                                  tn_result *r);
tn_status tn__shape_scatter(tn_call *call, tn_tensor *self, int64_t dim, tn_tensor *index,
                            tn_tensor *src, tn_result *r);

/* ---- lists of indices, masks, places (index_list.c) ------------------------------------------ */
tn_status tn__shape_index_put(tn_call *call, tn_tensor *self, tn_tensors indices, tn_tensor *values,
                              bool accumulate, tn_result *r);
tn_status tn__shape_index_copy(tn_call *call, tn_tensor *self, int64_t dim, tn_tensor *index,
                               tn_tensor *source, tn_result *r);
tn_status tn__shape_index_fill(tn_call *call, tn_tensor *self, int64_t dim, tn_tensor *index,
                               tn_result *r);
tn_status tn__shape_index_fill_tensor(tn_call *call, tn_tensor *self, int64_t dim, tn_tensor *index,
                                      tn_tensor *value, tn_result *r);
tn_status tn__shape_masked_scatter(tn_call *call, tn_tensor *self, tn_tensor *mask,
                                   tn_tensor *source, tn_result *r);
tn_status tn__shape_take(tn_call *call, tn_tensor *self, tn_tensor *index, tn_result *r);
tn_status tn__shape_put(tn_call *call, tn_tensor *self, tn_tensor *index, tn_tensor *source,
                        tn_result *r);
tn_status tn__shape_scatter_reduce(tn_call *call, tn_tensor *self, int64_t dim, tn_tensor *index,
                                   tn_tensor *src, const char *reduce, tn_result *r);
tn_status tn__shape_scatter_combine(tn_call *call, tn_tensor *self, int64_t dim, tn_tensor *index,
                                    tn_tensor *src, const char *reduce, tn_result *r);
tn_status tn__shape_scatter_combine_value(tn_call *call, tn_tensor *self, int64_t dim,
                                          tn_tensor *index, const char *reduce, tn_result *r);
tn_status tn__shape_index_reduce(tn_call *call, tn_tensor *self, int64_t dim, tn_tensor *index,
                                 tn_tensor *source, const char *reduce, tn_result *r);

/* ---- sorting, ranking, searching (order.c) --------------------------------------------------- */
tn_status tn__shape_order(tn_call *call, tn_tensor *self, int64_t dim, tn_result *r);   /* places */
tn_status tn__shape_ordered(tn_call *call, tn_tensor *self, int64_t dim, tn_result *r); /* both */
tn_status tn__shape_topk(tn_call *call, tn_tensor *self, int64_t k, int64_t dim, tn_result *r);
tn_status tn__shape_kthvalue(tn_call *call, tn_tensor *self, int64_t k, int64_t dim, bool keepdim,
                             tn_result *r);
tn_status tn__shape_median(tn_call *call, tn_tensor *self, tn_result *r);
tn_status tn__shape_both_extremes(tn_call *call, tn_tensor *self, tn_opt_int dim, bool keepdim,
                                  tn_result *r);
tn_status tn__shape_searchsorted(tn_call *call, tn_tensor *sorted_sequence, tn_tensor *self,
                                 bool out_int32, bool right, const char *side, tn_tensor *sorter,
                                 tn_result *r);
tn_status tn__shape_isin(tn_call *call, tn_tensor *elements, tn_tensor *test_elements,
                         tn_result *r);
tn_status tn__shape_bucketize(tn_call *call, tn_tensor *self, tn_tensor *boundaries, bool out_int32,
                              tn_result *r);

#endif

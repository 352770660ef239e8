/* composite.h - what the files of the composite plugin share: the tables of kernels, one per
 * family, the operators that kernels call, and arithmetic on shapes.
 *
 * A kernel here never touches an element. It makes views and allocations through `tn`, and where
 * elements must move it calls an operator, which the dispatcher sends to the backend of the tensors
 * at hand. */
#ifndef COMPOSITE_H
#define COMPOSITE_H

#include <tenon/frames.h>
#include <tenon/plugin.h>

#include "composite_work.h" /* the operators that kernels call, generated from calls.yaml */

typedef struct composite_kernels {
    const tn_kernel_decl *list;
    size_t count;
} composite_kernels;

/* A family is one file; its table has the file's name. */
extern const composite_kernels composite_activation;
extern const composite_kernels composite_arrange;
extern const composite_kernels composite_avg_pool;
extern const composite_kernels composite_casts;
extern const composite_kernels composite_channel_norms;
extern const composite_kernels composite_complex;
extern const composite_kernels composite_differences;
extern const composite_kernels composite_factories;
extern const composite_kernels composite_indexing;
extern const composite_kernels composite_layers;
extern const composite_kernels composite_likes;
extern const composite_kernels composite_losses;
extern const composite_kernels composite_margin_losses;
extern const composite_kernels composite_max_pool;
extern const composite_kernels composite_memory;
extern const composite_kernels composite_moments;
extern const composite_kernels composite_nll;
extern const composite_kernels composite_norms;
extern const composite_kernels composite_order;
extern const composite_kernels composite_pads;
extern const composite_kernels composite_pixels;
extern const composite_kernels composite_pointwise;
extern const composite_kernels composite_products;
extern const composite_kernels composite_quantile;
extern const composite_kernels composite_reshaping;
extern const composite_kernels composite_slices;
extern const composite_kernels composite_softmax;
extern const composite_kernels composite_split;
extern const composite_kernels composite_stack;
extern const composite_kernels composite_strided;
extern const composite_kernels composite_vectors;
extern const composite_kernels composite_views;
extern const composite_kernels composite_views_inplace;

#define EXPLICIT "CompositeExplicitAutograd"
#define IMPLICIT "CompositeImplicitAutograd"

/* The view where the strides allow it, else a row-major copy (reshaping.c). Sizes are not
 * negative. */
tn_status composite_reshape(tn_call *call, tn_tensor *self, tn_ints size, tn_tensor **out);

static inline tn_status composite_return_self(tn_tensor *self, tn_tensor **out)
{
    tn->tensor_retain(self);
    *out = self;
    return TN_OK;
}

static inline tn_status composite_alias(tn_call *call, tn_tensor *self, tn_tensor **out)
{
    return tn->tensor_view(call, self, self->ndim, self->sizes, self->strides,
                           tn->tensor_offset(self), self->dtype, out);
}

/* ---- shapes (shape.c) ------------------------------------------------------------------------ */
/* The geometry of a view in the making. Only the first ndim entries are set. */
typedef struct composite_geometry {
    int64_t ndim;
    int64_t offset; /* elements */
    int64_t sizes[TN_MAX_DIMS];
    int64_t strides[TN_MAX_DIMS]; /* elements */
} composite_geometry;

static inline tn_status composite_view_of(tn_call *call, tn_tensor *self,
                                          const composite_geometry *g, tn_tensor **out)
{
    return tn->tensor_view(call, self, g->ndim, g->sizes, g->strides, g->offset, self->dtype, out);
}

void composite_geometry_of(const tn_tensor *self, composite_geometry *g);
/* With dimensions d0 and d1 exchanged; a tensor of 0 dimensions has none to exchange. */
static inline void composite_geometry_swap(const tn_tensor *self, int64_t d0, int64_t d1,
                                           composite_geometry *g)
{
    if (self->ndim == 0)
        return;
    g->sizes[d0] = self->sizes[d1];
    g->sizes[d1] = self->sizes[d0];
    g->strides[d0] = self->strides[d1];
    g->strides[d1] = self->strides[d0];
}
/* Without the dimensions that have size 1 and whose bit is set in `drop`. */
void composite_geometry_squeeze(const tn_tensor *self, uint64_t drop, composite_geometry *g);
/* With a dimension of size 1 at `at`; self has fewer than TN_MAX_DIMS. */
void composite_geometry_insert(const tn_tensor *self, int64_t at, composite_geometry *g);

TN_COLD tn_status composite_bad_dim(tn_call *call, const char *name, int64_t dim, int64_t ndim);

/* dim in [-ndim, ndim) to [0, ndim); for 0 dimensions as for 1. `name` is the argument's. */
static inline tn_status composite_wrap_dim(tn_call *call, const char *name, int64_t dim,
                                           int64_t ndim, int64_t *out)
{
    int64_t n = ndim ? ndim : 1;
    *out = dim < 0 ? dim + n : dim;
    return dim >= -n && dim < n ? TN_OK : composite_bad_dim(call, name, dim, ndim);
}

/* A list of `len` sizes fits in the arrays of TN_MAX_DIMS. */
tn_status composite_check_rank(tn_call *call, int64_t len);

/* Every element of a Tensor[] is there. */
tn_status composite_check_list(tn_call *call, const char *name, tn_tensors list);

/* Row-major strides and the element count; an error for a negative size and for an overflow. */
tn_status composite_row_major(tn_call *call, tn_ints size, int64_t *strides, int64_t *numel);

/* `size` with its one -1, if any, replaced so that the product is numel. */
tn_status composite_infer_size(tn_call *call, tn_ints size, const tn_tensor *self, int64_t *out);

/* Strides by which self's elements, in order, have the shape `size`; false if only a copy can. */
bool composite_view_strides(const tn_tensor *self, tn_ints size, int64_t *strides);

/* Joins `shape` into `sizes` (right-aligned) by the broadcasting rule. sizes has room for
 * TN_MAX_DIMS. */
tn_status composite_broadcast(tn_call *call, tn_ints shape, int64_t *sizes, int64_t *ndim);

enum { COMPOSITE_SHAPE_CHARS = 160 };
/* "[2, 3]", for messages; a long one ends in dots. Returns buf. */
const char *composite_shape_text(char buf[COMPOSITE_SHAPE_CHARS], int64_t ndim,
                                 const int64_t *sizes);

static inline tn_ints composite_sizes(const tn_tensor *t)
{
    return (tn_ints){t->sizes, t->ndim};
}

/* ---- memory formats and factory options (format.c) ------------------------------------------- */
bool composite_has_format(const tn_tensor *self, tn_memory_format format);

/* An uninitialised tensor of that shape. `like` gives the memory order for TN_PRESERVE (NULL:
 * row-major). */
tn_status composite_new(tn_call *call, tn_ints size, tn_memory_format format, const tn_tensor *like,
                        tn_dtype dtype, tn_device device, tn_tensor **out);

/* Layouts other than strided, and pinned memory, are refused. */
tn_status composite_check_options(tn_call *call, tn_layout layout, tn_opt_bool pin_memory);

static inline tn_device composite_device_or(tn_device asked, tn_device otherwise)
{
    return asked.type == TN_DEVICE_NONE ? otherwise : asked;
}

/* The dtype that a number alone has as a tensor. */
tn_dtype composite_dtype_of_number(const tn_scalar *s);

/* Fills a fresh tensor; on failure it is released and *out is NULL. */
tn_status composite_filled(tn_call *call, tn_tensor *fresh, const tn_scalar *value,
                           tn_tensor **out);

#endif

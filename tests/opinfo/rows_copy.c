/* rows_copy.c - copies, casts and fills. A cast is the reference's own rounding; floats go to
 * integers within their range only, since what lies outside is not defined. */
#include "rows_impl.h"

#include <string.h>

enum { COPY_, CLONE, CAST, TO_OTHER, CONTIGUOUS, FILL, ZERO };

static oi_num value_of(const oi_row *row, const oi_sample *s, tn_dtype d)
{
    const oi_arg *v = oi_find(s, "value");
    if (row->kind == ZERO)
        return oi_cast(oi_int(0), TN_I64, d);
    return v->kind == TN_FIELD_TENSOR ? oi_cast(v->tensors->a.v[0], v->tensors->a.dtype, d)
                                      : oi_from_scalar(&v->scalar, d);
}

static int reference(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *self = oi_input(s, "self"), *src = oi_input(s, "src"),
                   *other = oi_input(s, "other");
    int64_t coords[OI_DIMS];
    tn_dtype d = other ? other->dtype : (tn_dtype)oi_get_int(s, "dtype", self->dtype);
    results[0] = oi_array_cast(self, d);
    for (int64_t i = 0; i < self->numel && row->kind >= FILL; i++)
        results[0].v[i] = value_of(row, s, d);
    for (int64_t i = 0; i < self->numel && src; i++) {
        oi_coords(self, i, coords);
        results[0].v[i] =
            oi_cast(src->v[oi_broadcast_index(src, self->ndim, coords)], src->dtype, d);
    }
    return 1;
}

static const struct {
    const char *what;
    int ndim;
    int64_t sizes[3];
    oi_layout layout, from;
} shapes[] = {
    {"row-major", 2, {3, 5}, OI_ROW, OI_ROW},
    {"0-dim", 0, {0}, OI_ROW, OI_ROW},
    {"no elements", 2, {0, 3}, OI_ROW, OI_ROW},
    {"an odd length", 1, {131}, OI_SHIFTED, OI_SHIFTED},
    {"transposed", 2, {4, 6}, OI_TRANSPOSED, OI_ROW},
    {"to row-major", 2, {4, 6}, OI_ROW, OI_TRANSPOSED},
    {"gaps", 3, {3, 4, 5}, OI_GAPPED, OI_GAPPED},
    {"a stride over 2 GiB", 2, {2, 5}, OI_HUGE, OI_HUGE},
};

static tn_dtype other_dtype(tn_dtype d, int k)
{
    static const tn_dtype to[] = {TN_F32, TN_I64, TN_F16, TN_C128, TN_BOOL, TN_U8, TN_BF16, TN_F64};
    tn_dtype t = to[k % 8];
    return oi_is_complex(d) && !oi_is_complex(t) ? TN_C64 : t;
}

static void add_arguments(const oi_row *row, oi_sample *s, oi_rng *r, tn_dtype d, int k, bool large)
{
    const oi_array *self = oi_input(s, "self");
    tn_dtype to = k % 3 == 0 ? d : other_dtype(d, k);
    if (row->kind == COPY_) {
        tn_dtype from = oi_is_complex(to) && !oi_is_complex(d) ? TN_F32 : to;
        bool row_only = k % 3 == 1 && self->ndim > 1;
        oi_array a = oi_values(row, r, from, self->ndim - row_only, self->sizes + row_only);
        oi_arg_tensor(s, "src", a, large || row_only ? OI_ROW : shapes[k].from);
    } else if (row->kind == CAST) {
        oi_arg_int(s, "dtype", TN_FIELD_DTYPE, to);
        s->may_copy = to != d;
        if (strcmp(row->op, "to.device") == 0)
            oi_arg_int(s, "device", TN_FIELD_DEVICE, 0);
    } else if (row->kind == TO_OTHER) {
        oi_arg_tensor(s, "other", oi_array_new(to, OI_SIZES(2)), OI_ROW);
        s->may_copy = to != d;
    } else if (row->kind == CONTIGUOUS) {
        s->may_copy = s->args[0].tensors->layout != OI_ROW &&
                      s->args[0].tensors->layout != OI_SHIFTED;
    } else if (row->kind == FILL && row->data) {
        oi_array a = oi_array_new(d, 0, NULL);
        a.v[0] = oi_cast(oi_int(1), TN_I64, d);
        oi_arg_tensor(s, "value", a, OI_ROW);
    } else if (row->kind == FILL) {
        oi_arg_scalar(s, "value",
                      oi_is_complex(d)    ? tn_scalar_complex(0.5, -1)
                      : oi_is_floating(d) ? tn_scalar_float(0.1)
                                          : tn_scalar_int(3));
    }
}

static oi_sample *add(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed,
                      const char *what, int ndim, const int64_t *sizes, oi_layout layout, int k,
                      bool large)
{
    oi_sample *s = oi_sample_new(out, what);
    oi_rng r = oi_rng_make(seed, row->op, d, s->number);
    oi_arg_tensor(s, "self", oi_values(row, &r, d, ndim, sizes), layout);
    add_arguments(row, s, &r, d, k, large);
    return s;
}

static void samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    for (int k = 0; k < (int)(sizeof shapes / sizeof *shapes); k++)
        add(row, out, d, seed, shapes[k].what, shapes[k].ndim, shapes[k].sizes, shapes[k].layout, k,
            false);
    add(row, out, d, seed, "large", OI_SIZES(41, 501), OI_GAPPED, 0, true)->large = true;
    if (row->kind == COPY_) {
        oi_sample *s = oi_sample_new(out, "a source that does not broadcast");
        oi_arg_tensor(s, "self", oi_array_new(d, OI_SIZES(3)), OI_ROW);
        oi_arg_tensor(s, "src", oi_array_new(d, OI_SIZES(4)), OI_ROW);
        s->error = true;
        s = oi_sample_new(out, "self overlaps itself");
        oi_arg_tensor(s, "self", oi_array_new(d, OI_SIZES(3, 2)), OI_EXPANDED);
        oi_arg_tensor(s, "src", oi_array_new(d, OI_SIZES(3, 2)), OI_ROW);
        s->error = true;
    }
}

#define COPYING(name, which, data_)                                                                \
    {                                                                                              \
        .op = name, .dtypes = ALL, .tolerance = "exact", .kind = which, .lo = 0, .hi = 9,          \
        .data = data_, .samples = samples, .reference = reference                                  \
    }

static const oi_row rows[] = {
    COPYING("copy_", COPY_, NULL),       COPYING("clone", CLONE, NULL),
    COPYING("_to_copy", CAST, NULL),     COPYING("to.dtype_layout", CAST, NULL),
    COPYING("to.device", CAST, NULL),    COPYING("to.dtype", CAST, NULL),
    COPYING("to.other", TO_OTHER, NULL), COPYING("contiguous", CONTIGUOUS, NULL),
    COPYING("fill_.Scalar", FILL, NULL), COPYING("fill_.Tensor", FILL, "tensor"),
    COPYING("zero_", ZERO, NULL),
};
const oi_rows oi_rows_copy = ROWS(rows);

/* unique.c - _unique2 and unique_consecutive: the distinct elements (or slices), how often each
 * occurs, and which one stands at each place. Equal is what compares equal: -0.0 and 0.0 are, a NaN
 * is to nothing. Results are as long as the data say, so the kernels make them. */
#include <string.h>

#include "order.h"

typedef struct answer {
    tn_tensor *values, *inverse, *counts;
} answer;

static void drop(answer *a)
{
    tn->tensor_release(a->values);
    tn->tensor_release(a->inverse);
    tn->tensor_release(a->counts);
    *a = (answer){NULL, NULL, NULL};
}

static tn_status check_ordered(tn_call *call, const tn_tensor *self)
{
    if (order_loops_for(self->dtype)->bits)
        return TN_OK;
    return tn->fail(call, TN_ERR_UNSUPPORTED, "%s numbers have no order",
                    tn->dtype_name(self->dtype));
}

/* Row-major: t itself, or a copy. */
static tn_status dense(tn_call *call, tn_tensor *t, tn_tensor **out)
{
    if (t->flags & TN_TENSOR_CONTIGUOUS) {
        tn->tensor_retain(*out = t);
        return TN_OK;
    }
    TN_TRY(tn->tensor_new(call, t->ndim, t->sizes, t->dtype, t->device, out));
    return cpu_copy_elements(call, *out, t);
}

/* int64, of that shape where it is wanted, else of no elements. */
static tn_status places(tn_call *call, bool wanted, int64_t ndim, const int64_t *sizes,
                        tn_device device, tn_tensor **out)
{
    const int64_t none = 0;
    return tn->tensor_new(call, wanted ? ndim : 1, wanted ? sizes : &none, TN_I64, device, out);
}

/* ---- _unique2: runs of a sorted row ---------------------------------------------------------- */
static bool begins(const order_desk *desk, int64_t i, uint64_t nan)
{
    if (i == 0)
        return true;
    uint64_t key = order_item(desk, i).key;
    return key != order_item(desk, i - 1).key || (desk->floating && key == nan);
}

static void write_runs(const order_desk *desk, const tn_tensor *row, const answer *a)
{
    uint64_t nan = ~UINT64_C(0) >> (64 - desk->loops->bits);
    size_t bytes = (size_t)desk->loops->bits / 8;
    int64_t *inverse = a->inverse->numel ? a->inverse->data : NULL;
    int64_t *counts = a->counts->numel ? a->counts->data : NULL;
    for (int64_t i = 0, k = -1; i < row->numel; i++) {
        size_t place = (size_t)order_item(desk, i).place;
        if (begins(desk, i, nan)) {
            k++;
            memcpy((char *)a->values->data + (size_t)k * bytes,
                   (const char *)row->data + place * bytes, bytes);
            if (counts)
                counts[k] = 0;
        }
        if (counts)
            counts[k]++;
        if (inverse)
            inverse[place] = k;
    }
}

static tn_status runs(tn_call *call, const tn_tensor *row, bool inverse, bool counts, answer *a)
{
    int64_t n = row->numel, distinct = 0;
    order_desk desk;
    order_row whole = {row->data, n, (int64_t)tn->dtype_size(row->dtype), {NULL, NULL}, {0, 0}};
    TN_TRY(order_desk_new(call, row->dtype, n, n, &desk));
    if (n > 0) {
        order_fill(&desk, &whole, false);
        order_sort(&desk, n);
    }
    for (int64_t i = 0; i < n; i++)
        distinct += begins(&desk, i, ~UINT64_C(0) >> (64 - desk.loops->bits));
    TN_TRY(tn->tensor_new(call, 1, &distinct, row->dtype, row->device, &a->values));
    TN_TRY(places(call, inverse, row->ndim, row->sizes, row->device, &a->inverse));
    TN_TRY(places(call, counts, 1, &distinct, row->device, &a->counts));
    write_runs(&desk, row, a);
    return TN_OK;
}

/* Sorted whether that was asked for or not; and, as in ATen, who asks for counts gets the inverse
 * too. */
static tn_status unique2(tn_call *call, struct tn__unique2_args *args)
{
    answer a = {NULL, NULL, NULL};
    tn_tensor *row = NULL;
    TN_TRY(check_ordered(call, args->self));
    tn_status status = dense(call, args->self, &row);
    if (status == TN_OK)
        status =
            runs(call, row, args->return_inverse || args->return_counts, args->return_counts, &a);
    tn->tensor_release(row);
    if (status != TN_OK) {
        drop(&a);
        return status;
    }
    args->result0 = a.values;
    args->result1 = a.inverse;
    args->result2 = a.counts;
    return TN_OK;
}

/* ---- unique_consecutive: slices beside each other -------------------------------------------- */
typedef struct slices {
    const order_loops *loops;
    bool floating;
    const char *at;
    int64_t n, elements; /* slices, elements of one */
} slices;

enum { STRETCH = 64 };

static bool differ(const slices *s, int64_t i, int64_t j)
{
    order_wide a[STRETCH], b[STRETCH];
    int64_t bytes = s->loops->bits / 8;
    uint64_t nan = ~UINT64_C(0) >> (64 - s->loops->bits);
    order_span x = {s->at + i * s->elements * bytes, bytes, s->elements, 0, 0}, y = x;
    y.in = s->at + j * s->elements * bytes;
    for (int64_t at = 0; at < s->elements; at += STRETCH) {
        int64_t end = s->elements - at < STRETCH ? s->elements : at + STRETCH;
        s->loops->wide(a, &x, at, end);
        s->loops->wide(b, &y, at, end);
        for (int64_t k = 0; k < end - at; k++)
            if (a[k].key != b[k].key || (s->floating && a[k].key == nan))
                return true;
    }
    return false;
}

static int64_t count_distinct(const slices *s)
{
    int64_t n = 0;
    for (int64_t i = 0; i < s->n; i++)
        n += i == 0 || differ(s, i - 1, i);
    return n;
}

static void write_distinct(const slices *s, const answer *a)
{
    size_t bytes = (size_t)s->elements * (size_t)s->loops->bits / 8;
    int64_t *inverse = a->inverse->numel ? a->inverse->data : NULL;
    int64_t *counts = a->counts->numel ? a->counts->data : NULL;
    for (int64_t i = 0, k = -1; i < s->n; i++) {
        if (i == 0 || differ(s, i - 1, i)) {
            k++;
            memcpy((char *)a->values->data + (size_t)k * bytes, s->at + (size_t)i * bytes, bytes);
            if (counts)
                counts[k] = 0;
        }
        if (counts)
            counts[k]++;
        if (inverse)
            inverse[i] = k;
    }
}

/* t with dimension `dim` in front, or back from there: a view. */
static tn_status moved(tn_call *call, tn_tensor *t, int64_t dim, bool back, tn_tensor **out)
{
    uint8_t dims[TN_MAX_DIMS];
    for (int64_t d = 0; d < t->ndim; d++)
        dims[d] = (uint8_t)(back ? (d < dim    ? d + 1
                                    : d == dim ? 0
                                               : d)
                                 : (d == 0     ? dim
                                    : d <= dim ? d - 1
                                               : d));
    return tn->tensor_permuted(call, t, dims, out);
}

/* The values, slices first, as the result has them. */
static tn_status put_back(tn_call *call, int64_t dim, answer *a)
{
    tn_tensor *view = NULL, *result = NULL;
    if (dim <= 0)
        return TN_OK;
    tn_status status = moved(call, a->values, dim, true, &view);
    if (status == TN_OK)
        status = tn->tensor_new(call, view->ndim, view->sizes, view->dtype, view->device, &result);
    if (status == TN_OK)
        status = cpu_copy_elements(call, result, view);
    tn->tensor_release(view);
    if (status == TN_OK) {
        tn->tensor_release(a->values);
        a->values = result;
    } else {
        tn->tensor_release(result);
    }
    return status;
}

/* `packed`: row-major, slices first; dim -1: every element by itself. */
static tn_status consecutive(tn_call *call, const tn_tensor *packed, int64_t dim, bool inverse,
                             bool counts, answer *a)
{
    int64_t n = dim < 0 ? packed->numel : packed->sizes[0], sizes[TN_MAX_DIMS] = {0};
    slices s = {order_loops_for(packed->dtype), tn_dtype_in(packed->dtype, TN_DTYPES_FLOATING),
                packed->data, n, dim < 0 || n == 0 ? 1 : packed->numel / n};
    int64_t distinct = packed->numel ? count_distinct(&s) : 0;
    int64_t ndim = dim < 0 ? 1 : packed->ndim;
    for (int64_t d = 1; d < ndim; d++)
        sizes[d] = packed->sizes[d];
    sizes[0] = distinct;
    TN_TRY(tn->tensor_new(call, ndim, sizes, packed->dtype, packed->device, &a->values));
    TN_TRY(places(call, inverse, dim < 0 ? packed->ndim : 1, packed->sizes, packed->device,
                  &a->inverse));
    TN_TRY(places(call, counts, 1, &distinct, packed->device, &a->counts));
    if (packed->numel)
        write_distinct(&s, a);
    return put_back(call, dim, a);
}

static tn_status check_dim(tn_call *call, const tn_tensor *self, int64_t *dim)
{
    int64_t n = self->ndim;
    if (n == 0)
        return tn->fail(call, TN_ERR_INDEX, "dim is %lld, but self has no dimensions",
                        (long long)*dim);
    if (*dim < -n || *dim >= n)
        return tn->fail(call, TN_ERR_INDEX,
                        "dim %lld is out of range [%lld, %lld] for a tensor of %lld dimensions",
                        (long long)*dim, (long long)-n, (long long)(n - 1), (long long)n);
    *dim += *dim < 0 ? n : 0;
    if (self->numel == 0 && self->sizes[*dim] != 0)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "slices along dim %lld have no elements that could be compared",
                        (long long)*dim);
    return TN_OK;
}

static tn_status unique_consecutive(tn_call *call, struct tn_unique_consecutive_args *args)
{
    answer a = {NULL, NULL, NULL};
    tn_tensor *view = NULL, *packed = NULL;
    int64_t dim = args->dim.value;
    TN_TRY(check_ordered(call, args->self));
    if (args->dim.has)
        TN_TRY(check_dim(call, args->self, &dim));
    else
        dim = -1;
    tn_status status = moved(call, args->self, dim < 0 ? 0 : dim, false, &view);
    if (status == TN_OK)
        status = dense(call, view, &packed);
    if (status == TN_OK)
        status = consecutive(call, packed, dim, args->return_inverse, args->return_counts, &a);
    tn->tensor_release(packed);
    tn->tensor_release(view);
    if (status != TN_OK) {
        drop(&a);
        return status;
    }
    args->result0 = a.values;
    args->result1 = a.inverse;
    args->result2 = a.counts;
    return TN_OK;
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL_DTYPES(_unique2, "CPU", unique2, TN_DTYPES_WHOLE | TN_DTYPES_FLOATING),
    TN_KERNEL_DTYPES(unique_consecutive, "CPU", unique_consecutive,
                     TN_DTYPES_WHOLE | TN_DTYPES_FLOATING),
};
const cpu_kernels cpu_unique = {kernels, TN_COUNT(kernels)};

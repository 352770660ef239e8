/* Making, viewing, resizing: limits, errors that leave nothing behind, and flags against a
 * brute-force oracle. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/tensor.h>

#include "core/base/base.h"
#include "core/tensor/tensor_impl.h"

/* Of the address sanitizer: an allocation that is too large is an error here, no reason to
 * abort. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static tn__memory_stats at_start;

static void begin(void)
{
    tn_tensor *t = NULL; /* so that what a thread sets up once is not counted */
    cr_assert_eq(tn_tensor_new(0, NULL, TN_F32, (tn_device){TN_CPU, 0}, &t), TN_OK);
    tn_release(t);
    tn__memory_get(&at_start);
}

static void end(void)
{
    tn__memory_stats now;
    tn__memory_get(&now);
    cr_assert_eq(now.live_blocks, at_start.live_blocks, "blocks leak");
    cr_assert_eq(now.live_allocations, at_start.live_allocations, "allocations leak");
}

TestSuite(tensor_core, .init = begin, .fini = end, .timeout = 60);

static const tn_device cpu = {TN_CPU, 0}, meta = {TN_META, 0};

#define DIMS(...) ((int64_t[]){__VA_ARGS__})
#define BIG(n) (INT64_C(1) << (n))

static tn_tensor *made(int64_t ndim, const int64_t *sizes, tn_dtype dtype, tn_device device)
{
    tn_tensor *t = NULL;
    cr_assert_eq(tn_tensor_new(ndim, sizes, dtype, device, &t), TN_OK, "%s",
                 tn_error_last()->message);
    return t;
}

static void refused(int line, tn_status got, tn_status status, const char *text)
{
    cr_assert_eq(got, status, "line %d: %s: %s", line, tn_status_name(got),
                 tn_error_last()->message);
    cr_assert(strstr(tn_error_last()->message, text), "line %d: '%s' is not in: %s", line, text,
              tn_error_last()->message);
}
#define REFUSED(call, status, text) refused(__LINE__, call, status, text)

Test(tensor_core, sizes_that_cannot_be)
{
    tn_tensor *t = NULL;
    for (int i = 0; i < 2; i++) {
        tn_device d = i ? meta : cpu;
        REFUSED(tn_tensor_new(2, DIMS(BIG(32), BIG(31)), TN_U8, d, &t), TN_ERR_OVERFLOW,
                "overflow");
        REFUSED(tn_tensor_new(1, DIMS(BIG(60)), TN_F64, d, &t), TN_ERR_OVERFLOW, "overflow");
        REFUSED(tn_tensor_new(3, DIMS(0, BIG(20), BIG(43)), TN_U8, d, &t), TN_ERR_OVERFLOW,
                "[0, 1048576,");
        REFUSED(tn_tensor_new(1, DIMS(-1), TN_U8, d, &t), TN_ERR_ARGUMENT, "-1");
        REFUSED(tn_tensor_new(3, DIMS(2, INT64_MIN, 0), TN_U8, d, &t), TN_ERR_ARGUMENT, "negative");
        REFUSED(tn_tensor_new(65, DIMS(1), TN_U8, d, &t), TN_ERR_ARGUMENT, "64 dimensions");
        REFUSED(tn_tensor_new(-1, DIMS(1), TN_U8, d, &t), TN_ERR_ARGUMENT, "-1");
        REFUSED(tn_tensor_new(1, DIMS(1), TN_DTYPE_COUNT, d, &t), TN_ERR_DTYPE, "12");
        REFUSED(tn_tensor_new(1, DIMS(1), -1, d, &t), TN_ERR_DTYPE, "-1");
    }
    REFUSED(tn_tensor_new(1, DIMS(BIG(46)), TN_F32, cpu, &t), TN_ERR_MEMORY, "memory");
    REFUSED(tn_tensor_new(0, NULL, TN_F32, (tn_device){TN_CUDA, 0}, &t), TN_ERR_DEVICE, "cuda");
    REFUSED(tn_tensor_new(0, NULL, TN_F32, (tn_device){6, 0}, &t), TN_ERR_DEVICE, "6");
    REFUSED(tn_tensor_new(0, NULL, TN_F32, (tn_device){INT16_MIN, 0}, &t), TN_ERR_DEVICE, "-32768");
}

Test(tensor_core, sizes_that_can)
{
    tn_tensor *t = made(3, DIMS(BIG(40), 0, BIG(40)), TN_F64,
                        cpu); /* every stride fits, and there is nothing to count */
    cr_assert_eq(t->strides[0], BIG(40));
    cr_assert_eq(t->numel, 0);
    tn_tensor *p = NULL;
    cr_assert_eq(tn__tensor_permuted(NULL, t, (uint8_t[]){1, 0, 2}, &p), TN_OK);
    cr_assert_eq(p->sizes[0], 0);
    cr_assert(p->flags & TN_TENSOR_CONTIGUOUS);
    tn_release(p);
    tn_release(t);
    t = made(2, DIMS(BIG(30), BIG(29)), TN_F64, meta);
    cr_assert_eq(tn_tensor_storage_bytes(t), BIG(62));
    cr_assert_null(t->data);
    tn_release(t);
    int64_t sizes[64];
    for (int d = 0; d < 64; d++)
        sizes[d] = 1 + d % 7 / 6;
    for (int64_t ndim = 0; ndim <= 64; ndim++) {
        t = made(ndim, sizes, TN_F32, cpu);
        cr_assert_eq(t->ndim, ndim);
        cr_assert(ndim == 0 || memcmp(t->sizes, sizes, (size_t)ndim * 8) == 0);
        int64_t stride = 1;
        for (int64_t d = ndim - 1; d >= 0; stride *= sizes[d--])
            cr_assert_eq(t->strides[d], stride);
        cr_assert_eq(t->numel, stride);
        cr_assert_eq((uintptr_t)t->data % 64, 0);
        tn_release(t);
    }
}

/* ---- flags ----------------------------------------------------------------------------------- */
/* Row-major or dense, by walking over every element. */
static void classify(int ndim, const int64_t *sizes, const int64_t *strides, bool *row_major,
                     bool *dense)
{
    bool seen[4096] = {false};
    int64_t index[8] = {0}, n = 1, at = 0, span = 0;
    for (int d = 0; d < ndim; d++)
        n *= sizes[d];
    *row_major = *dense = true;
    for (int64_t i = 0; i < n; i++) {
        at = 0;
        for (int d = 0; d < ndim; d++)
            at += index[d] * strides[d];
        if (at != i)
            *row_major = false;
        if (at >= 4096 || seen[at]) {
            *dense = false;
        } else {
            seen[at] = true;
        }
        if (at + 1 > span)
            span = at + 1;
        for (int d = ndim - 1; d >= 0 && ++index[d] == sizes[d]; d--)
            index[d] = 0;
    }
    if (span != n)
        *dense = false;
}

Test(tensor_core, flags_of_random_geometries)
{
    srand(7);
    tn_tensor *base = made(1, DIMS(4096), TN_U8, cpu);
    int dense_ones = 0, row_major_ones = 0;
    for (int round = 0; round < 40000; round++) {
        int ndim = rand() % 7;
        int64_t sizes[8], strides[8], order[8], next = 1;
        for (int d = 0; d < ndim; d++)
            sizes[d] = rand() % 16 ? 1 + rand() % 3 : 0, order[d] = d;
        for (int d = ndim - 1; d > 0 && rand() % 3; d--) {
            int j = rand() % (d + 1);
            int64_t swap = order[d];
            order[d] = order[j], order[j] = swap;
        }
        for (int d = ndim - 1; d >= 0; d--) {
            strides[order[d]] = sizes[order[d]] == 1 && rand() % 2 ? rand() % 50 : next;
            next *= sizes[order[d]] ? sizes[order[d]] : 1;
            if (rand() % 12 == 0)
                next++;
        }
        if (ndim && rand() % 6 == 0)
            strides[rand() % ndim] = rand() % 4;
        tn_tensor *t = NULL, *p = NULL;
        cr_assert_eq(tn_tensor_view(base, ndim, sizes, strides, 0, &t), TN_OK, "%s",
                     tn_error_last()->message);
        bool row_major, dense;
        classify(ndim, sizes, strides, &row_major, &dense);
        cr_assert_eq(!!(t->flags & TN_TENSOR_CONTIGUOUS), row_major, "round %d", round);
        cr_assert_eq(!!(t->flags & TN_TENSOR_DENSE), dense, "round %d", round);
        row_major_ones += row_major, dense_ones += dense;
        uint8_t dims[8];
        for (int d = 0; d < ndim; d++) {
            dims[d] = (uint8_t)order[d];
        }
        int64_t s[8], st[8];
        for (int d = 0; d < ndim; d++)
            s[d] = sizes[order[d]], st[d] = strides[order[d]];
        cr_assert_eq(tn__tensor_permuted(NULL, t, dims, &p), TN_OK);
        classify(ndim, s, st, &row_major, &dense);
        cr_assert_eq(p->numel, t->numel);
        cr_assert_eq(!!(p->flags & TN_TENSOR_CONTIGUOUS), row_major, "permuted, round %d", round);
        cr_assert_eq(!!(p->flags & TN_TENSOR_DENSE), dense, "permuted, round %d", round);
        for (int d = 0; d < ndim; d++)
            cr_assert(p->sizes[d] == s[d] && p->strides[d] == st[d]);
        tn_release(p);
        tn_release(t);
    }
    cr_assert(row_major_ones > 1000 && dense_ones > row_major_ones + 1000 && dense_ones < 39000);
    tn_release(base);
}

/* ---- views ----------------------------------------------------------------------------------- */
Test(tensor_core, views_stay_inside_their_storage)
{
    tn_tensor *base = made(2, DIMS(3, 4), TN_I32, cpu), *t = NULL;
    REFUSED(tn_tensor_view(base, 1, DIMS(13), DIMS(1), 0, &t), TN_ERR_ARGUMENT, "52 bytes");
    REFUSED(tn_tensor_view(base, 1, DIMS(1), DIMS(1), 12, &t), TN_ERR_ARGUMENT, "storage");
    REFUSED(tn_tensor_view(base, 0, NULL, NULL, 12, &t), TN_ERR_ARGUMENT, "storage");
    REFUSED(tn_tensor_view(base, 0, NULL, NULL, -1, &t), TN_ERR_ARGUMENT, "-1");
    REFUSED(tn_tensor_view(base, 1, DIMS(2), DIMS(-1), 5, &t), TN_ERR_ARGUMENT, "negative");
    REFUSED(tn_tensor_view(base, 1, DIMS(-2), DIMS(1), 0, &t), TN_ERR_ARGUMENT, "negative");
    REFUSED(tn_tensor_view(base, 1, DIMS(2), DIMS(INT64_MAX), 0, &t), TN_ERR_OVERFLOW, "overflow");
    REFUSED(tn_tensor_view(base, 2, DIMS(BIG(62), 4), DIMS(0, 0), 0, &t), TN_ERR_OVERFLOW,
            "overflow");
    REFUSED(tn_tensor_view(base, 0, NULL, NULL, INT64_MAX, &t), TN_ERR_OVERFLOW, "overflow");
    REFUSED(tn_tensor_view(base, 65, DIMS(1), DIMS(1), 0, &t), TN_ERR_ARGUMENT, "64");
    REFUSED(tn_tensor_view(NULL, 0, NULL, NULL, 0, &t), TN_ERR_ARGUMENT, "base");
    int64_t ones[64], steps[64];
    for (int d = 0; d < 64; d++)
        ones[d] = 1, steps[d] = INT64_MAX - d; /* of one element, a stride may be anything */
    cr_assert_eq(tn_tensor_view(base, 64, ones, steps, 11, &t), TN_OK, "%s",
                 tn_error_last()->message);
    cr_assert_eq((char *)t->data - (char *)base->data, 44);
    cr_assert_eq(t->strides[63], INT64_MAX - 63);
    tn_release(base); /* the view holds the storage */
    *(int32_t *)t->data = 5;
    tn_release(t);
}

Test(tensor_core, empty_views_may_begin_anywhere)
{
    tn_tensor *base = made(1, DIMS(4), TN_F32, cpu), *t = NULL;
    cr_assert_eq(tn_tensor_view(base, 2, DIMS(0, 7), DIMS(9, 1), 4, &t), TN_OK, "%s",
                 tn_error_last()->message);
    cr_assert_eq(t->numel, 0);
    cr_assert(t->flags & TN_TENSOR_CONTIGUOUS);
    cr_assert_eq(tn_tensor_offset(t), 4);
    tn_release(t);
    tn_release(base);
}

/* ---- geometry changed in place --------------------------------------------------------------- */
Test(tensor_core, resize)
{
    tn_tensor *t = made(1, DIMS(4), TN_F32, cpu), *view = NULL;
    memset(t->data, 0x11, 16);
    void *data = t->data;
    cr_assert_eq(tn__tensor_resize(NULL, t, 2, DIMS(1, 2)), TN_OK);
    cr_assert(t->data == data && t->numel == 2 && t->strides[0] == 2, "it fits: the storage stays");
    cr_assert_eq(tn__tensor_resize(NULL, t, 7, DIMS(1, 1, 1, 1, 1, 1, 4)), TN_OK);
    cr_assert(t->data == data && t->ndim == 7);
    cr_assert_eq(tn_tensor_view(t, 1, DIMS(2), DIMS(1), 2, &view), TN_OK);
    cr_assert_eq(tn__tensor_resize(NULL, view, 1, DIMS(3)), TN_OK);
    cr_assert(!tn_tensor_same_storage(view, t) && tn_tensor_offset(view) == 0 && view->numel == 3);
    memset(view->data, 0, 12);
    cr_assert_eq(*(uint32_t *)t->data, 0x11111111);
    REFUSED(tn__tensor_resize(NULL, t, 1, DIMS(-3)), TN_ERR_ARGUMENT, "negative");
    REFUSED(tn__tensor_resize(NULL, t, 2, DIMS(BIG(40), BIG(40))), TN_ERR_OVERFLOW, "overflow");
    REFUSED(tn__tensor_resize(NULL, t, 1, DIMS(BIG(46))), TN_ERR_MEMORY, "memory");
    REFUSED(tn__tensor_resize(NULL, t, 65, DIMS(1)), TN_ERR_ARGUMENT, "64");
    cr_assert(t->ndim == 7 && t->sizes[6] == 4 && t->data == data && t->numel == 4,
              "a refusal changes nothing");
    cr_assert_eq(tn__tensor_resize(NULL, t, 0, NULL), TN_OK);
    cr_assert(t->ndim == 0 && t->numel == 1);
    tn_release(view);
    tn_release(t);
}

Test(tensor_core, set_geometry)
{
    tn_tensor *t = made(2, DIMS(3, 4), TN_F32, cpu);
    char *data = t->data;
    cr_assert_eq(tn__tensor_set_geometry(NULL, t, 2, t->strides, t->sizes, 0),
                 TN_OK); /* its own arrays */
    cr_assert_eq(tn__tensor_set_geometry(NULL, t, 2, DIMS(4, 3), DIMS(1, 4), 0), TN_OK);
    cr_assert_eq(t->flags, TN_TENSOR_DENSE);
    cr_assert_eq(tn__tensor_set_geometry(NULL, t, 8, DIMS(1, 1, 1, 1, 1, 1, 1, 2),
                                         DIMS(0, 0, 0, 0, 0, 0, 0, 3), 2),
                 TN_OK);
    cr_assert_eq((char *)t->data - data, 8);
    cr_assert_eq(t->strides[7], 3);
    REFUSED(tn__tensor_set_geometry(NULL, t, 1, DIMS(12), DIMS(1), 1), TN_ERR_ARGUMENT, "storage");
    cr_assert_eq(t->ndim, 8);
    cr_assert_eq(tn__tensor_set_geometry(NULL, t, 0, NULL, NULL, 11), TN_OK);
    cr_assert_eq((char *)t->data - data, 44);
    tn_release(t);
    t = made(1, DIMS(3), TN_F32,
             cpu); /* the block that comes back knows nothing of what was done to it */
    cr_assert(tn_tensor_offset(t) == 0 && t->data == tn_tensor_storage_data(t) &&
              tn_tensor_version(t) == 0);
    tn_release(t);
}

/* ---- memory of the caller -------------------------------------------------------------------- */
static int released;

static void count_release(void *owner, void *data, size_t bytes)
{
    (void)data;
    cr_assert_eq(bytes, *(size_t *)owner);
    released++;
}

Test(tensor_core, from_memory)
{
    double x[12] = {0, 1, 2, 3, 4, 5};
    tn_tensor *t = NULL, *view = NULL;
    size_t bytes = 8;
    cr_assert_eq(tn_tensor_from_memory(x, TN_F64, 0, NULL, NULL, count_release, &bytes, &t), TN_OK,
                 "%s", tn_error_last()->message);
    cr_assert(t->ndim == 0 && t->numel == 1 && t->data == x && t->flags & TN_TENSOR_CONTIGUOUS);
    tn_release(t);
    cr_assert_eq(released, 1);
    bytes = sizeof x;
    cr_assert_eq(
        tn_tensor_from_memory(x, TN_F64, 2, DIMS(4, 3), DIMS(1, 4), count_release, &bytes, &t),
        TN_OK);
    cr_assert_eq(t->flags, TN_TENSOR_DENSE);
    cr_assert_eq(tn_tensor_view(t, 0, NULL, NULL, 5, &view), TN_OK);
    tn_release(t);
    cr_assert_eq(released, 1);
    tn_scalar s;
    cr_assert_eq(tn_tensor_item(view, &s), TN_OK);
    cr_assert_eq(s.v.f, 5);
    tn_release(view);
    cr_assert_eq(released, 2);
    cr_assert_eq(tn_tensor_from_memory(NULL, TN_F64, 1, DIMS(0), NULL, NULL, NULL, &t), TN_OK);
    tn_release(t);
    REFUSED(tn_tensor_from_memory(NULL, TN_F64, 1, DIMS(2), NULL, count_release, &bytes, &t),
            TN_ERR_ARGUMENT, "NULL");
    REFUSED(tn_tensor_from_memory(x, TN_F64, 1, DIMS(2), DIMS(-1), count_release, &bytes, &t),
            TN_ERR_ARGUMENT, "negative");
    REFUSED(tn_tensor_from_memory(x, TN_F64, 1, DIMS(-2), NULL, count_release, &bytes, &t),
            TN_ERR_ARGUMENT, "negative");
    REFUSED(tn_tensor_from_memory(x, TN_F64, 65, DIMS(1), NULL, count_release, &bytes, &t),
            TN_ERR_ARGUMENT, "64");
    REFUSED(tn_tensor_from_memory(x, TN_F64, -1, NULL, NULL, count_release, &bytes, &t),
            TN_ERR_ARGUMENT, "-1");
    REFUSED(tn_tensor_from_memory(x, 99, 1, DIMS(1), NULL, count_release, &bytes, &t), TN_ERR_DTYPE,
            "99");
    REFUSED(tn_tensor_from_memory(x, TN_F64, 1, DIMS(3), DIMS(BIG(62)), count_release, &bytes, &t),
            TN_ERR_OVERFLOW, "overflow");
    REFUSED(tn_tensor_from_data(NULL, TN_F64, 1, DIMS(3), &t), TN_ERR_ARGUMENT, "NULL");
    cr_assert_eq(released, 2, "what was refused stays with its owner");
}

Test(tensor_core, item)
{
    tn_scalar s;
    tn_tensor *t = made(1, DIMS(2), TN_F32, cpu);
    REFUSED(tn_tensor_item(t, &s), TN_ERR_ARGUMENT, "[2]");
    REFUSED(tn_tensor_item(NULL, &s), TN_ERR_ARGUMENT, "no tensor");
    tn_release(t);
    t = made(0, NULL, TN_F32, meta);
    REFUSED(tn_tensor_item(t, &s), TN_ERR_DEVICE, "host");
    tn_release(t);
}

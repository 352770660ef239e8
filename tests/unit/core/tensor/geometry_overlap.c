/* Overlap answers against the truth by listing every element, on random strided views, and the
 * named cases. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/core/iter/fake_tensor.h"

TestSuite(geometry_overlap);

static tn__storage storage, other_storage;

static tn_tensor *view(fake *f, int dtype, int ndim, const int64_t *sizes, const int64_t *strides,
                       int64_t offset)
{
    return fake_make(f, &storage, NULL, dtype, ndim, sizes, strides, offset);
}

/* Adds 1 to every byte of every element; returns the highest count. */
static int touch(const tn_tensor *t, uint8_t *bytes)
{
    int64_t size = tn__dtype_sizes[t->dtype], index[TN_MAX_DIMS] = {0};
    int most = 0;
    for (int64_t i = 0; i < t->numel; i++) {
        int64_t at = tn__impl(t)->offset, rest = i;
        for (int d = t->ndim - 1; d >= 0; d--) {
            index[d] = rest % t->sizes[d];
            rest /= t->sizes[d];
            at += index[d] * t->strides[d];
        }
        for (int64_t b = 0; b < size; b++) {
            if (++bytes[at * size + b] > most)
                most = bytes[at * size + b];
        }
    }
    return most;
}

static bool same_geometry(const tn_tensor *a, const tn_tensor *b)
{
    int i = 0, j = 0;
    if (tn__impl(a)->offset != tn__impl(b)->offset || a->dtype != b->dtype || a->numel != b->numel)
        return false;
    for (;;) {
        while (i < a->ndim && a->sizes[i] == 1)
            i++;
        while (j < b->ndim && b->sizes[j] == 1)
            j++;
        if (i == a->ndim || j == b->ndim)
            return i == a->ndim && j == b->ndim;
        if (a->sizes[i] != b->sizes[j] || a->strides[i] != b->strides[j])
            return false;
        i++, j++;
    }
}

static tn_tensor *random_view(fake *f, int dtype)
{
    int64_t sizes[4], strides[4];
    int ndim = rand() % 5;
    for (int d = 0; d < ndim; d++) {
        sizes[d] = 1 + rand() % 4;
        strides[d] = rand() % 3 ? rand() % 13 : (int64_t[]){1, 4, 16, 2}[rand() % 4];
    }
    return view(f, dtype, ndim, sizes, strides, rand() % 40);
}

Test(geometry_overlap, random_views_against_listing)
{
    int both[2][2] = {{0}};
    srand(1);
    for (int i = 0; i < 200000; i++) {
        fake fa, fb;
        uint8_t bytes[2048] = {0};
        const int dtypes[3] = {TN_F32, TN_F32, TN_I16};
        tn_tensor *a = random_view(&fa, TN_F32), *b = random_view(&fb, dtypes[rand() % 3]);
        bool internal = touch(a, bytes) > 1;
        cr_assert_eq(tn__check_no_internal_overlap(NULL, a) != TN_OK, internal, "round %d", i);
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = bytes[k] ? 100 : 0;
        bool shared = touch(b, bytes) > 100 && !same_geometry(a, b);
        cr_assert_eq(tn__check_no_overlap(NULL, a, b) != TN_OK, shared, "round %d", i);
        both[internal][shared]++;
    }
    for (int i = 0; i < 4; i++)
        cr_assert_gt(both[i / 2][i % 2], 1000, "too few cases of kind %d", i);
}

Test(geometry_overlap, bb_iter_02_05_named_cases)
{
    fake fa, fb;
    cr_assert_eq(tn__check_no_internal_overlap(NULL, view(&fa, TN_F32, 1, DIMS(10), DIMS(0), 0)),
                 TN_ERR_OVERLAP);
    cr_assert(strstr(tn_error_last()->message, "several elements"), "%s", tn_error_last()->message);
    cr_assert(strstr(tn_error_last()->message, "share one memory location"));
    cr_assert(strstr(tn_error_last()->message, "clone()"));
    tn_tensor *a = view(&fa, TN_F32, 2, DIMS(2, 3), NULL, 0);
    cr_assert_eq(tn__check_no_overlap(NULL, a, view(&fb, TN_F32, 2, DIMS(2, 1), DIMS(3, 1), 0)),
                 TN_ERR_OVERLAP);
    cr_assert_eq(tn__check_no_overlap(NULL, a, view(&fb, TN_F32, 2, DIMS(1, 3), DIMS(3, 1), 0)),
                 TN_ERR_OVERLAP);
    cr_assert_eq(tn__check_no_overlap(NULL, a, view(&fb, TN_F32, 3, DIMS(1, 2, 3), NULL, 0)),
                 TN_OK);
    tn_tensor *square = view(&fa, TN_F32, 2, DIMS(3, 3), NULL, 0);
    cr_assert_eq(
        tn__check_no_overlap(NULL, square, view(&fb, TN_F32, 2, DIMS(3, 3), DIMS(1, 3), 0)),
        TN_ERR_OVERLAP);
    tn_tensor *evens = view(&fa, TN_F32, 1, DIMS(1000000), DIMS(2), 0);
    cr_assert_eq(tn__check_no_overlap(NULL, evens, view(&fb, TN_F32, 1, DIMS(1000000), DIMS(2), 1)),
                 TN_OK);
    cr_assert_eq(tn__check_no_overlap(NULL, evens, view(&fb, TN_F32, 1, DIMS(2), DIMS(1), 77)),
                 TN_ERR_OVERLAP);
    fake_make(&fb, &other_storage, NULL, TN_F32, 1, DIMS(10), NULL, 0);
    cr_assert_eq(tn__check_no_overlap(NULL, evens, &fb.t.pub), TN_OK);
}

Test(geometry_overlap, strides_without_meaning_or_measure)
{
    fake fa, fb;
    tn_tensor *a = view(&fa, TN_F32, 2, DIMS(1, 3), DIMS(INT64_MIN, 2), 0);
    cr_assert_eq(tn__check_no_internal_overlap(NULL, a), TN_OK);
    cr_assert_eq(
        tn__check_no_overlap(NULL, a, view(&fb, TN_F32, 2, DIMS(3, 1), DIMS(2, INT64_MAX), 1)),
        TN_OK);
    a = view(&fa, TN_F32, 1, DIMS(2), DIMS(INT64_MIN), 0);
    cr_assert_eq(tn__check_no_internal_overlap(NULL, a),
                 TN_ERR_OVERLAP); /* no such memory: refused */
    cr_assert_eq(tn__check_no_internal_overlap(NULL, view(&fa, TN_F32, 1, DIMS(0), DIMS(0), 0)),
                 TN_OK);
}

/* The common shape: numpy's rules, the message of a mismatch, huge and absent operands. */
#include <criterion/criterion.h>
#include <string.h>

#include "core/iter/iter.h"
#include "tests/unit/core/iter/fake_tensor.h"

TestSuite(broadcast);

static void expect(tn_tensor *const *tensors, int64_t n, int64_t ndim, const int64_t *sizes)
{
    int64_t got_ndim, got[TN_MAX_DIMS];
    cr_assert_eq(tn__broadcast(NULL, tensors, n, &got_ndim, got), TN_OK, "%s",
                 tn_error_last()->message);
    cr_assert_eq(got_ndim, ndim);
    for (int64_t d = 0; d < ndim; d++)
        cr_assert_eq(got[d], sizes[d], "dimension %d", (int)d);
}

Test(broadcast, shapes)
{
    fake f[4];
    tn_tensor *row = fake_make(&f[0], NULL, NULL, TN_F32, 1, DIMS(3), NULL, 0);
    tn_tensor *column = fake_make(&f[1], NULL, NULL, TN_F32, 2, DIMS(2, 1), NULL, 0);
    tn_tensor *number = fake_make(&f[2], NULL, NULL, TN_F32, 0, NULL, NULL, 0);
    tn_tensor *empty = fake_make(&f[3], NULL, NULL, TN_F32, 3, DIMS(0, 1, 1), NULL, 0);
    expect((tn_tensor *[]){row, column}, 2, 2, DIMS(2, 3));
    expect((tn_tensor *[]){column, row}, 2, 2, DIMS(2, 3));
    expect((tn_tensor *[]){number, NULL, row}, 3, 1, DIMS(3));
    expect((tn_tensor *[]){row, column, empty}, 3, 3, DIMS(0, 2, 3));
    expect((tn_tensor *[]){number}, 1, 0, NULL);
    expect(NULL, 0, 0, NULL);
}

Test(broadcast, most_dimensions)
{
    int64_t sizes[TN_MAX_DIMS];
    fake f[2];
    for (int d = 0; d < TN_MAX_DIMS; d++)
        sizes[d] = 1 + (d % 31 == 0);
    tn_tensor *all = fake_make(&f[0], NULL, NULL, TN_F32, TN_MAX_DIMS, sizes, NULL, 0);
    tn_tensor *number = fake_make(&f[1], NULL, NULL, TN_F32, 0, NULL, NULL, 0);
    expect((tn_tensor *[]){number, all}, 2, TN_MAX_DIMS, sizes);
}

Test(broadcast, mismatch_names_shapes_and_dimension)
{
    fake f[2];
    tn_tensor *a = fake_make(&f[0], NULL, NULL, TN_F32, 3, DIMS(5, 2, 3), NULL, 0);
    tn_tensor *b = fake_make(&f[1], NULL, NULL, TN_F32, 2, DIMS(4, 3), NULL, 0);
    int64_t ndim, sizes[TN_MAX_DIMS];
    cr_assert_eq(tn__broadcast(NULL, (tn_tensor *[]){a, b}, 2, &ndim, sizes), TN_ERR_ARGUMENT);
    const char *message = tn_error_last()->message;
    cr_assert(strstr(message, "[5, 2, 3]") && strstr(message, "[4, 3]") &&
                  strstr(message, "dimension 1"),
              "%s", message);
    b = fake_make(&f[1], NULL, NULL, TN_F32, 1, DIMS(0), NULL, 0);
    cr_assert_eq(tn__broadcast(NULL, (tn_tensor *[]){a, b}, 2, &ndim, sizes), TN_ERR_ARGUMENT);
}

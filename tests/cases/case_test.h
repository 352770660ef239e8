/* case_test.h - what the case bank's tests share: tensors from lists of numbers, and expectations
 * about results. Everything lives in the test's scope. */
#ifndef TN_TESTS_CASE_TEST_H
#define TN_TESTS_CASE_TEST_H

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include <tenon/ops.h>
#include <tenon/runtime.h>
#include <tenon/tensor.h>

static tn_scope case_scope;

static inline void case_begin(void)
{
    cr_assert_eq(tn_plugins_load_default(), TN_OK, "%s", tn_error_last()->message);
    tn_error_clear();
    tn_scope_enter(&case_scope);
}

static inline void case_end(void)
{
    tn_scope_leave(&case_scope);
}

#define CASE_SHAPE(...) TN_INTS(__VA_ARGS__)
#define CASE_SCALAR_SHAPE ((tn_ints){NULL, 0})
#define CASE_VALUES(...) ((const double[]){__VA_ARGS__})

/* A tensor of these numbers, row-major. */
static inline tn_tensor *case_tensor(tn_dtype dtype, tn_ints sizes, const double *values)
{
    tn_tensor *t;
    cr_assert_eq(tn_tensor_from_data(values, TN_F64, sizes.len, sizes.data, &t), TN_OK);
    tn_tensor *out = tn__to_copy(t, .dtype = dtype);
    cr_assert_not_null(out, "%s", tn_error_last()->message);
    tn_release(t);
    return out;
}

/* The result t has this dtype, shape and these numbers; NaN equals NaN. */
static inline void case_expect_(int line, tn_tensor *t, tn_dtype dtype, tn_ints sizes,
                                const double *values)
{
    cr_assert_not_null(t, "line %d: %s", line, tn_error_last()->message);
    cr_assert_eq(t->dtype, dtype, "line %d: dtype %d, expected %d", line, t->dtype, dtype);
    cr_assert_eq(t->ndim, sizes.len, "line %d: %d dimensions", line, t->ndim);
    for (int d = 0; d < t->ndim; d++)
        cr_assert_eq(t->sizes[d], sizes.data[d], "line %d: size of dim %d", line, d);
    tn_tensor *numbers = tn__to_copy(t, .dtype = TN_F64, .memory_format = TN_CONTIGUOUS);
    cr_assert_not_null(numbers, "line %d: %s", line, tn_error_last()->message);
    const double *got = numbers->data;
    for (int64_t i = 0; i < t->numel; i++)
        cr_assert(got[i] == values[i] || (isnan(got[i]) && isnan(values[i])),
                  "line %d: element %lld is %g, expected %g", line, (long long)i, got[i],
                  values[i]);
}
#define CASE_EXPECT(t, dtype, sizes, ...)                                                          \
    case_expect_(__LINE__, t, dtype, sizes, CASE_VALUES(__VA_ARGS__))

/* The expression failed, with this word in its message; the record is cleared for the next one. */
static inline void case_fails_(int line, tn_tensor *t, const char *word)
{
    cr_assert_null(t, "line %d: it succeeded; an error with '%s' was expected", line, word);
    cr_assert_not_null(strcasestr(tn_error_last()->message, word),
                       "line %d: '%s' is not in the message: %s", line, word,
                       tn_error_last()->message);
    tn_error_clear();
}
#define CASE_FAILS(t, word) case_fails_(__LINE__, t, word)

#endif

/* cpu_test.h - what tests of the cpu plugin share: one scope per test, tensors from lists of numbers
 * and back. */
#ifndef TN_TESTS_CPU_TEST_H
#define TN_TESTS_CPU_TEST_H

#include <criterion/criterion.h>

#include <tenon/ops.h>
#include <tenon/runtime.h>

static tn_scope scope;

static inline void begin(void)
{
    cr_assert_eq(tn_plugins_load_default(), TN_OK, "%s", tn_error_last()->message);
    tn_error_clear();
    tn_scope_enter(&scope);
}

static inline void end(void)
{
    tn_scope_leave(&scope);
}

static inline tn_tensor *must(tn_tensor *t)
{
    cr_assert_not_null(t, "%s", tn_error_last()->message);
    return t;
}

/* One row of these numbers; goes with the scope. */
static inline tn_tensor *numbers(tn_dtype dtype, int64_t n, const double *values)
{
    tn_tensor *t;
    cr_assert_eq(tn_tensor_from_data(values, TN_F64, 1, &n, &t), TN_OK);
    tn_tensor *out = must(tn__to_copy(t, .dtype = dtype));
    tn_release(t);
    return out;
}

/* Row-major, in double. */
static inline const double *values_of(tn_tensor *t)
{
    return must(tn__to_copy(must(t), .dtype = TN_F64, .memory_format = TN_CONTIGUOUS))->data;
}

#endif

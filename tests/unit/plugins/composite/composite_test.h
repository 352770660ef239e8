/* composite_test.h - what the tests of the composite plugin share: int64 tensors that count from 0,
 * and looks at results.
 *
 * Every test runs inside a scope, which composite_begin opens and composite_end leaves; a failed
 * expression must be answered with expect_error. */
#ifndef COMPOSITE_TEST_H
#define COMPOSITE_TEST_H

#include <criterion/criterion.h>
#include <string.h>

#include <tenon/op.h>
#include <tenon/ops.h>
#include <tenon/runtime.h>
#include <tenon/tensor.h>

#define LIST(...) ((const int64_t[]){__VA_ARGS__})
#define META ((tn_device){TN_META, -1})

void composite_begin(void);
void composite_end(void);

/* 0, 1, 2, ... in row-major order. */
tn_tensor *counting(tn_ints sizes);

void expect_shape(const tn_tensor *t, tn_ints sizes);
void expect_strides(const tn_tensor *t, tn_ints strides);
/* The elements of an int64 tensor in order, through its strides. */
void expect_elements(const tn_tensor *t, tn_ints sizes, const int64_t *elements);
/* The same of any real dtype, after a cast. */
void expect_numbers(tn_tensor *t, tn_ints sizes, const int64_t *elements);
/* `failed` is NULL, the record has `status` and its message holds `words`. Clears the record. */
void expect_error(const tn_tensor *failed, tn_status status, const char *words);

#endif

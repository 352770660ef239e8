/* composite_test.c - see composite_test.h. */
#include "composite_test.h"

static tn_scope scope;

void composite_begin(void)
{
    cr_assert_eq(tn_plugins_load_default(), TN_OK, "%s", tn_error_last()->message);
    tn_error_clear();
    tn_scope_enter(&scope);
}

void composite_end(void)
{
    tn_scope_leave(&scope);
}

tn_tensor *counting(tn_ints sizes)
{
    tn_tensor *t = tn_empty_memory_format(sizes, .dtype = TN_I64);
    cr_assert_not_null(t, "%s", tn_error_last()->message);
    for (int64_t i = 0; i < t->numel; i++)
        ((int64_t *)t->data)[i] = i;
    return t;
}

void expect_shape(const tn_tensor *t, tn_ints sizes)
{
    cr_assert_not_null(t, "%s", tn_error_last()->message);
    cr_assert_eq(t->ndim, sizes.len, "expected %d dimensions, got %d", (int)sizes.len, t->ndim);
    for (int64_t d = 0; d < sizes.len; d++)
        cr_assert_eq(t->sizes[d], sizes.data[d], "size %d: expected %ld, got %ld", (int)d,
                     (long)sizes.data[d], (long)t->sizes[d]);
}

void expect_strides(const tn_tensor *t, tn_ints strides)
{
    cr_assert_not_null(t, "%s", tn_error_last()->message);
    cr_assert_eq(t->ndim, strides.len);
    for (int64_t d = 0; d < strides.len; d++)
        cr_assert_eq(t->strides[d], strides.data[d], "stride %d: expected %ld, got %ld", (int)d,
                     (long)strides.data[d], (long)t->strides[d]);
}

static int64_t place(const tn_tensor *t, int64_t i)
{
    int64_t at = 0;
    for (int d = t->ndim - 1; d >= 0; d--) {
        at += i % t->sizes[d] * t->strides[d];
        i /= t->sizes[d];
    }
    return at;
}

void expect_elements(const tn_tensor *t, tn_ints sizes, const int64_t *elements)
{
    expect_shape(t, sizes);
    cr_assert_eq(t->dtype, TN_I64);
    for (int64_t i = 0; i < t->numel; i++) {
        int64_t got = ((const int64_t *)t->data)[place(t, i)];
        cr_assert_eq(got, elements[i], "element %d: expected %ld, got %ld", (int)i,
                     (long)elements[i], (long)got);
    }
}

void expect_numbers(tn_tensor *t, tn_ints sizes, const int64_t *elements)
{
    cr_assert_not_null(t, "%s", tn_error_last()->message);
    expect_elements(tn_to_dtype(t, TN_I64), sizes, elements);
}

void expect_error(const tn_tensor *failed, tn_status status, const char *words)
{
    const tn_error *e = tn_error_last();
    cr_assert_null(failed, "expected an error with '%s'", words);
    cr_assert_eq(e->status, status, "expected %s, got %s: %s", tn_status_name(status),
                 tn_status_name(e->status), e->message);
    cr_assert(strstr(e->message, words), "'%s' does not hold '%s'", e->message, words);
    tn_error_clear();
}

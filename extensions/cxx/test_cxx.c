/* test_cxx.c - the values, a view, and that what is thrown inside arrives as an error. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tenon/op.h>
#include <tenon/ops.h>
#include <tenon/runtime.h>
#include <tenon/tensor.h>

#include "cxx_ops.h"

static int failures;

static void check(int ok, const char *what)
{
    printf("%s %s\n", ok ? "ok  " : "FAIL", what);
    if (!ok)
        printf("     %s\n", tn_error_last()->message);
    failures += !ok;
}

static tn_status unique(tn_tensor *self, tn_tensor **out)
{
    struct tn_unique_args f = {TN_FRAME(unique), .self = self};
    tn_status status = tn_op_call(tn_op_find(TN_SCHEMA_unique), &f);
    *out = f.result;
    return status;
}

static int holds(const tn_tensor *t, const float *expected, int64_t n)
{
    return t && t->ndim == 1 && t->numel == n &&
           memcmp(t->data, expected, (size_t)n * sizeof *expected) == 0;
}

static void try_values(void)
{
    const float values[] = {3, 1, 3, 2, 1, 7}, distinct[] = {1, 2, 3, 7}, column[] = {1, 3};
    const int64_t sizes[] = {3, 2};
    tn_tensor *x = NULL, *y = NULL, *first = NULL;
    tn_tensor_from_data(values, TN_F32, 2, sizes, &x);
    check(unique(x, &y) == TN_OK && holds(y, distinct, 4), "distinct values, sorted");
    tn_release(y);
    tn_call_select_int(x, 1, 0, &first);
    check(unique(first, &y) == TN_OK && holds(y, column, 2), "of a view with gaps");
    tn_release(y);
    tn_release(first);
    tn_release(x);
}

static void try_errors(void)
{
    const float values[] = {1, NAN};
    const int64_t numbers[] = {1, 2}, size = 2;
    tn_tensor *x = NULL, *y = NULL;
    tn_tensor_from_data(values, TN_F32, 1, &size, &x);
    check(unique(x, &y) == TN_ERR_ARGUMENT && !y && strstr(tn_error_last()->message, "NaN"),
          "what is thrown is an error with its words");
    tn_release(x);
    tn_tensor_from_data(numbers, TN_I64, 1, &size, &x);
    check(unique(x, &y) == TN_ERR_UNSUPPORTED && !y, "another dtype is refused");
    tn_release(x);
}

int main(int argc, char **argv)
{
    check(tn_plugins_load_default() == TN_OK, "Tenon's own plugins");
    check(argc == 2 && tn_plugin_load(argv[1], NULL) == TN_OK, "the plugin");
    if (!failures) {
        try_values();
        try_errors();
    }
    return failures ? 1 : 0;
}

/* test_call_logger.c - a few calls, and the lines that they leave. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/op.h>
#include <tenon/ops.h>
#include <tenon/runtime.h>
#include <tenon/tensor.h>

static int failures;

static void check(int ok, const char *what)
{
    printf("%s %s\n", ok ? "ok  " : "FAIL", what);
    failures += !ok;
}

static const char *const expected[] = {
    "aten::add.Tensor(self=float32[2, 3], other=float32[3], alpha=2) -> float32[2, 3]\n",
    "aten::view(self=float32[2, 3], size=[5]) failed\n",
    "aten::relu_(self=float32[2, 3]) -> float32[2, 3]\n",
};

static void call_some(void)
{
    const float values[6] = {1, 2, 3, -4, 5, 6};
    const int64_t sizes[] = {2, 3};
    tn_tensor *x, *y, *sum = NULL, *view = NULL, *same = NULL;
    tn_tensor_from_data(values, TN_F32, 2, sizes, &x);
    tn_tensor_from_data(values, TN_F32, 1, &sizes[1], &y);
    check(tn_key_include("Tracer", true), "the key is there");
    tn_call_add_Tensor(x, y, tn_scalar_int(2), &sum);
    check(tn_call_view(x, TN_INTS(5), &view) != TN_OK, "a call that fails");
    tn_call_relu_(x, &same);
    tn_key_include("Tracer", false);
    check(same == x && ((float *)x->data)[3] == 0, "in place: the caller's own tensor");
    tn_release(sum);
    tn_release(same);
    tn_call_add_Tensor(x, y, tn_scalar_int(3), &sum);
    tn_release(sum);
    tn_release(x);
    tn_release(y);
}

static void read_lines(const char *path)
{
    char line[1000];
    size_t i = 0, n = sizeof expected / sizeof *expected;
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        bool same = i < n && strcmp(line, expected[i]) == 0;
        check(same, "line");
        if (!same)
            printf("     %s", line);
        i++;
    }
    check(i == n, "as many lines as calls that asked for one");
    if (f)
        fclose(f);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    setenv("CALL_LOGGER", argv[2], 1);
    check(tn_plugins_load_default() == TN_OK, "Tenon's own plugins");
    check(tn_plugin_load(argv[1], NULL) == TN_OK, "the plugin");
    call_some();
    read_lines(argv[2]);
    return failures ? 1 : 0;
}

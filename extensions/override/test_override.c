/* test_override.c - who serves expm1 before the plugin is loaded, with it, and after it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tenon/op.h>
#include <tenon/ops.h>
#include <tenon/runtime.h>
#include <tenon/tensor.h>

static int failures;

static void check(int ok, const char *what)
{
    printf("%s %s\n", ok ? "ok  " : "FAIL", what);
    if (!ok)
        printf("     %s\n", tn_error_last()->message);
    failures += !ok;
}

static int serves(const char *plugin)
{
    const char *how;
    return strcmp(tn_op_server(tn_op_find("expm1"), "CPU", &how), plugin) == 0;
}

/* Whether every result is the number nearest to the true one. */
static int is_exact(void)
{
    enum { N = 1000 };
    float values[N];
    const int64_t size = N;
    int exact = 1;
    for (int i = 0; i < N; i++)
        values[i] = (float)(i - N / 2) / 100;
    tn_tensor *x, *y;
    if (tn_tensor_from_data(values, TN_F32, 1, &size, &x) != TN_OK)
        return 0;
    if (tn_call_expm1(x, &y) == TN_OK) {
        for (int i = 0; i < N; i++)
            exact = exact && ((const float *)y->data)[i] == (float)expm1(values[i]);
        tn_release(y);
    }
    tn_release(x);
    return exact;
}

int main(int argc, char **argv)
{
    tn_plugin_handle *plugin = NULL;
    check(tn_plugins_load_default() == TN_OK, "Tenon's own plugins");
    check(serves("cpu"), "the plugin cpu serves expm1");
    check(argc == 2 && tn_plugin_load(argv[1], &plugin) == TN_OK, "the plugin loads");
    check(serves("override"), "now override does");
    check(is_exact(), "float32 results are right to the last place");
    check(plugin && tn_plugin_unload(plugin) == TN_OK, "the plugin unloads");
    check(serves("cpu"), "the plugin cpu serves again");
    return failures ? 1 : 0;
}

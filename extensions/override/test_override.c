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

/* What float64 becomes: the replaced kernel's answer, into a new tensor and in place. */
static void check_replaced(const char *what)
{
    const double x = 0.5, expected = expm1(x);
    tn_tensor *in = NULL, *y = NULL, *same = NULL;
    check(tn_tensor_from_data(&x, TN_F64, 0, NULL, &in) == TN_OK &&
              tn_call_expm1(in, &y) == TN_OK && *(const double *)y->data == expected &&
              tn_call_expm1_(in, &same) == TN_OK && same == in &&
              *(const double *)in->data == expected,
          what);
    tn_release(same);
    tn_release(in);
    tn_release(y);
}

/* The plugin cpu goes: first the reference of the default load, then ours. */
static void without_cpu(void)
{
    tn_plugin_handle *cpu = NULL;
    const double x = 0.5;
    const float narrow = 0.5f;
    tn_tensor *in = NULL, *y = NULL;
    check(tn_plugin_load("cpu", &cpu) == TN_OK && tn_plugin_unload(cpu) == TN_OK &&
              tn_plugin_unload(cpu) == TN_OK,
          "the plugin cpu is unloaded");
    check(tn_tensor_from_data(&x, TN_F64, 0, NULL, &in) == TN_OK &&
              tn_call_expm1(in, &y) == TN_ERR_NO_KERNEL &&
              strstr(tn_error_last()->message, "has replaced none"),
          "what override leaves to it is an error then");
    tn_release(in);
    check(tn_tensor_from_data(&narrow, TN_F32, 0, NULL, &in) == TN_OK &&
              tn_call_expm1(in, &y) == TN_OK && *(const float *)y->data == (float)expm1(0.5),
          "what it does itself goes on");
    tn_release(in);
    tn_release(y);
    check(tn_plugin_load("cpu", NULL) == TN_OK, "the plugin cpu is back");
}

int main(int argc, char **argv)
{
    tn_plugin_handle *plugin = NULL;
    check(tn_plugins_load_default() == TN_OK, "Tenon's own plugins");
    check(serves("cpu"), "the plugin cpu serves expm1");
    check(argc == 2 && tn_plugin_load(argv[1], &plugin) == TN_OK, "the plugin loads");
    check(serves("override"), "now override does");
    check(is_exact(), "float32 results are right to the last place");
    check_replaced("float64 results come from the kernel that it has replaced");
    without_cpu();
    check_replaced("and do so again");
    check(plugin && tn_plugin_unload(plugin) == TN_OK, "the plugin unloads");
    check(serves("cpu"), "the plugin cpu serves again");
    return failures ? 1 : 0;
}

/* Which kernel serves which key, for every subset of registered keys that PyTorch was asked about.
 *
 * Differences by design, each checked to be the only ones:
 * - XLA, Lazy, SparseCPU, QuantizedCPU, NestedTensor* and their autograd keys, AutogradOther, Batched, FuncTorchBatched and
 *   Python do not exist here. A device type that a plugin brings has its own Autograd key instead of AutogradOther.
 * - Functionalize falls through by default: PyTorch registers a boxed fallback for it at start.
 * - An operator without a derivative has a fallback under Autograd, which lets nobody differentiate
 *   through it in silence; PyTorch falls through there. */
#include <stdio.h>
#include <stdlib.h>

#include "registry_test.h"

TestSuite(precedence, .timeout = 60);

enum { MAX_COLUMNS = 32, MAX_LINE = 4096 };

static tn_status no_memory(tn_device device, size_t bytes, void **out)
{
    (void)device, (void)bytes, (void)out;
    return TN_ERR_UNSUPPORTED;
}

static void free_none(tn_device device, void *data, size_t bytes)
{
    (void)device, (void)data, (void)bytes;
}
static const tn_device_decl fpga = {
    .name = "fpga", .key = "FPGA", .alloc = no_memory, .free = free_none};

static const char *how_of(const char *upstream)
{
    static const char *const names[][2] = {
        {"MISSING", "missing"},
        {"fallthrough (backend fallback)", "fallthrough"},
        {"CompositeExplicitAutogradNonFunctional (default backend kernel)",
         "CompositeExplicitAutogradNonFunctional"},
        {"CompositeExplicitAutograd (default backend kernel)", "CompositeExplicitAutograd"},
        {"CompositeImplicitAutograd (math kernel)", "CompositeImplicitAutograd"},
        {"Autograd (autograd kernel)", "Autograd"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(upstream, names[i][0]) == 0)
            return names[i][1];
    size_t n = strlen(upstream), k = strlen(" (kernel)");
    return n > k && strcmp(upstream + n - k, " (kernel)") == 0 ? "kernel" : "?";
}

/* Splits at each separator; returns the number of parts. */
static int split(char *text, char separator, char *parts[MAX_COLUMNS])
{
    int n = 0;
    text[strcspn(text, "\n")] = 0;
    for (char *at = text; at && n < MAX_COLUMNS; n++) {
        parts[n] = at;
        at = strchr(at, separator);
        if (at)
            *at++ = 0;
    }
    return n;
}

static FILE *open_table(void)
{
    const char *shared = getenv("TENON_SHARED"), *source = getenv("TENON_SOURCE");
    char path[1024];
    if (shared)
        snprintf(path, sizeof path, "%s/schema/dispatch_precedence.tsv", shared);
    else
        snprintf(path, sizeof path, "%s/../shared/schema/dispatch_precedence.tsv",
                 source ? source : ".");
    FILE *f = fopen(path, "r");
    if (f)
        return f;
    printf("skipped: %s is not there\n", path);
    cr_skip_test("no shared data");
    return NULL;
}

/* Registers an operator with a kernel under each key of the row. */
static const tn_op *register_row(tn__plugin *p, int row, char *keys)
{
    char schema[64], *names[MAX_COLUMNS];
    snprintf(schema, sizeof schema, "prec::f%d(Tensor x) -> Tensor", row);
    int n = strcmp(keys, "-") == 0 ? 0 : split(keys, ',', names);
    static int calls;
    tn_kernel_decl kernels[MAX_COLUMNS];
    for (int i = 0; i < n; i++) {
        kernels[i] = f_kernel(names[i], &calls, 0);
        kernels[i].schema = schema;
    }
    const tn_op_decl op = {.schema = schema};
    cr_assert_eq(register_all(p, &op, 1, kernels, (size_t)n), TN_OK, "row %d: %s", row,
                 tn_error_last()->message);
    return tn_op_find(schema);
}

static bool is_ours(const char *key)
{
    static const char *const ours[] = {
        "Undefined",   "CPU",          "CUDA",         "Meta",
        "AutogradCPU", "FPGA",         "AutogradCUDA", "ADInplaceOrView",
        "AutocastCPU", "BackendSelect"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strcmp(key, ours[i]) == 0)
            return true;
    return false;
}

Test(precedence, every_subset_chooses_as_pytorch_does)
{
    FILE *f = open_table();
    static char header[MAX_LINE], line[MAX_LINE];
    char *columns[MAX_COLUMNS], *cells[MAX_COLUMNS];
    static tn__plugin p;
    p = test_plugin("precedence");
    tn_registry r;
    int16_t type;
    tn__runtime_init();
    tn__registry_begin(&r, &p);
    cr_assert_eq(tn__registry_device(&r, &fpga, &type), TN_OK);
    cr_assert_eq(tn__registry_commit(&r), TN_OK);
    cr_assert(fgets(header, sizeof header, f));
    int n = split(header, '\t', columns), rows = 0, compared = 0, wrong = 0;
    for (; fgets(line, sizeof line, f); rows++) {
        cr_assert_eq(split(line, '\t', cells), n);
        char keys[256];
        snprintf(keys, sizeof keys, "%s", cells[0]);
        const tn_op *op = register_row(&p, rows, keys);
        for (int i = 1; i < n; i++) {
            const char *how = NULL;
            if (!is_ours(columns[i]) && strcmp(columns[i], "Functionalize") != 0)
                continue;
            tn_op_server(op, columns[i], &how);
            const char *expected = strcmp(columns[i], "Functionalize") == 0 ? "fallthrough"
                                                                            : how_of(cells[i]);
            if (strncmp(columns[i], "Autograd", 8) == 0 && strcmp(expected, "fallthrough") == 0)
                expected = "fallback";
            compared++;
            if (strcmp(how, expected) == 0)
                continue;
            if (wrong++ < 8)
                cr_log_error("row '%s', key %s: %s, expected %s", cells[0], columns[i], how,
                             expected);
        }
    }
    fclose(f);
    cr_assert_eq(wrong, 0, "%d of %d differ", wrong, compared);
    cr_assert_eq(rows, 256);
    cr_assert_eq(compared, 256 * 11);
}

/* doctor_coverage.c - how many operators each device has kernels for, and for which dtypes.
 *
 * A device is a dispatch key that some plugin registered a kernel under by name; wrappers
 * (Autograd, Autocast, Tracer) are no devices. A kernel counts for the dtypes that it claims. */
#include "doctor_impl.h"

#include <string.h>

#include <tenon/op.h>

static const char *const dtype_names[TN_DTYPE_COUNT] = {
    "bool", "u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "c64", "c128"};

typedef struct tally {
    int operators, served, composite;
    int by_dtype[TN_DTYPE_COUNT];
} tally;

static bool is_device(const char *key)
{
    static const char *const others[] = {"Autograd",      "Autocast",      "ADInplaceOrView",
                                         "BackendSelect", "Functionalize", "Tracer",
                                         "Undefined",     "Composite"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(key, others[i], strlen(others[i])) == 0)
            return false;
    return true;
}

/* False when no kernel stands under the key itself: nobody brought that device. */
static bool count(const char *key, tally *t)
{
    const tn_op *op;
    *t = (tally){0};
    for (size_t i = 0; (op = tn_op_at(i)); i++) {
        const char *how = "";
        const char *server = tn_op_server(op, key, &how);
        bool kernel = strcmp(how, "kernel") == 0, composite = strncmp(how, "Composite", 9) == 0;
        t->operators++;
        t->served += kernel;
        t->composite += composite;
        tn_dtypes dtypes = kernel || composite ? tn_op_dtypes(op, key) : 0;
        for (int d = 0; *server && d < TN_DTYPE_COUNT; d++)
            t->by_dtype[d] += (dtypes & TN_DTYPE_BIT(d)) != 0;
    }
    return t->served > 0;
}

static void put_text(const char *key, const tally *t)
{
    printf("%-8s %5d %9d %7d", key, t->served, t->composite,
           t->operators - t->served - t->composite);
    for (int d = 0; d < TN_DTYPE_COUNT; d++)
        printf(" %5d", t->by_dtype[d]);
    printf("\n");
}

static void put_json(const char *key, const tally *t)
{
    json_t *dtypes = json_object();
    for (int d = 0; d < TN_DTYPE_COUNT; d++)
        json_object_set_new(dtypes, dtype_names[d], json_integer(t->by_dtype[d]));
    tool_json_row(json_pack("{s:s, s:s, s:i, s:i, s:i, s:o}", "kind", "coverage", "key", key,
                            "kernels", t->served, "composite", t->composite, "missing",
                            t->operators - t->served - t->composite, "dtypes", dtypes));
}

static void put_head(void)
{
    printf("\n%-8s %5s %9s %7s", "device", "own", "composite", "missing");
    for (int d = 0; d < TN_DTYPE_COUNT; d++)
        printf(" %5s", dtype_names[d]);
    printf("   (operators)\n");
}

/* ---- every operator -------------------------------------------------------------------------- */
static json_t *dtypes_of(tn_dtypes dtypes)
{
    json_t *list = json_array();
    for (int d = 0; d < TN_DTYPE_COUNT; d++)
        if (dtypes & TN_DTYPE_BIT(d))
            json_array_append_new(list, json_string(dtype_names[d]));
    return list;
}

static void put_operator_json(const tn_op *op)
{
    json_t *devices = json_object();
    const char *key;
    for (int slot = 0; (key = tn_key_at(slot)); slot++) {
        const char *how = "", *server = is_device(key) ? tn_op_server(op, key, &how) : "";
        if (*server)
            json_object_set_new(devices, key,
                                json_pack("{s:o, s:s, s:o}", "plugin", tool_json_text(server),
                                          "how", how, "dtypes", dtypes_of(tn_op_dtypes(op, key))));
    }
    tool_json_row(json_pack("{s:s, s:s, s:s, s:o}", "kind", "operator", "operator", tn_op_name(op),
                            "schema", tn_op_schema(op), "devices", devices));
}

static void put_operator_text(const tn_op *op)
{
    const char *key;
    bool served = false;
    printf("%s\n", tn_op_name(op));
    for (int slot = 0; (key = tn_key_at(slot)); slot++) {
        const char *how = "", *server = is_device(key) ? tn_op_server(op, key, &how) : "";
        if (!*server)
            continue;
        served = true;
        tn_dtypes dtypes = tn_op_dtypes(op, key);
        printf("    %-8s %s, %s:", key, server, how);
        for (int d = 0; d < TN_DTYPE_COUNT; d++)
            if (dtypes & TN_DTYPE_BIT(d))
                printf(" %s", dtype_names[d]);
        printf("\n");
    }
    if (!served)
        printf("    no kernel\n");
}

void doctor_coverage(tool_format format, bool each)
{
    const char *key;
    const tn_op *op;
    bool head = false;
    for (size_t i = 0; each && (op = tn_op_at(i)); i++)
        format == TOOL_TEXT ? put_operator_text(op) : put_operator_json(op);
    for (int slot = 0; (key = tn_key_at(slot)); slot++) {
        tally t;
        if (!is_device(key) || !count(key, &t))
            continue;
        if (format == TOOL_TEXT && !head)
            put_head();
        head = true;
        if (format == TOOL_TEXT)
            put_text(key, &t);
        else
            put_json(key, &t);
    }
}

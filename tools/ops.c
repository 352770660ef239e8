/* ops.c - `tenon ops`: the operators, their schemas, and which plugin serves each dispatch key.
 *
 * Everything is read through tenon/op.h from the plugins that load by default. Keys that one plugin
 * serves in one way (a composite kernel serves every backend) are one entry of the text. */
#include <regex.h>
#include <string.h>

#include <tenon/op.h>
#include <tenon/runtime.h>

#include "tool.h"

static const char usage[] = "usage: tenon ops [PATTERN] [--plugin FILE] [--format text|json]\n"
                            "\n"
                            "Lists the operators whose name matches PATTERN (an extended regular "
                            "expression; aten::add.Tensor is\n"
                            "a name), their schemas, and the plugin that serves each dispatch key, "
                            "with how: kernel, or the\n"
                            "composite or fallback that stands in for one.\n"
                            "\n"
                            "  --plugin FILE   load this plugin too\n"
                            "\n"
                            "Exit status: 0 listed; 2 wrong use, or no operator matched.\n";

enum { MAX_KEYS = 128, KEY_NAME = 48 };

typedef struct served {
    char key[KEY_NAME]; /* a copy: tn_key_at may build the name anew in each call */
    const char *plugin, *how;
} served;

static int served_keys(const tn_op *op, served *out)
{
    int n = 0;
    const char *key;
    for (int slot = 0; (key = tn_key_at(slot)) && n < MAX_KEYS; slot++) {
        snprintf(out[n].key, KEY_NAME, "%s", key);
        const char *how = "", *plugin = tn_op_server(op, out[n].key, &how);
        out[n].plugin = *plugin ? plugin : "core";
        out[n].how = how;
        n += strcmp(how, "missing") != 0 && strcmp(how, "fallthrough") != 0;
    }
    return n;
}

static bool alike(const served *a, const served *b)
{
    return strcmp(a->plugin, b->plugin) == 0 && strcmp(a->how, b->how) == 0;
}

static void put_text(const tn_op *op)
{
    served keys[MAX_KEYS];
    int n = served_keys(op, keys);
    printf("%s\n", tn_op_schema(op));
    for (int i = 0; i < n; i++) {
        bool first = true;
        for (int j = 0; j < i && first; j++)
            first = !alike(&keys[j], &keys[i]);
        if (!first)
            continue;
        printf("    %s (%s):", keys[i].plugin, keys[i].how);
        for (int j = i; j < n; j++)
            if (alike(&keys[j], &keys[i]))
                printf(" %s", keys[j].key);
        putchar('\n');
    }
    if (n == 0)
        puts("    no plugin serves it");
}

static void put_json(const tn_op *op)
{
    served keys[MAX_KEYS];
    int n = served_keys(op, keys);
    json_t *row = json_object(), *list = json_object();
    json_object_set_new(row, "kind", json_string("op"));
    json_object_set_new(row, "name", tool_json_text(tn_op_name(op)));
    json_object_set_new(row, "schema", tool_json_text(tn_op_schema(op)));
    for (int i = 0; i < n; i++)
        json_object_set_new(
            list, keys[i].key,
            json_pack("{s:o, s:s}", "plugin", tool_json_text(keys[i].plugin), "how", keys[i].how));
    json_object_set_new(row, "keys", list);
    tool_json_row(row);
}

static int list(const regex_t *pattern, tool_format format)
{
    const tn_op *op;
    int listed = 0, unserved = 0;
    for (size_t i = 0; (op = tn_op_at(i)); i++) {
        served keys[MAX_KEYS];
        if (pattern && regexec(pattern, tn_op_name(op), 0, NULL, 0) != 0)
            continue;
        listed++;
        unserved += served_keys(op, keys) == 0;
        if (format == TOOL_JSON)
            put_json(op);
        else
            put_text(op);
    }
    if (format == TOOL_JSON)
        tool_json_row(json_pack("{s:s, s:i, s:i}", "kind", "summary", "operators", listed,
                                "unserved", unserved));
    else if (listed)
        printf("\n%d operators, %d of them without a kernel\n", listed, unserved);
    return listed ? TOOL_OK : tool_fail("no operator matched");
}

static int load(const char *plugin)
{
    if (tn_plugins_load_default() != TN_OK || (plugin && tn_plugin_load(plugin, NULL) != TN_OK))
        return tool_fail("%s", tn_error_last()->message);
    return TOOL_OK;
}

int tenon_cmd_ops(int argc, char **argv)
{
    const char *format_name = "text", *plugin = NULL;
    const tool_option options[] = {
        {"--format", &format_name, NULL}, {"--plugin", &plugin, NULL}, {0}};
    int n = tool_options(argc, argv, options, usage);
    if (n < 0)
        return tool_status(n);
    tool_format format = tool_format_parse(format_name, "text|json");
    if (format == TOOL_FORMAT_BAD)
        return TOOL_USAGE;
    if (n > 1)
        return tool_fail("ops takes one pattern at most; --help says more");
    regex_t pattern;
    int wrong = n == 1 ? regcomp(&pattern, argv[1], REG_EXTENDED | REG_NOSUB) : 0;
    if (wrong) {
        char why[200];
        regerror(wrong, &pattern, why, sizeof why);
        return tool_fail("'%s' is no regular expression: %s", argv[1], why);
    }
    int status = load(plugin);
    if (status == TOOL_OK)
        status = list(n == 1 ? &pattern : NULL, format);
    if (n == 1)
        regfree(&pattern);
    return status;
}

/* entry_keys.c - PyTorch's keys of an entry, each checked for the form of its value.
 *
 * Absent, null and wrong are told apart as PyTorch does: `python_module:` with nothing behind it is
 * absent, while `variants:` with nothing behind it is an error. */
#include "entry_impl.h"

#include <string.h>

static bool take_bool(cg_reader *r, const char *key, bool by_default)
{
    const cg_node *v = cg_node_get(r->node, key, NULL);
    if (!v)
        return by_default;
    if (v->kind != CG_NODE_BOOL) {
        cg_fail(r, v->pos,
                "'%s' must be True or False, found %s%s; write '%s: True' without quotes", key,
                cg_node_describe(v), v->kind == CG_NODE_STR && v->style != 'p' ? " in quotes" : "",
                key);
        return by_default;
    }
    return v->truth;
}

static void take_variants(cg_reader *r)
{
    static const char *const words[] = {"function", "method"};
    if (!cg_node_get(r->node, "variants", NULL))
        return;
    cg_str whole = cg_take_string(r, "variants", false, "function, method");
    const cg_str *parts = NULL;
    int n = whole.text ? cg_split(r, &whole, &parts) : 0;
    unsigned variants = 0;
    for (int i = 0; i < n; i++) {
        char hint[120];
        if (strcmp(parts[i].text, words[0]) == 0)
            variants |= CG_VARIANT_FUNCTION;
        else if (strcmp(parts[i].text, words[1]) == 0)
            variants |= CG_VARIANT_METHOD;
        else
            cg_fail(r, parts[i].pos, "unknown variant '%.60s'%s", parts[i].text,
                    cg_hint(hint, sizeof hint, (cg_words){words, 2}, parts[i].text));
    }
    if (variants)
        r->entry->variants = variants;
}

static void take_device_check(cg_reader *r)
{
    static const char *const words[] = {"NoCheck", "ExactSame"};
    cg_str s = cg_take_string(r, "device_check", true, "NoCheck");
    char hint[120];
    if (!s.text || strcmp(s.text, "ExactSame") == 0)
        return;
    if (strcmp(s.text, "NoCheck") == 0)
        r->entry->device_check = CG_DEVICE_CHECK_NO_CHECK;
    else
        cg_fail(r, s.pos, "unknown device_check '%.60s'%s", s.text,
                cg_hint(hint, sizeof hint, (cg_words){words, 2}, s.text));
}

static void take_tags(cg_reader *r)
{
    const cg_node *v = cg_node_get(r->node, "tags", NULL);
    cg_entry *e = r->entry;
    e->n_tags = 0;
    if (v && v->kind == CG_NODE_STR && strchr(v->text, ',')) {
        cg_fail(r, v->pos, "several tags in one string '%.60s'; write a list: 'tags: [%.60s]'",
                v->text, v->text);
        return;
    }
    e->n_tags = cg_take_words(r, "tags", &e->tags);
    for (int i = 0; i < e->n_tags; i++) {
        char hint[400];
        if (!cg_word_in(cg_tags, e->tags[i].text))
            cg_fail(r, e->tags[i].pos, "unknown tag '%.60s'%s", e->tags[i].text,
                    cg_hint(hint, sizeof hint, cg_tags, e->tags[i].text));
    }
}

static void take_autogen(cg_reader *r)
{
    const cg_node *v = cg_node_get(r->node, "autogen", NULL);
    if (v && v->kind == CG_NODE_STR && !v->text[0])
        return; /* an empty string is an empty list */
    cg_str whole = cg_take_string(r, "autogen", false, "foo, foo.out");
    if (whole.text)
        r->entry->n_autogen = cg_split(r, &whole, &r->entry->autogen);
}

static void take_no_default_args(cg_reader *r)
{
    const cg_node *v = cg_node_get(r->node, "cpp_no_default_args", NULL);
    if (v && v->kind != CG_NODE_LIST) {
        cg_fail(
            r, v->pos,
            "'cpp_no_default_args' must be a list, found %s; write 'cpp_no_default_args: [dim]'",
            cg_node_describe(v));
        return;
    }
    r->entry->n_cpp_no_default_args =
        cg_take_words(r, "cpp_no_default_args", &r->entry->cpp_no_default_args);
}

/* "int dim, int size" by the schema's own parser, as the arguments of a function. */
static bool parse_arguments(cg_reader *r, const cg_str *item, size_t at, cg_precomputed *out)
{
    const char *text = item->text + at;
    size_t n = strlen(text);
    char *func = cg_alloc(r, n + 16);
    if (!func)
        return false;
    memcpy(func, "f(", 2);
    memcpy(func + 2, text, n);
    memcpy(func + 2 + n, ") -> ()", 8);
    tn__schema_error err = {0, ""};
    const tn__schema *s = tn__schema_parse(r->arena, func, n + 9, false, &err);
    if (!s) {
        size_t column = err.column > 3 ? (size_t)err.column - 3 : 0;
        cg_fail(r, cg_at(item, at + (column < n ? column : n)), "%s", err.message);
        return false;
    }
    out->added = s->args;
    out->n_added = s->n_args;
    for (int i = 0; i < s->n_args; i++) {
        const char *name = s->args[i].name;
        if (name && strpbrk(name, "abcdefghijklmnopqrstuvwxyz"))
            continue;
        cg_fail(r, cg_at(item, at),
                "precomputed argument '%.60s' must have a lower case letter: its upper case "
                "form names a template parameter; write it in lower case",
                name ? name : "");
        return false;
    }
    return true;
}

static bool read_precomputed(cg_reader *r, const cg_node *node, bool is_last, cg_precomputed *out)
{
    static const char example[] = "'dim -> int dim, int size'";
    cg_str item = cg_str_of(node);
    out->pos = node->pos;
    if (node->kind != CG_NODE_STR) {
        cg_fail(r, node->pos, "'precomputed' must list strings, found %s; write %s",
                cg_node_describe(node), example);
        return false;
    }
    const char *arrow = strstr(item.text, " -> ");
    if (!arrow && !is_last) {
        cg_fail(r, node->pos, "only the last precomputed line may go without '->'; write %s",
                example);
        return false;
    }
    size_t n = arrow ? (size_t)(arrow - item.text) : 0;
    if (arrow && (n == 0 || memchr(item.text, ' ', n) || strstr(arrow + 1, " -> "))) {
        cg_fail(r, node->pos,
                "bad precomputed line '%.60s'; write one argument's name before one '->': %s",
                item.text, example);
        return false;
    }
    out->replaces = arrow ? cg_str_part(r, &item, 0, n).text : NULL;
    return parse_arguments(r, &item, arrow ? n + 4 : 0, out);
}

static void take_precomputed(cg_reader *r)
{
    const cg_node *v = cg_node_get(r->node, "precomputed", NULL);
    if (!v || v->kind == CG_NODE_NULL)
        return;
    if (v->kind != CG_NODE_LIST) {
        cg_fail(r, v->pos,
                "'precomputed' must be a list, found %s; write '- dim -> int dim' below it",
                cg_node_describe(v));
        return;
    }
    cg_precomputed *out = cg_alloc(r, ((size_t)v->n + 1) * sizeof *out);
    r->entry->precomputed = out;
    for (const cg_node *item = v->child; item && out; item = item->next)
        r->entry->n_precomputed +=
            read_precomputed(r, item, !item->next, &out[r->entry->n_precomputed]);
}

/* "add (AllAndComplex, BFloat16)" */
static bool read_ufunc(cg_reader *r, const char *key, cg_str value, cg_ufunc *out)
{
    const char *blank = strchr(value.text, ' ');
    size_t n = strlen(value.text);
    out->key = key;
    out->pos = value.pos;
    if (!blank || blank == value.text || blank[1] != '(' || value.text[n - 1] != ')') {
        cg_fail(r, value.pos, "bad ufunc_inner_loop '%.60s'; write 'name (All, BFloat16)'",
                value.text);
        return false;
    }
    size_t at = (size_t)(blank - value.text);
    cg_str list = cg_str_part(r, &value, at + 2, n - at - 3);
    const cg_str *parts = NULL;
    int n_parts = cg_split(r, &list, &parts);
    const char **names = cg_alloc(r, ((size_t)n_parts + 1) * sizeof *names);
    if (!names || n_parts == 0)
        return false;
    bool ok = true;
    for (int i = 0; i < n_parts; i++) {
        char hint[300];
        names[i] = parts[i].text;
        if (cg_word_in(cg_ufunc_dtypes, parts[i].text))
            continue;
        cg_fail(r, parts[i].pos, "unknown dtype '%.60s'%s", parts[i].text,
                cg_hint(hint, sizeof hint, cg_ufunc_dtypes, parts[i].text));
        ok = false;
    }
    out->name = cg_str_part(r, &value, 0, at).text;
    out->dtypes = names;
    out->n_dtypes = n_parts;
    return ok;
}

static void take_ufunc(cg_reader *r)
{
    const cg_node *v = cg_node_get(r->node, "ufunc_inner_loop", NULL);
    if (!v)
        return;
    bool whole = v->kind == CG_NODE_STR;
    if (!whole && v->kind != CG_NODE_MAP) {
        cg_fail(r, v->pos,
                "'ufunc_inner_loop' must be a string or a mapping, found %s; write 'Generic: add "
                "(All)' "
                "below it",
                cg_node_describe(v));
        return;
    }
    cg_ufunc *out = cg_alloc(r, ((size_t)v->n + 1) * sizeof *out);
    r->entry->ufunc_inner_loop = out;
    if (whole && out)
        r->entry->n_ufunc_inner_loop = read_ufunc(r, "Generic", cg_str_of(v), out);
    for (const cg_node *k = v->child; k && out; k = k->next->next) {
        char hint[200];
        if (!cg_word_in(cg_ufunc_keys, k->text))
            cg_fail(r, k->pos, "unknown ufunc_inner_loop key '%.60s'%s", k->text,
                    cg_hint(hint, sizeof hint, cg_ufunc_keys, k->text));
        else if (k->next->kind != CG_NODE_STR)
            cg_fail(r, k->next->pos,
                    "a ufunc_inner_loop must be a string, found %s; write 'name (All, BFloat16)'",
                    cg_node_describe(k->next));
        else if (read_ufunc(r, k->text, cg_str_of(k->next), &out[r->entry->n_ufunc_inner_loop]))
            r->entry->n_ufunc_inner_loop++;
    }
}

void cg_read_keys(cg_reader *r)
{
    cg_entry *e = r->entry;
    take_variants(r);
    e->manual_kernel_registration = take_bool(r, "manual_kernel_registration", false);
    e->manual_cpp_binding = take_bool(r, "manual_cpp_binding", false);
    e->use_const_ref_for_mutable_tensors = take_bool(r, "use_const_ref_for_mutable_tensors", false);
    e->device_guard = take_bool(r, "device_guard", true);
    take_device_check(r);
    e->structured = take_bool(r, "structured", false);
    e->structured_delegate = cg_take_string(r, "structured_delegate", true, "foo.out");
    e->structured_inherits = cg_take_string(r, "structured_inherits", true, "TensorIteratorBase");
    e->python_module = cg_take_string(r, "python_module", true, "nn");
    e->category_override = cg_take_string(r, "category_override", true, "dummy");
    take_precomputed(r);
    take_tags(r);
    take_autogen(r);
    take_no_default_args(r);
    take_ufunc(r);
}

/* samples.c - reads `samples`: each item is one call, its arguments by name.
 *
 * Shapes, dtypes and ranges of tensors are read here. Any other value is read by the schema's own
 * parser, as the default of the argument's type, so that what fits is what would fit there. */
#include "samples.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "entry_impl.h"
#include "expr.h"

enum { MOST_ELEMENTS = 1 << 20 };

typedef struct parser {
    cg_reader *r;
    cg_sample *sample;
    const char *at;
    int tensors; /* of the whole call */
    bool failed;
} parser;

/* Says the first error of a sample; false. */
__attribute__((format(printf, 3, 4))) static bool fail(parser *p, const char *at,
                                                       const char *format, ...)
{
    char message[512];
    va_list args;
    if (p->failed)
        return false;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    cg_fail(p->r, cg_at(&p->sample->text, (size_t)(at - p->sample->text.text)), "%s", message);
    p->failed = true;
    return false;
}

static bool take(parser *p, char c)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
    if (*p->at != c)
        return false;
    p->at++;
    return true;
}

static size_t word_length(const char *s)
{
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || s[n] == '_')
        n++;
    return isdigit((unsigned char)*s) ? 0 : n;
}

static bool take_word(parser *p, const char *word)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
    size_t n = word_length(p->at);
    if (n != strlen(word) || memcmp(p->at, word, n) != 0)
        return false;
    p->at += n;
    return true;
}

/* ---- tensors --------------------------------------------------------------------------------- */
static bool parse_shape(parser *p, cg_sample_tensor *t)
{
    int64_t elements = 1;
    const char *begin = p->at;
    if (!take(p, '['))
        return fail(p, p->at,
                    "a tensor is given by its shape; write [3, 4], or [] for one without "
                    "dimensions");
    while (!take(p, ']')) {
        if (t->ndim && !take(p, ','))
            return fail(p, p->at, "the shape is not closed; write ',' or ']' here");
        while (isspace((unsigned char)*p->at))
            p->at++;
        size_t digits = strspn(p->at, "0123456789");
        if (digits == 0 || digits > 7)
            return fail(p, p->at, "a size must be a whole number from 0 to 1048576");
        if (t->ndim == CG_SAMPLE_DIMS)
            return fail(p, p->at, "more than %d dimensions; use fewer", CG_SAMPLE_DIMS);
        t->sizes[t->ndim] = strtoll(p->at, NULL, 10);
        elements *= t->sizes[t->ndim++];
        p->at += digits;
        if (elements > MOST_ELEMENTS)
            return fail(p, begin, "the tensor has more than %d elements; make it smaller",
                        MOST_ELEMENTS);
    }
    return true;
}

static bool parse_number(parser *p, double *out)
{
    char *end;
    while (isspace((unsigned char)*p->at))
        p->at++;
    *out = strtod(p->at, &end);
    if (end == p->at || !isfinite(*out))
        return fail(p, p->at, "expected a number; write 'from 0 to 4'");
    p->at = end;
    return true;
}

static bool parse_range(parser *p, cg_sample_tensor *t)
{
    const char *begin = p->at;
    t->has_range = true;
    if (!parse_number(p, &t->lo))
        return false;
    if (!take_word(p, "to"))
        return fail(p, p->at, "expected 'to' and the largest value; write 'from 0 to 4'");
    if (!parse_number(p, &t->hi))
        return false;
    return t->lo <= t->hi || fail(p, begin, "the range begins behind its end; write 'from 0 to 4'");
}

/* "i64": one dtype, and one that Tenon has. */
static bool parse_dtype(parser *p, cg_sample_tensor *t)
{
    size_t n = word_length(p->at);
    char word[64], hint[300];
    snprintf(word, sizeof word, "%.*s", (int)(n < 60 ? n : 60), p->at);
    t->dtype = cg_dtypes_parse(word, strlen(word));
    if (!t->dtype)
        return fail(p, p->at, "unknown dtype '%s'%s", word,
                    cg_hint(hint, sizeof hint, cg_dtype_words, word));
    if (t->dtype & (t->dtype - 1) || !cg_own_dtypes(t->dtype))
        return fail(p, p->at, "'%s' is not one dtype of Tenon's; write one, as i64 or bool", word);
    p->at += n;
    return true;
}

static bool parse_tensor(parser *p, bool optional, cg_sample_tensor *t)
{
    if (optional && take_word(p, "None")) {
        t->absent = true;
        return true;
    }
    if (p->tensors++ == CG_SAMPLE_TENSORS)
        return fail(p, p->at, "more than %d tensors in one call; use fewer", CG_SAMPLE_TENSORS);
    if (!parse_shape(p, t))
        return false;
    bool range = take_word(p, "from");
    if (!range && word_length(p->at)) {
        if (!parse_dtype(p, t))
            return false;
        range = take_word(p, "from");
    }
    return !range || parse_range(p, t);
}

/* A Tensor, a Tensor?, a Tensor[] or what else is made of them. */
static bool parse_tensors(parser *p, const tn__type *type, cg_sample_arg *out)
{
    bool optional = type->kind == TN__TYPE_OPTIONAL;
    type = optional ? type->elem : type;
    bool is_list = type->kind == TN__TYPE_LIST;
    cg_sample_tensor *list = cg_alloc(p->r, CG_SAMPLE_TENSORS * sizeof *list);
    if (!list)
        return !(p->failed = true);
    out->tensors = list;
    if (!is_list)
        return parse_tensor(p, optional, &list[out->n_tensors++]);
    if (optional && take_word(p, "None")) {
        out->n_tensors = -1;
        return true;
    }
    if (!take(p, '['))
        return fail(p, p->at, "a list of tensors is a list of shapes; write [[3, 4], [2, 4]]");
    bool items_optional = type->elem->kind == TN__TYPE_OPTIONAL;
    while (!take(p, ']')) {
        if (out->n_tensors && !take(p, ','))
            return fail(p, p->at, "the list is not closed; write ',' or ']' here");
        if (out->n_tensors == CG_SAMPLE_TENSORS)
            return fail(p, p->at, "more than %d tensors in one call; use fewer", CG_SAMPLE_TENSORS);
        if (!parse_tensor(p, items_optional, &list[out->n_tensors++]))
            return false;
    }
    return true;
}

/* ---- other values ---------------------------------------------------------------------------- */
/* Up to the ',' or ')' that ends it; lists and strings are stepped over. */
static size_t value_length(const char *text)
{
    size_t i = 0;
    char quote = '\0';
    for (int depth = 0; text[i]; i++) {
        char c = text[i];
        if (quote) {
            i += c == '\\' && text[i + 1];
            quote = c == quote ? '\0' : quote;
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (depth == 0 && (c == ',' || c == ')')) {
            break;
        } else {
            depth += c == '[';
            depth -= c == ']' && depth > 0;
        }
    }
    return i;
}

static bool parse_value(parser *p, cg_sample_arg *out)
{
    static const char before[] = "f(", after[] = ") -> ()", theirs[] = "the default ";
    char type[200];
    size_t n = value_length(p->at);
    tn__type_print(out->arg->type, type, sizeof type);
    size_t lead = strlen(before) + strlen(type) + strlen(out->arg->name) + 2;
    char *text = cg_alloc(p->r, lead + n + sizeof after);
    if (!text)
        return !(p->failed = true);
    sprintf(text, "%s%s %s=%.*s%s", before, type, out->arg->name, (int)n, p->at, after);
    tn__schema_error err = {0, ""};
    out->value = tn__schema_parse(p->r->arena, text, strlen(text), true, &err);
    if (out->value && out->value->n_args == 1) {
        p->at += n;
        return true;
    }
    size_t at = err.column > (int)lead ? (size_t)err.column - 1 - lead : 0;
    bool ours = strncmp(err.message, theirs, sizeof theirs - 1) == 0;
    return fail(p, p->at + (at < n ? at : n), "%s%s", ours ? "the value " : "",
                err.message + (ours ? sizeof theirs - 1 : 0));
}

/* ---- a call ---------------------------------------------------------------------------------- */
static bool is_tensor(const tn__type *t)
{
    while (t->kind == TN__TYPE_OPTIONAL || t->kind == TN__TYPE_LIST)
        t = t->elem;
    return t->kind == TN__TYPE_TENSOR;
}

static const tn__arg *find_argument(parser *p)
{
    const tn__schema *s = p->r->entry->schema;
    const char *names[64];
    int n_names = 0;
    while (isspace((unsigned char)*p->at))
        p->at++;
    size_t n = word_length(p->at);
    for (int i = 0; i < s->n_args; i++) {
        if (strlen(s->args[i].name) == n && memcmp(s->args[i].name, p->at, n) == 0)
            return &s->args[i];
        if (n_names < 64)
            names[n_names++] = s->args[i].name;
    }
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)(n < 60 ? n : 60), p->at);
    const char *near = n ? cg_near(word, names, n_names) : NULL;
    if (n == 0)
        fail(p, p->at, "expected an argument's name; write (%s=[3, 4])",
             s->n_args ? s->args[0].name : "self");
    else
        fail(p, p->at, "there is no argument '%s'; %s%s%s", word,
             near ? "did you mean '" : "write one of the schema's", near ? near : "",
             near ? "'?" : "");
    return NULL;
}

static bool parse_argument(parser *p)
{
    cg_sample *s = p->sample;
    const tn__arg *arg = find_argument(p);
    if (!arg)
        return false;
    for (int i = 0; i < s->n_args; i++)
        if (s->args[i].arg == arg)
            return fail(p, p->at, "argument '%s' is given twice; remove one of the two", arg->name);
    if (arg->is_out)
        return fail(p, p->at, "'%s' is an out argument, which the harness gives; remove it",
                    arg->name);
    if (s->n_args == CG_SAMPLE_ARGS)
        return fail(p, p->at, "more than %d arguments in one call; leave defaults out",
                    CG_SAMPLE_ARGS);
    p->at += strlen(arg->name);
    if (!take(p, '='))
        return fail(p, p->at, "expected '=' and the value of '%s'; write %s=%s", arg->name,
                    arg->name, is_tensor(arg->type) ? "[3, 4]" : "1");
    cg_sample_arg *out = &s->args[s->n_args++];
    out->arg = arg;
    while (isspace((unsigned char)*p->at))
        p->at++;
    return is_tensor(arg->type) ? parse_tensors(p, arg->type, out) : parse_value(p, out);
}

static bool check_complete(parser *p)
{
    const tn__schema *s = p->r->entry->schema;
    for (int i = 0; i < s->n_args; i++) {
        bool given = s->args[i].def || s->args[i].is_out;
        for (int k = 0; k < p->sample->n_args; k++)
            given = given || p->sample->args[k].arg == &s->args[i];
        if (!given)
            return fail(p, p->sample->text.text,
                        "the sample does not give '%s', which has no default; write %s=%s",
                        s->args[i].name, s->args[i].name,
                        is_tensor(s->args[i].type) ? "[3, 4]" : "..");
    }
    return true;
}

static bool parse_sample(parser *p)
{
    if (!take(p, '('))
        return fail(p, p->at, "a sample is a call; write (self=[3, 4], dim=1)");
    for (bool first = true; !take(p, ')'); first = false) {
        if (!first && !take(p, ','))
            return fail(p, p->at, "the call is not closed; write ',' or ')' here");
        if (!parse_argument(p))
            return false;
    }
    p->sample->fails = take_word(p, "fails");
    while (isspace((unsigned char)*p->at))
        p->at++;
    if (*p->at)
        return fail(p, p->at, "nothing can follow the call but 'fails'; remove this");
    return check_complete(p);
}

void cg_read_samples(cg_reader *r)
{
    static const char example[] = "'samples:' and '- (self=[3, 4], dim=1)' on the next line";
    const cg_node *v = cg_node_get(r->node, "samples", NULL);
    if (!v || !r->entry->schema)
        return;
    if (v->kind != CG_NODE_LIST || v->n == 0) {
        cg_fail(r, v->pos, "'samples' must be a list of calls, found %s; write %s",
                v->kind == CG_NODE_LIST ? "an empty one" : cg_node_describe(v), example);
        return;
    }
    cg_sample *samples = cg_alloc(r, (size_t)v->n * sizeof *samples);
    int n = 0;
    for (const cg_node *item = v->child; samples && item; item = item->next) {
        if (item->kind != CG_NODE_STR) {
            cg_fail(r, item->pos, "'samples' must list calls, found %s; write %s",
                    cg_node_describe(item), example);
            continue;
        }
        cg_sample *s = &samples[n];
        *s = (cg_sample){.text = cg_str_of(item)}; /* one that failed was here */
        parser p = {.r = r, .sample = s, .at = s->text.text};
        n += parse_sample(&p);
    }
    r->entry->samples = samples;
    r->entry->n_samples = n;
}

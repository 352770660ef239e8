/* parse.c - the schema as a whole: name, arguments, returns.
 *
 * Recursive descent over the tokens of lex.c; types are parse_type.c's, defaults parse_value.c's.
 * What the grammar accepts is all that PyTorch's parsers accept; strict.c then adds the rules of a
 * new schema. */
#include "schema_impl.h"

#include <string.h>

static bool parse_name(tn__lex *x, tn__schema *s)
{
    static const char hint[] = "write 'name(Type argument, ...) -> Type'";
    if (x->tok != TN__TOK_IDENT)
        return tn__lex_unexpected(x, "the operator's name", hint);
    s->ns = "aten";
    s->overload = "";
    s->name = tn__lex_copy(x, x->start, x->end);
    tn__lex_next(x);
    if (tn__lex_accept(x, TN__TOK_COLONS)) {
        s->ns = s->name;
        s->ns_written = true;
        if (x->tok != TN__TOK_IDENT)
            return tn__lex_unexpected(x, "the operator's name after '::'", "write 'ns::name(...)'");
        s->name = tn__lex_copy(x, x->start, x->end);
        tn__lex_next(x);
        if (x->tok == TN__TOK_COLONS)
            return tn__lex_unexpected(x, "'.' or '('",
                                      "a name has one namespace: write 'ns::name(...)'");
    }
    if (tn__lex_accept(x, '.')) {
        if (x->tok != TN__TOK_IDENT)
            return tn__lex_unexpected(x, "the overload's name after '.'",
                                      "write 'name.overload(...)'");
        s->overload = tn__lex_copy(x, x->start, x->end);
        tn__lex_next(x);
    }
    return !x->failed;
}

static bool parse_default(tn__lex *x, tn__arg *arg)
{
    if (!tn__lex_accept(x, '='))
        return !x->failed;
    tn__value *v = tn__arena_alloc(x->arena, sizeof *v);
    if (!v)
        return tn__lex_no_memory(x);
    arg->def = v;
    return tn__parse_value(x, v);
}

static bool parse_argument(tn__lex *x, tn__arg *arg, bool kwonly)
{
    arg->column = (int)x->start + 1;
    arg->type = tn__parse_type(x);
    if (!arg->type)
        return false;
    if (x->tok != TN__TOK_IDENT) {
        char type[100], want[160], hint[160];
        tn__type_print(arg->type, type, sizeof type);
        snprintf(want, sizeof want, "a name for the argument of type '%s'", type);
        snprintf(hint, sizeof hint, "write '%s self'", type);
        return tn__lex_unexpected(x, want, hint);
    }
    arg->name = tn__lex_copy(x, x->start, x->end);
    arg->name_column = (int)x->start + 1;
    tn__lex_next(x);
    if (!arg->name || !parse_default(x, arg))
        return false;
    arg->kwonly = kwonly;
    const tn__alias *alias = tn__type_alias(arg->type);
    arg->is_out = kwonly && alias && alias->is_write;
    return true;
}

static bool append(tn__lex *x, tn__arg **list, int n, int *cap)
{
    *list = tn__vec_grow(x->arena, *list, n, cap, sizeof **list);
    return *list ? true : tn__lex_no_memory(x);
}

/* One of: an argument, '*', '...'. */
static bool parse_item(tn__lex *x, tn__schema *s, bool *kwonly, int *cap)
{
    size_t at = x->start;
    if (s->is_vararg)
        return tn__lex_fail(x, at, "'...' must be the last of the arguments; move it to the end");
    if (tn__lex_accept(x, '*')) {
        if (*kwonly)
            return tn__lex_fail(x, at, "a second '*'; one '*' starts the keyword-only arguments");
        *kwonly = true;
        s->n_positional = s->n_args;
        if (x->tok == ')')
            return tn__lex_unexpected(x, "a keyword-only argument after '*'",
                                      "write e.g. '*, int dim=0' or remove the '*'");
        return !x->failed;
    }
    if (tn__lex_accept(x, TN__TOK_DOTS)) {
        s->is_vararg = true;
        return !x->failed;
    }
    if (!append(x, &s->args, s->n_args, cap) || !parse_argument(x, &s->args[s->n_args], *kwonly))
        return false;
    s->n_args++;
    return true;
}

static bool parse_arguments(tn__lex *x, tn__schema *s)
{
    bool kwonly = false;
    int cap = 0;
    if (!tn__lex_accept(x, '('))
        return tn__lex_unexpected(x, "'(' after the operator's name",
                                  "write 'name(Tensor self) -> Tensor'");
    if (!tn__lex_accept(x, ')')) {
        do {
            if (!parse_item(x, s, &kwonly, &cap))
                return false;
        } while (tn__lex_accept(x, ','));
        if (!tn__lex_accept(x, ')'))
            return tn__lex_unexpected(x, "',' or ')' after an argument",
                                      "separate arguments by ', ' and close them with ')'");
    }
    if (!kwonly)
        s->n_positional = s->n_args;
    return !x->failed;
}

static bool parse_return(tn__lex *x, tn__schema *s, int *cap)
{
    if (s->is_varret)
        return tn__lex_fail(x, x->start,
                            "'...' must be the last of the returns; move it to the end");
    if (tn__lex_accept(x, TN__TOK_DOTS)) {
        s->is_varret = true;
        return !x->failed;
    }
    if (!append(x, &s->rets, s->n_rets, cap))
        return false;
    tn__arg *r = &s->rets[s->n_rets];
    r->column = (int)x->start + 1;
    r->type = tn__parse_type(x);
    if (!r->type)
        return false;
    if (x->tok == TN__TOK_IDENT) {
        r->name = tn__lex_copy(x, x->start, x->end);
        r->name_column = (int)x->start + 1;
        tn__lex_next(x);
    }
    if (x->tok == '=')
        return tn__lex_unexpected(x, "',' or the end after a return", "a return takes no default");
    s->n_rets++;
    return !x->failed;
}

static bool parse_returns(tn__lex *x, tn__schema *s)
{
    int cap = 0;
    if (!tn__lex_accept(x, TN__TOK_ARROW))
        return tn__lex_unexpected(x, "'->' after the arguments", "write '-> Tensor' or '-> ()'");
    s->returns_in_parens = tn__lex_accept(x, '(');
    if (!s->returns_in_parens)
        return parse_return(x, s, &cap);
    if (tn__lex_accept(x, ')'))
        return true;
    do {
        if (!parse_return(x, s, &cap))
            return false;
    } while (tn__lex_accept(x, ','));
    if (!tn__lex_accept(x, ')'))
        return tn__lex_unexpected(x, "',' or ')' after a return",
                                  "write '-> Tensor' or '-> (Tensor values, Tensor indices)'");
    return !x->failed;
}

static bool parse_schema(tn__lex *x, tn__schema *s)
{
    tn__lex_start(x);
    if (x->failed)
        return false;
    if (x->tok == TN__TOK_END)
        return tn__lex_fail(x, 0, "the schema is empty; write 'name(Type argument, ...) -> Type'");
    if (!parse_name(x, s) || !parse_arguments(x, s) || !parse_returns(x, s) || x->failed)
        return false;
    if (x->tok != TN__TOK_END)
        return tn__lex_unexpected(x, "the end of the schema",
                                  s->returns_in_parens ? "remove what follows the returns"
                                                       : "put several returns in parentheses");
    return !x->strict || tn__schema_strict(x, s);
}

const tn__schema *tn__schema_parse(tn__arena *a, const char *text, size_t n, bool strict,
                                   tn__schema_error *err)
{
    tn__schema_error unused;
    tn__lex x = {.text = text, .n = n, .strict = strict, .arena = a, .err = err ? err : &unused};
    x.err->column = 0;
    x.err->message[0] = '\0';
    tn__schema *s = tn__arena_alloc(a, sizeof *s);
    if (!s) {
        tn__lex_no_memory(&x);
        return NULL;
    }
    if (!parse_schema(&x, s))
        return NULL;
    s->text = tn__lex_copy(&x, 0, n);
    return s->text ? s : NULL;
}

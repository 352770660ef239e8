/* compat_pytorch.c - PyTorch's verdicts on a changed schema, holes included.
 *
 * The rules are facts about PyTorch's own check, written anew. Arguments before the first out
 * argument are compared by position, then the new ones among them must have defaults, then the out
 * arguments are compared by position; the first violation decides. Known holes, kept here and
 * closed in compat.c: what stands behind the out arguments is never looked at (backward), returns
 * and dropped arguments neither (forward). */
#include "compat_impl.h"

#include <stdio.h>
#include <string.h>

enum { SHOWN = 120 };

static const char *show(const tn__arg *arg, char *buf)
{
    tn__type_print(arg->type, buf, SHOWN);
    return buf;
}

static const char *or_none(const char *text)
{
    return text && *text ? text : "none";
}

static const tn__arg *find(const tn__schema *s, const char *name, int *index)
{
    for (*index = 0; *index < s->n_args; ++*index)
        if (strcmp(s->args[*index].name, name) == 0)
            return &s->args[*index];
    return NULL;
}

/* Two arguments at one position have two names: renamed, moved, or another one put before it? */
static bool same_place(const tn__schema *old, int i, const tn__schema *now, int j,
                       tn__compat_side *side)
{
    const char *before = old->args[i].name, *after = now->args[j].name;
    int k;
    if (strcmp(before, after) == 0)
        return true;
    if (find(now, before, &k)) {
        if (find(old, after, &k))
            return tn__compat_no(side, before,
                                 "argument '%.60s' changed places: position %d is now '%.60s'",
                                 before, j + 1, after);
        return tn__compat_no(
            side, after,
            "the new argument '%.60s' was put before '%.60s', which shifts what is "
            "passed by position",
            after, before);
    }
    if (find(old, after, &k))
        return tn__compat_no(side, before, "argument '%.60s' was removed", before);
    return tn__compat_no(side, before, "argument '%.60s' is now named '%.60s'", before, after);
}

/* What the two directions ask alike of a pair. Returns false at a "no". */
static bool same_shape(const tn__arg *old, const tn__arg *now, const char *what,
                       tn__compat_side *side)
{
    char a[SHOWN], b[SHOWN];
    if (tn__compat_list_size(old->type) != tn__compat_list_size(now->type))
        return tn__compat_no(side, now->name, "the list size of %s changed from %s to %s", what,
                             show(old, a), show(now, b));
    if (!tn__compat_alias_equal(old->type, now->type))
        return tn__compat_no(side, now->name, "the alias annotation of %s changed from %s to %s",
                             what, show(old, a), show(now, b));
    if (now->kwonly && !old->kwonly)
        return tn__compat_no(side, now->name, "%s can no longer be passed by position", what);
    return true;
}

static bool default_changed(const tn__arg *old, const tn__arg *now, tn__compat_side *side)
{
    if (!now->def)
        return tn__compat_no(side, now->name, "argument '%.60s' lost its default %.60s", now->name,
                             old->def->source);
    if (!old->def)
        return tn__compat_no(side, now->name,
                             "argument '%.60s' got a default %.60s, which older versions do not "
                             "know",
                             now->name, now->def->source);
    return tn__compat_no(side, now->name,
                         "the default of argument '%.60s' changed from %.60s to %.60s", now->name,
                         old->def->source, now->def->source);
}

typedef struct pair {
    const tn__schema *old, *now;
    int i, j; /* old->args[i], now->args[j] */
} pair;

static bool argument_backward(const pair *p, tn__compat_side *side)
{
    const tn__arg *old = &p->old->args[p->i], *now = &p->now->args[p->j];
    char what[100], a[SHOWN], b[SHOWN];
    snprintf(what, sizeof what, "%sargument '%.60s'", old->is_out ? "out " : "", now->name);
    if (!same_place(p->old, p->i, p->now, p->j, side) || !same_shape(old, now, what, side))
        return false;
    if (!tn__compat_subtype(old->type, now->type, true))
        return tn__compat_no(side, now->name,
                             "%s was %s and is now %s, which does not take all that it took", what,
                             show(old, a), show(now, b));
    if (old->def && !tn__compat_default_equal(old, now))
        return default_changed(old, now, side);
    return true;
}

static bool argument_forward(const pair *p, tn__compat_side *side)
{
    const tn__arg *old = &p->old->args[p->i], *now = &p->now->args[p->j];
    char what[100], a[SHOWN], b[SHOWN];
    snprintf(what, sizeof what, "%sargument '%.60s'", old->is_out ? "out " : "", now->name);
    if (!same_place(p->old, p->i, p->now, p->j, side) || !same_shape(old, now, what, side))
        return false;
    if (!tn__compat_default_equal(old, now))
        return default_changed(old, now, side);
    if (!tn__compat_subtype(now->type, old->type, true))
        return tn__compat_no(side, now->name,
                             "%s was %s and is now %s, of which older versions do not take all",
                             what, show(old, a), show(now, b));
    return true;
}

static bool return_backward(const tn__arg *old, const tn__arg *now, int index,
                            tn__compat_side *side)
{
    char what[40], a[SHOWN], b[SHOWN];
    const char *before = old->name ? old->name : "", *after = now->name ? now->name : "";
    snprintf(what, sizeof what, "return %d", index + 1);
    if (strcmp(before, after) != 0)
        return tn__compat_no(side, *before ? before : after, "%s %s%.60s%s and is now %s%.60s%s",
                             what, *before ? "was named '" : "had no name", before,
                             *before ? "'" : "", *after ? "named '" : "without one", after,
                             *after ? "'" : "");
    if (!same_shape(old, now, what, side))
        return false;
    if (!tn__compat_subtype(now->type, old->type, true))
        return tn__compat_no(side, old->name, "%s was %s and is now %s", what, show(old, a),
                             show(now, b));
    return true;
}

static bool same_operator(const tn__schema *old, const tn__schema *now, tn__compat_side *side)
{
    if (strcmp(old->ns, now->ns) != 0)
        return tn__compat_no(side, NULL, "the namespace changed from %.60s to %.60s", old->ns,
                             now->ns);
    if (strcmp(old->name, now->name) != 0)
        return tn__compat_no(side, NULL, "the name changed from %.60s to %.60s", old->name,
                             now->name);
    if (strcmp(old->overload, now->overload) != 0)
        return tn__compat_no(side, NULL, "the overload name changed from %.60s to %.60s",
                             or_none(old->overload), or_none(now->overload));
    if (old->is_vararg != now->is_vararg)
        return tn__compat_no(side, NULL, "'...' was %s the arguments",
                             now->is_vararg ? "added to" : "removed from");
    if (old->is_varret != now->is_varret)
        return tn__compat_no(side, NULL, "'...' was %s the returns",
                             now->is_varret ? "added to" : "removed from");
    if (old->n_rets != now->n_rets)
        return tn__compat_no(side, NULL, "the number of returns changed from %d to %d", old->n_rets,
                             now->n_rets);
    return true;
}

/* A no over which PyTorch's own check crashes. */
static bool crash(tn__compat_side *side)
{
    side->verdict = TN__VERDICT_ERROR;
    return false;
}

/* There are fewer arguments than before: names one that is gone. */
static bool removed(const tn__schema *old, const tn__schema *now, tn__compat_side *side)
{
    int i = 0, k;
    while (i + 1 < old->n_args && find(now, old->args[i].name, &k))
        i++;
    return tn__compat_no(side, old->args[i].name, "argument '%.60s' was removed",
                         old->args[i].name);
}

/* An argument before the out arguments that every old call lacks. */
static bool no_default(const tn__schema *old, const tn__arg *arg, tn__compat_side *side)
{
    int k;
    const tn__arg *before = find(old, arg->name, &k);
    if (before && before->is_out)
        return tn__compat_no(side, arg->name,
                             "'%.60s' is no longer an out argument, which is "
                             "keyword-only and written",
                             arg->name);
    return tn__compat_no(side, arg->name, "the new argument '%.60s' has no default", arg->name);
}

static bool backward(const tn__schema *old, const tn__schema *now, tn__compat_side *side)
{
    if (!same_operator(old, now, side))
        return false;
    if (now->n_args < old->n_args)
        return removed(old, now, side);
    for (int i = 0; i < old->n_rets; i++)
        if (!return_backward(&old->rets[i], &now->rets[i], i, side))
            return false;
    int old_out = tn__compat_first_out(old), new_out = tn__compat_first_out(now);
    for (int i = 0; i < old_out; i++)
        if (!argument_backward(&(pair){old, now, i, i}, side))
            return false;
    for (int i = old_out; i < new_out; i++)
        if (!now->args[i].def)
            return no_default(old, &now->args[i], side);
    for (int i = old_out; i < old->n_args; i++) {
        if (i - old_out + new_out >= now->n_args) { /* PyTorch looks behind the end, and throws */
            tn__compat_no(side, old->args[i].name, "out argument '%.60s' was removed",
                          old->args[i].name);
            return crash(side);
        }
        if (!argument_backward(&(pair){old, now, i, i - old_out + new_out}, side))
            return false;
    }
    return true;
}

static bool new_argument_forward(const tn__arg *arg, tn__compat_side *side)
{
    if (!arg->def)
        return tn__compat_no(side, arg->name, "the new argument '%.60s' has no default", arg->name);
    const tn__type *t = arg->type->kind == TN__TYPE_OPTIONAL ? arg->type->elem : arg->type;
    bool fills_list = arg->type->kind == TN__TYPE_LIST && arg->def->kind != TN__VALUE_NONE;
    if (arg->def->kind == TN__VALUE_LIST || fills_list)
        return tn__compat_no(side, arg->name,
                             "the default %.60s of the new argument '%.60s' is a %s, so an older "
                             "version cannot tell that it was left alone",
                             arg->def->source, arg->name, tn__type_kind_name(t->kind));
    return true;
}

static bool forward(const tn__schema *old, const tn__schema *now, tn__compat_side *side)
{
    if (!same_operator(old, now, side))
        return false;
    int old_out = tn__compat_first_out(old), new_out = tn__compat_first_out(now);
    int n_old = old->n_args - old_out, n_now = now->n_args - new_out;
    if (n_old != n_now)
        return tn__compat_no(
            side, NULL,
            "the number of arguments from the first out argument on changed from %d "
            "to %d",
            n_old, n_now);
    for (int i = 0; i < old_out && i < new_out; i++)
        if (!argument_forward(&(pair){old, now, i, i}, side))
            return false;
    for (int i = old_out; i < new_out; i++)
        if (!new_argument_forward(&now->args[i], side))
            return false;
    for (int i = 0; i < n_old; i++) {
        if (argument_forward(&(pair){old, now, old_out + i, new_out + i}, side))
            continue;
        /* PyTorch looks up the name for its message at the old position in the new schema. */
        return old_out + i < now->n_args ? false : crash(side);
    }
    return true;
}

void tn__compat_pytorch_backward(const tn__schema *old, const tn__schema *now,
                                 tn__compat_side *side)
{
    memset(side, 0, sizeof *side);
    if (backward(old, now, side))
        side->verdict = TN__VERDICT_YES;
}

void tn__compat_pytorch_forward(const tn__schema *old, const tn__schema *now, tn__compat_side *side)
{
    memset(side, 0, sizeof *side);
    if (forward(old, now, side))
        side->verdict = TN__VERDICT_YES;
}

/* ---- what PyTorch's parser makes of the texts ------------------------------------------------ */

/* The first argument without a default that is passed by position behind one with a default. Lists
 * do not count: old programs were stored with int[2] arguments that had lost their default. */
static const tn__arg *misplaced(const tn__schema *s)
{
    bool defaulted = false;
    for (int i = 0; i < s->n_positional; i++) {
        if (!s->args[i].def && defaulted && s->args[i].type->kind != TN__TYPE_LIST)
            return &s->args[i];
        defaulted = defaulted || s->args[i].def;
    }
    return NULL;
}

static bool read_alike(const tn__schema *old, const tn__schema *now, tn__compat_side *side)
{
    const tn__arg *arg = misplaced(old);
    arg = arg ? arg : misplaced(now);
    if (arg) {
        tn__compat_no(side, arg->name,
                      "argument '%.60s' has no default and stands behind one that has; PyTorch's "
                      "parser crashes on this schema",
                      arg->name);
        side->verdict = TN__VERDICT_ERROR;
        return false;
    }
    if (old->ns_written == now->ns_written)
        return true;
    const tn__schema *with = old->ns_written ? old : now;
    return tn__compat_no(side, NULL, "the namespace '%.60s' is written in the %s schema only",
                         with->ns, with == old ? "old" : "new");
}

static void tell_crash(tn__compat_side *side)
{
    static const char told[] = "; PyTorch's own check crashes on this pair";
    size_t n = strlen(side->reason);
    if (side->verdict == TN__VERDICT_ERROR && n + sizeof told <= sizeof side->reason)
        memcpy(side->reason + n, told, sizeof told);
}

void tn__compat_pytorch(const tn__schema *old, const tn__schema *now, tn__compat *out)
{
    if (!read_alike(old, now, &out->bc)) {
        out->fc = out->bc;
        return;
    }
    tn__compat_pytorch_backward(old, now, &out->bc);
    tn__compat_pytorch_forward(old, now, &out->fc);
    tell_crash(&out->bc);
    tell_crash(&out->fc);
}

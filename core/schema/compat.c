/* compat.c - our verdicts: PyTorch's, and then what its rules overlook.
 *
 * Where PyTorch says no we say no, with its reason; where its check crashes, no. Where it says yes,
 * the rules below still look for what breaks a caller or a stored program. docs/schema-compat.md
 * shows a pair for each. */
#include "compat_impl.h"

#include <stdarg.h>
#include <string.h>

enum { SHOWN = 120 };

bool tn__compat_no(tn__compat_side *side, const char *argument, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    side->verdict = TN__VERDICT_NO;
    snprintf(side->argument, sizeof side->argument, "%s", argument ? argument : "");
    vsnprintf(side->reason, sizeof side->reason, format, ap);
    va_end(ap);
    return false;
}

int tn__compat_first_out(const tn__schema *s)
{
    int i = 0;
    while (i < s->n_args && !s->args[i].is_out)
        i++;
    return i;
}

const char *tn__verdict_name(tn__verdict v)
{
    static const char *const names[] = {"no", "yes", "error"};
    return names[v];
}

/* The argument of the other schema that stands for args[i] of this one, by PyTorch's pairing: by
 * position before the out arguments, and from the first out argument on. NULL when there is none.
 */
static const tn__arg *partner(const tn__schema *s, int i, const tn__schema *other)
{
    int out = tn__compat_first_out(s), other_out = tn__compat_first_out(other);
    if (i < out)
        return i < other_out ? &other->args[i] : NULL;
    i += other_out - out;
    return i < other->n_args ? &other->args[i] : NULL;
}

/* A new positional argument takes a place that '...' had. */
static bool same_vararg_start(const tn__schema *old, const tn__schema *now, tn__compat_side *side)
{
    if (!old->is_vararg || old->n_positional == now->n_positional)
        return true;
    return tn__compat_no(side, NULL,
                         "the number of arguments before '...' changed from %d to %d, which shifts "
                         "what '...' collects",
                         old->n_positional, now->n_positional);
}

/* The texts of two types; both buffers hold SHOWN bytes. */
static void show(const tn__type *x, char *a, const tn__type *y, char *b)
{
    tn__type_print(x, a, SHOWN);
    tn__type_print(y, b, SHOWN);
}

static bool backward(const tn__schema *old, const tn__schema *now, tn__compat_side *side)
{
    char a[SHOWN], b[SHOWN];
    if (!same_vararg_start(old, now, side))
        return false;
    for (int i = 0; i < now->n_args; i++) {
        const tn__arg *arg = &now->args[i], *before = partner(now, i, old);
        if (!before && !arg->def)
            return tn__compat_no(side, arg->name, "the new argument '%.60s' has no default",
                                 arg->name);
        if (!before || tn__compat_subtype(before->type, arg->type, false))
            continue;
        show(before->type, a, arg->type, b);
        return tn__compat_no(side, arg->name, "argument '%.60s' took %s and now takes %s",
                             arg->name, a, b);
    }
    for (int i = 0; i < old->n_rets; i++) {
        if (tn__compat_subtype(now->rets[i].type, old->rets[i].type, false))
            continue;
        show(old->rets[i].type, a, now->rets[i].type, b);
        return tn__compat_no(side, old->rets[i].name, "return %d was %s and is now %s", i + 1, a,
                             b);
    }
    return true;
}

static bool return_forward(const tn__arg *old, const tn__arg *now, int n, tn__compat_side *side)
{
    char a[SHOWN], b[SHOWN];
    int64_t size = tn__compat_list_size(now->type);
    show(old->type, a, now->type, b);
    if (now->name && (!old->name || strcmp(old->name, now->name) != 0))
        return tn__compat_no(side, now->name,
                             "return %d is named '%.60s', which older versions do not know", n,
                             now->name);
    if (!tn__compat_alias_equal(old->type, now->type))
        return tn__compat_no(side, now->name,
                             "the alias annotation of return %d changed from %s to %s", n, a, b);
    if (size >= 0 && size != tn__compat_list_size(old->type))
        return tn__compat_no(side, now->name, "the list size of return %d changed from %s to %s", n,
                             a, b);
    if (!tn__compat_subtype(old->type, now->type, false))
        return tn__compat_no(side, now->name, "return %d is now %s, but older versions return %s",
                             n, b, a);
    return true;
}

static bool forward(const tn__schema *old, const tn__schema *now, tn__compat_side *side)
{
    char a[SHOWN], b[SHOWN];
    if (!same_vararg_start(old, now, side))
        return false;
    for (int i = 0; i < old->n_args; i++) {
        const tn__arg *before = &old->args[i], *arg = partner(old, i, now);
        if (!arg && !before->def)
            return tn__compat_no(side, before->name,
                                 "argument '%.60s' was removed, and older versions require it",
                                 before->name);
        if (arg && before->kwonly && !arg->kwonly)
            return tn__compat_no(side, before->name,
                                 "argument '%.60s' can now be passed by position, which older "
                                 "versions refuse",
                                 before->name);
        if (!arg || tn__compat_subtype(arg->type, before->type, false))
            continue;
        show(before->type, a, arg->type, b);
        return tn__compat_no(side, before->name,
                             "argument '%.60s' takes %s, but older versions take %s", before->name,
                             b, a);
    }
    for (int i = 0; i < old->n_rets; i++)
        if (!return_forward(&old->rets[i], &now->rets[i], i + 1, side))
            return false;
    return true;
}

/* ---- the frame ------------------------------------------------------------------------------- */

/* Types that have one field in a frame: int and SymInt, Tensor and Tensor?, but not int and int?.
 */
static bool same_field(const tn__type *a, const tn__type *b)
{
    if (a->kind == TN__TYPE_OPTIONAL && b->kind == TN__TYPE_OPTIONAL)
        return same_field(a->elem, b->elem);
    if (a->kind == TN__TYPE_OPTIONAL || b->kind == TN__TYPE_OPTIONAL) {
        const tn__type *inner = a->kind == TN__TYPE_OPTIONAL ? a->elem : b->elem;
        bool marks_absence = inner->kind >= TN__TYPE_INT && inner->kind <= TN__TYPE_SYMBOOL;
        return !marks_absence && same_field(a->kind == TN__TYPE_OPTIONAL ? a->elem : a,
                                            b->kind == TN__TYPE_OPTIONAL ? b->elem : b);
    }
    if (a->kind == TN__TYPE_LIST && b->kind == TN__TYPE_LIST)
        return same_field(a->elem, b->elem);
    return (tn__compat_subtype(a, b, false) || tn__compat_subtype(b, a, false)) &&
           (a->kind == TN__TYPE_SCALAR) == (b->kind == TN__TYPE_SCALAR) &&
           (a->kind == TN__TYPE_ANY) == (b->kind == TN__TYPE_ANY);
}

/* Results first, then the arguments in order: old fields must keep their places, new ones stand at
 * the end. */
static bool frame_grows(const tn__schema *old, const tn__schema *now, tn__compat_side *side)
{
    static const char rebuild[] =
        "C callers and kernels compiled against the old schema must be rebuilt";
    for (int i = 0; i < old->n_rets; i++)
        if (i >= now->n_rets || !same_field(old->rets[i].type, now->rets[i].type))
            return tn__compat_no(side, old->rets[i].name,
                                 "the frame's field of return %d changes; %s", i + 1, rebuild);
    for (int i = 0; i < old->n_args; i++) {
        const tn__arg *before = &old->args[i], *arg = i < now->n_args ? &now->args[i] : NULL;
        if (!arg)
            return tn__compat_no(side, before->name, "the frame's field '%.60s' is gone; %s",
                                 before->name, rebuild);
        if (strcmp(before->name, arg->name) != 0)
            return tn__compat_no(side, arg->name,
                                 "in the frame '%.60s' now stands where '%.60s' stood; %s",
                                 arg->name, before->name, rebuild);
        if (!same_field(before->type, arg->type))
            return tn__compat_no(side, before->name,
                                 "the frame's field '%.60s' changes its type; %s", before->name,
                                 rebuild);
    }
    return now->n_rets == old->n_rets
               ? true
               : tn__compat_no(side, NULL, "the frame has more results; %s", rebuild);
}

static void decide(tn__compat_side *side, bool yes)
{
    if (yes)
        side->verdict = TN__VERDICT_YES;
}

/* Where PyTorch's check crashes the pair is refused: it crashes over an argument that does not
 * fit. */
static void refuse_crash(tn__compat_side *side)
{
    if (side->verdict == TN__VERDICT_ERROR)
        side->verdict = TN__VERDICT_NO;
}

void tn__schema_compat(const tn__schema *old, const tn__schema *now, tn__compat_rules rules,
                       tn__compat *out)
{
    memset(out, 0, sizeof *out);
    if (rules == TN__COMPAT_PYTORCH) {
        out->frame.verdict = TN__VERDICT_YES;
        tn__compat_pytorch(old, now, out);
        return;
    }
    tn__compat_pytorch_backward(old, now, &out->bc);
    tn__compat_pytorch_forward(old, now, &out->fc);
    refuse_crash(&out->bc);
    refuse_crash(&out->fc);
    if (out->bc.verdict == TN__VERDICT_YES)
        decide(&out->bc, backward(old, now, &out->bc));
    if (out->fc.verdict == TN__VERDICT_YES)
        decide(&out->fc, forward(old, now, &out->fc));
    decide(&out->frame, frame_grows(old, now, &out->frame));
}

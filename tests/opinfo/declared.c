/* declared.c - samples that a plugin's YAML declares (`samples`), as calls.
 *
 * Each call is made as it is written, and once in every other layout: what a shape says of an
 * operator holds for any strides. Values follow from the seed, the operator, the dtype and the
 * sample's number, as everywhere. */
#include "generic.h"

#include <string.h>

#include "codegen/expr.h"

enum { LARGE = 1 << 13 };

/* A dtype of the generator's numbering as one of Tenon's. */
static tn_dtype one_dtype(cg_dtypes bit)
{
    tn_dtypes own = cg_own_dtypes(bit);
    tn_dtype d = 0;
    while (!(own >> d & 1))
        d++;
    return d;
}

/* With stride 0 all rows are one. */
static void repeat_first_row(oi_array *a)
{
    int64_t row = a->ndim && a->sizes[0] ? a->numel / a->sizes[0] : 0;
    for (int64_t i = row; row && i < a->numel; i++)
        a->v[i] = a->v[i % row];
}

static bool can_lie(const oi_array *a, oi_layout layout)
{
    switch (layout) {
    case OI_TRANSPOSED:
        return a->ndim > 1;
    case OI_EXPANDED:
        return a->ndim > 0 && a->numel > 0;
    case OI_HUGE: /* guard.c has memory for four rows */
        return a->ndim > 0 && a->numel > 0 && a->sizes[0] > 1 && a->sizes[0] <= 4;
    default:
        return true;
    }
}

static oi_tensor make_tensor(const oi_row *row, oi_rng *r, const cg_sample_tensor *t, tn_dtype d,
                             oi_layout layout)
{
    oi_tensor out = {.absent = t->absent, .fixed = t->dtype != 0};
    if (t->absent)
        return out;
    if (out.fixed)
        d = one_dtype(t->dtype);
    out.a = t->has_range ? oi_values_in(r, d, t->ndim, t->sizes, t->lo, t->hi)
                         : oi_values(row, r, d, t->ndim, t->sizes);
    out.layout = can_lie(&out.a, layout) ? layout : OI_ROW;
    if (out.layout == OI_EXPANDED)
        repeat_first_row(&out.a);
    return out;
}

static const tn_field *field_of(const tn_op *op, const char *name)
{
    int n_results, n_args;
    const tn_field *f = tn_op_fields(op, &n_results, &n_args) + n_results;
    for (int k = 0; k < n_args; k++)
        if (strcmp(f[k].name, name) == 0)
            return &f[k];
    return NULL;
}

static void add_tensors(const oi_row *row, oi_rng *r, const cg_sample_arg *from, tn_dtype d,
                        oi_layout layout, oi_arg *to)
{
    to->n = from->n_tensors;
    to->tensors = oi_alloc((size_t)(to->n > 0 ? to->n : 1) * sizeof *to->tensors);
    for (int64_t i = 0; i < to->n; i++)
        to->tensors[i] = make_tensor(row, r, &from->tensors[i], d, layout);
}

/* A value stands in its own frame, as a default. */
static bool add_value(oi_generic *g, const cg_sample_arg *from, oi_arg *to)
{
    const tn__layout *l = tn__layout_new(&g->arena, from->value);
    if (!l || !l->callable)
        return false;
    to->raw = l->defaults + l->fields[l->n_results].offset;
    if (to->kind == TN_FIELD_SCALAR) /* what expressions read */
        memcpy(&to->scalar, to->raw, sizeof to->scalar);
    return true;
}

static int64_t elements(const oi_sample *s)
{
    int64_t n = 0;
    for (int k = 0; k < s->n_args; k++)
        for (int64_t i = 0; s->args[k].tensors && i < s->args[k].n; i++)
            n += s->args[k].tensors[i].a.numel;
    return n;
}

/* Does any tensor lie in this layout? */
static bool is_laid(const oi_sample *s, oi_layout layout)
{
    for (int k = 0; k < s->n_args; k++)
        for (int64_t i = 0; s->args[k].tensors && i < s->args[k].n; i++)
            if (!s->args[k].tensors[i].absent && s->args[k].tensors[i].layout == layout)
                return true;
    return false;
}

/* "self=[3, 4], weight=[4], transposed": what messages call it. */
static const char *name_of(const cg_sample *from, oi_layout layout)
{
    static const char *const names[OI_LAYOUTS] = {
        "", ", transposed", ", gaps", ", stride 0", ", a stride over 2 GiB", ", misaligned"};
    char *name = oi_alloc(160);
    const char *text = from->text.text, *end = strrchr(text, ')');
    int n = (int)(end - text) - 1;
    snprintf(name, 160, "%.*s%s%s", n < 120 ? n : 120, text + 1, n < 120 ? "" : "..",
             names[layout]);
    return name;
}

static oi_sample *add(const oi_row *row, oi_samples *out, const cg_sample *from, tn_dtype d,
                      uint64_t seed, oi_layout layout)
{
    oi_generic *g = (oi_generic *)row->data;
    oi_sample *s = oi_sample_new(out, name_of(from, layout));
    oi_rng r = oi_rng_make(seed, row->op, d, s->number);
    for (int k = 0; k < from->n_args; k++) {
        const cg_sample_arg *a = &from->args[k];
        const tn_field *f = field_of(g->op, a->arg->name);
        oi_arg *to = &s->args[s->n_args];
        if (!f)
            continue;
        *to = (oi_arg){.name = f->name, .kind = f->kind};
        bool plain = f->flags & TN_FIELD_WRITTEN && layout != OI_TRANSPOSED && layout != OI_GAPPED;
        if (a->tensors)
            add_tensors(row, &r, a, d, plain ? OI_ROW : layout, to);
        s->n_args += a->tensors || add_value(g, a, to);
        s->by_value |= a->tensors && a->n_tensors > 0 && a->tensors[0].has_range;
    }
    s->error = from->fails;
    s->by_value = s->by_value && s->error;
    s->large = !s->error && elements(s) > LARGE;
    return s;
}

void oi_declared_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    const oi_generic *g = row->data;
    for (int i = 0; i < g->entry->n_samples; i++) {
        const cg_sample *from = &g->entry->samples[i];
        const oi_sample *s = add(row, out, from, d, seed, OI_ROW);
        bool once = s->error || s->large || elements(s) == 0;
        for (oi_layout layout = OI_TRANSPOSED; !once && layout < OI_LAYOUTS; layout++)
            if (!is_laid(add(row, out, from, d, seed, layout), layout))
                out->n--; /* it has none for it */
    }
}

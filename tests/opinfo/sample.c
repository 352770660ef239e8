/* sample.c - building a call's arguments as data, before any device or frame is thought of. */
#include "opinfo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

oi_sample *oi_sample_new(oi_samples *s, const char *what)
{
    if (s->n == s->cap) {
        oi_sample *bigger = oi_alloc((size_t)(s->cap * 2 + 32) * sizeof *bigger);
        if (s->n)
            memcpy(bigger, s->list, (size_t)s->n * sizeof *bigger);
        s->list = bigger;
        s->cap = s->cap * 2 + 32;
    }
    oi_sample *sample = &s->list[s->n];
    memset(sample, 0, sizeof *sample);
    sample->number = s->n++;
    sample->what = what;
    return sample;
}

static oi_arg *add(oi_sample *s, const char *name, tn_field_kind kind)
{
    oi_arg *a = &s->args[s->n_args++];
    a->name = name;
    a->kind = kind;
    return a;
}

oi_tensor *oi_arg_tensor(oi_sample *s, const char *name, oi_array array, oi_layout layout)
{
    oi_arg *a = add(s, name, TN_FIELD_TENSOR);
    a->n = 1;
    a->tensors = oi_alloc(sizeof *a->tensors);
    a->tensors->a = array;
    a->tensors->layout = layout;
    return a->tensors;
}

oi_tensor *oi_arg_tensors(oi_sample *s, const char *name, int n)
{
    oi_arg *a = add(s, name, TN_FIELD_TENSORS);
    a->n = n;
    a->tensors = oi_alloc((size_t)n * sizeof *a->tensors);
    return a->tensors;
}

void oi_arg_int(oi_sample *s, const char *name, tn_field_kind kind, int64_t v)
{
    oi_arg *a = add(s, name, kind);
    a->n = 1;
    a->ints[0] = v;
}

void oi_arg_ints(oi_sample *s, const char *name, int n, const int64_t *v)
{
    oi_arg *a = add(s, name, TN_FIELD_INTS);
    a->n = n;
    for (int k = 0; k < n; k++)
        a->ints[k] = v[k];
}

void oi_arg_scalar(oi_sample *s, const char *name, tn_scalar v)
{
    add(s, name, TN_FIELD_SCALAR)->scalar = v;
}

void oi_arg_text(oi_sample *s, const char *name, const char *text)
{
    add(s, name, TN_FIELD_STR)->text = text;
}

const oi_arg *oi_find(const oi_sample *s, const char *name)
{
    for (int k = 0; k < s->n_args; k++)
        if (strcmp(s->args[k].name, name) == 0)
            return &s->args[k];
    return NULL;
}

const oi_array *oi_input(const oi_sample *s, const char *name)
{
    const oi_arg *a = oi_find(s, name);
    return a && a->kind == TN_FIELD_TENSOR && !a->tensors->absent ? &a->tensors->a : NULL;
}

int64_t oi_get_int(const oi_sample *s, const char *name, int64_t or_else)
{
    const oi_arg *a = oi_find(s, name);
    return a && a->n > 0 ? a->ints[0] : or_else;
}

/* ---- values ---------------------------------------------------------------------------------- */
static oi_num value(oi_rng *r, tn_dtype d, double lo, double hi)
{
    if (d == TN_BOOL)
        return oi_int((int64_t)(oi_random(r) >> 63));
    if (oi_is_integral(d)) {
        double least = d == TN_U8 && lo < 0 ? 0 : ceil(lo);
        return oi_int(
            oi_uniform_int(r, (int64_t)(least <= hi ? least : floor(hi)), (int64_t)floor(hi)));
    }
    oi_num v = oi_float(oi_uniform(r, lo, hi));
    if (oi_is_complex(d))
        v.im = oi_uniform(r, lo, hi);
    return oi_cast(v, TN_F64, d);
}

oi_array oi_values_in(oi_rng *r, tn_dtype d, int ndim, const int64_t *sizes, double lo, double hi)
{
    oi_array a = oi_array_new(d, ndim, sizes);
    for (int64_t i = 0; i < a.numel; i++)
        a.v[i] = value(r, d, lo, hi);
    return a;
}

oi_array oi_values(const oi_row *row, oi_rng *r, tn_dtype d, int ndim, const int64_t *sizes)
{
    bool usual = row->lo == 0 && row->hi == 0;
    return oi_values_in(r, d, ndim, sizes, usual ? -4 : row->lo, usual ? 4 : row->hi);
}

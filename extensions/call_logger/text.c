/* text.c - a field of a frame as text: one case for each kind that a frame can hold. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "call_logger.h"

void line_add(line *l, const char *format, ...)
{
    va_list ap;
    size_t room = sizeof l->text - l->n;
    va_start(ap, format);
    int n = vsnprintf(l->text + l->n, room, format, ap);
    va_end(ap);
    if (n < 0 || (size_t)n < room) {
        l->n += n > 0 ? (size_t)n : 0;
        return;
    }
    l->n = sizeof l->text - 1;
    memcpy(l->text + l->n - 3, "...", 3);
}

static void add_tensor(line *l, const tn_tensor *t)
{
    if (!t) {
        line_add(l, "none");
        return;
    }
    line_add(l, "%s[", tn->dtype_name(t->dtype));
    for (int d = 0; d < t->ndim; d++)
        line_add(l, "%s%lld", d ? ", " : "", (long long)t->sizes[d]);
    line_add(l, "]");
}

static void add_tensors(line *l, const tn_tensors *list)
{
    line_add(l, "[");
    for (int64_t i = 0; i < list->len; i++) {
        line_add(l, i ? ", " : "");
        add_tensor(l, list->data[i]);
    }
    line_add(l, "]");
}

static void add_scalar(line *l, const tn_scalar *s)
{
    if (s->kind == TN_SCALAR_INT)
        line_add(l, "%lld", (long long)s->v.i);
    else if (s->kind == TN_SCALAR_BOOL)
        line_add(l, s->v.i ? "true" : "false");
    else if (s->kind == TN_SCALAR_FLOAT)
        line_add(l, "%g", s->v.f);
    else if (s->kind == TN_SCALAR_COMPLEX)
        line_add(l, "%g%+gj", s->v.c[0], s->v.c[1]);
    else
        line_add(l, "none");
}

static void add_ints(line *l, const tn_ints *list)
{
    if (list->len < 0) {
        line_add(l, "none");
        return;
    }
    line_add(l, "[");
    for (int64_t i = 0; i < list->len; i++)
        line_add(l, "%s%lld", i ? ", " : "", (long long)list->data[i]);
    line_add(l, "]");
}

static void add_dtype(line *l, tn_dtype dtype)
{
    line_add(l, "%s", dtype == TN_DTYPE_NONE ? "none" : tn->dtype_name(dtype));
}

static void add_string(line *l, const char *s)
{
    if (s)
        line_add(l, "'%s'", s);
    else
        line_add(l, "none");
}

void line_add_field(line *l, const tn_field *f, const void *frame)
{
    const void *at = (const char *)frame + f->offset;
    switch (f->kind) {
    case TN_FIELD_TENSOR:
        add_tensor(l, *(tn_tensor *const *)at);
        return;
    case TN_FIELD_TENSORS:
        add_tensors(l, at);
        return;
    case TN_FIELD_INT:
        line_add(l, "%lld", (long long)*(const int64_t *)at);
        return;
    case TN_FIELD_FLOAT:
        line_add(l, "%g", *(const double *)at);
        return;
    case TN_FIELD_BOOL:
        line_add(l, *(const bool *)at ? "true" : "false");
        return;
    case TN_FIELD_SCALAR:
        add_scalar(l, at);
        return;
    case TN_FIELD_INTS:
        add_ints(l, at);
        return;
    case TN_FIELD_DTYPE:
        add_dtype(l, *(const tn_dtype *)at);
        return;
    case TN_FIELD_STR:
        add_string(l, *(const char *const *)at);
        return;
    default:
        line_add(l, "(%s)", f->type); /* said to be there, not what it is */
    }
}

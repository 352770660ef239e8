/* defaults.c - default values of arguments in C: as an initialiser of an expression call, as one of
 * a frame, and as an argument of a call in a derivative. */
#include "defaults.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the same everywhere --------------------------------------------------------------------- */
static void write_double(FILE *to, double x)
{
    fprintf(to, "%.17g", x); /* a schema cannot write an infinity or NaN */
}

static void write_string(FILE *to, const char *text)
{
    if (!text) {
        fputs("NULL", to);
        return;
    }
    fputc('"', to);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < ' ' || c == 0x7f)
            fprintf(to, "\\%03o", c);
        else
            fputc(c, to);
    }
    fputc('"', to);
}

/* "{(const double[]){0.5, 2}, 2}" */
static void write_items(FILE *to, const char *type, tn_field_kind kind, const void *field)
{
    const tn_ints *list = field;
    fprintf(to, "{(const %s[]){", type);
    for (int64_t i = 0; i < list->len; i++) {
        if (i)
            fputs(", ", to);
        if (kind == TN_FIELD_INTS)
            fprintf(to, "%" PRId64, list->data[i]);
        if (kind == TN_FIELD_FLOATS)
            write_double(to, ((const tn_floats *)field)->data[i]);
        if (kind == TN_FIELD_BOOLS)
            fputs(((const tn_bools *)field)->data[i] ? "true" : "false", to);
    }
    fprintf(to, "}, %" PRId64 "}", list->len);
}

static void write_list(FILE *to, const char *type, tn_field_kind kind, const void *field)
{
    const tn_ints *list = field;
    if (list->len > 0)
        write_items(to, type, kind, field);
    else
        fprintf(to, "{NULL, %" PRId64 "}", list->len);
}

/* ---- in an expression call ------------------------------------------------------------------- */
/* Defaults that are structs are written so that an option without braces, which in C sets no more
 * than the first member, leaves a whole value: `.alpha = 2` of a Scalar (a floating number) as well
 * as `.dim = 1` of an int? (present). What is absent is a TN_ABSENT, which the call recognises. */
static void write_scalar(FILE *to, const tn_scalar *s)
{
    fputs("{{.f = ", to);
    if (s->kind == TN_SCALAR_NONE)
        fputs("TN_ABSENT", to);
    else
        write_double(to, s->kind == TN_SCALAR_FLOAT ? s->v.f : (double)s->v.i);
    fputs("}, TN_SCALAR_FLOAT, 0}", to);
}

static void write_opt_int(FILE *to, const tn_opt_int *i)
{
    if (i->has)
        fprintf(to, "{%" PRId64 ", 1}", i->value);
    else
        fputs("{TN_ABSENT_INT, 1}", to);
}

static void write_opt_float(FILE *to, const tn_opt_float *x)
{
    fputc('{', to);
    if (x->has)
        write_double(to, x->value);
    else
        fputs("TN_ABSENT", to);
    fputs(", 1}", to);
}

void cg_default_initialise(FILE *to, const tn_field *f, const void *at)
{
    switch (f->kind) {
    case TN_FIELD_INT:
        fprintf(to, "%" PRId64, *(const int64_t *)at);
        break;
    case TN_FIELD_OPT_INT:
        write_opt_int(to, at);
        break;
    case TN_FIELD_FLOAT:
        write_double(to, *(const double *)at);
        break;
    case TN_FIELD_OPT_FLOAT:
        write_opt_float(to, at);
        break;
    case TN_FIELD_BOOL:
        fputs(*(const bool *)at ? "true" : "false", to);
        break;
    case TN_FIELD_OPT_BOOL:
        fprintf(to, "%d", *(const tn_opt_bool *)at);
        break;
    case TN_FIELD_SCALAR:
        write_scalar(to, at);
        break;
    case TN_FIELD_DTYPE:
    case TN_FIELD_LAYOUT:
    case TN_FIELD_MEMORY_FORMAT:
        fprintf(to, "%d", *(const int32_t *)at);
        break;
    case TN_FIELD_DEVICE:
        fputs("{TN_DEVICE_NONE, -1}", to);
        break;
    case TN_FIELD_INTS:
        write_list(to, "int64_t", f->kind, at);
        break;
    case TN_FIELD_FLOATS:
        write_list(to, "double", f->kind, at);
        break;
    case TN_FIELD_BOOLS:
        write_list(to, "bool", f->kind, at);
        break;
    case TN_FIELD_TENSORS:
    case TN_FIELD_SCALARS:
        fprintf(to, "{NULL, %" PRId64 "}", ((const tn_ints *)at)->len);
        break;
    case TN_FIELD_STR:
        write_string(to, *(const char *const *)at);
        break;
    default:
        fputs("NULL", to);
        break;
    }
}

/* ---- in a frame ------------------------------------------------------------------------------ */
void cg_default_in_frame(FILE *to, const tn_field *f, const void *at)
{
    static const char *const kinds[] = {"TN_SCALAR_FLOAT", "TN_SCALAR_INT", "TN_SCALAR_BOOL"};
    const tn_opt_int *i = at;
    const tn_opt_float *x = at;
    const tn_scalar *s = at;
    if (f->kind == TN_FIELD_OPT_INT) {
        fprintf(to, "{%" PRId64 ", %" PRId64 "}", i->value, i->has);
    } else if (f->kind == TN_FIELD_OPT_FLOAT) {
        fputc('{', to);
        write_double(to, x->value);
        fprintf(to, ", %" PRId64 "}", x->has);
    } else if (f->kind != TN_FIELD_SCALAR) {
        cg_default_initialise(to, f, at);
    } else if (s->kind == TN_SCALAR_NONE) {
        fputs("{{.i = 0}, TN_SCALAR_NONE, 0}", to);
    } else if (s->kind == TN_SCALAR_FLOAT) {
        fputs("{{.f = ", to);
        write_double(to, s->v.f);
        fputs("}, TN_SCALAR_FLOAT, 0}", to);
    } else {
        fprintf(to, "{{.i = %" PRId64 "}, %s, 0}", s->v.i, kinds[s->kind]);
    }
}

/* ---- as an argument -------------------------------------------------------------------------- */
static void write_scalar_argument(FILE *to, const tn_scalar *s)
{
    if (s->kind == TN_SCALAR_NONE) {
        fputs("TN_NO_SCALAR", to);
    } else if (s->kind == TN_SCALAR_FLOAT) {
        fputs("tn_scalar_float(", to);
        write_double(to, s->v.f);
        fputc(')', to);
    } else if (s->kind == TN_SCALAR_COMPLEX) {
        fprintf(to, "tn_scalar_complex(%.17g, %.17g)", s->v.c[0], s->v.c[1]);
    } else {
        fprintf(to, "tn_scalar_%s(%" PRId64 ")", s->kind == TN_SCALAR_BOOL ? "bool" : "int",
                s->v.i);
    }
}

static void write_optional_argument(FILE *to, const tn_field *f, const void *at)
{
    const tn_opt_int *i = at;
    const tn_opt_float *x = at;
    if (f->kind == TN_FIELD_OPT_INT && i->has) {
        fprintf(to, "tn_some_int(%" PRId64 ")", i->value);
    } else if (f->kind == TN_FIELD_OPT_FLOAT && x->has) {
        fputs("tn_some_float(", to);
        write_double(to, x->value);
        fputc(')', to);
    } else {
        fputs(f->kind == TN_FIELD_OPT_INT ? "TN_NO_INT" : "TN_NO_FLOAT", to);
    }
}

static void write_list_argument(FILE *to, const tn_field *f, const void *at)
{
    static const struct {
        const char *type, *item, *word;
    } lists[TN_FIELD_UNSUPPORTED] = {
        [TN_FIELD_TENSORS] = {"tn_tensors", NULL, "TENSORS"},
        [TN_FIELD_INTS] = {"tn_ints", "int64_t", "INTS"},
        [TN_FIELD_FLOATS] = {"tn_floats", "double", "FLOATS"},
        [TN_FIELD_BOOLS] = {"tn_bools", "bool", "BOOLS"},
        [TN_FIELD_SCALARS] = {"tn_scalars", NULL, "SCALARS"},
    };
    int64_t n = ((const tn_ints *)at)->len;
    if (n < 0) {
        fprintf(to, "TN_NO_%s", lists[f->kind].word);
    } else if (n == 0 && f->kind != TN_FIELD_INTS) {
        fprintf(to, "TN_EMPTY_%s", lists[f->kind].word);
    } else {
        fprintf(to, "(%s)", lists[f->kind].type);
        write_list(to, lists[f->kind].item, f->kind, at);
    }
}

/* What is no number of its kind but an enumerator: a dtype, a layout. */
static void write_enumerator(FILE *to, int value, const char *absent)
{
    if (value < 0)
        fputs(absent, to);
    else
        fprintf(to, "%d", value);
}

static void write_argument(FILE *to, const tn_field *f, const void *at)
{
    switch (f->kind) {
    case TN_FIELD_OPT_INT:
    case TN_FIELD_OPT_FLOAT:
        write_optional_argument(to, f, at);
        break;
    case TN_FIELD_SCALAR:
        write_scalar_argument(to, at);
        break;
    case TN_FIELD_TENSORS:
    case TN_FIELD_INTS:
    case TN_FIELD_FLOATS:
    case TN_FIELD_BOOLS:
    case TN_FIELD_SCALARS:
        write_list_argument(to, f, at);
        break;
    case TN_FIELD_DTYPE:
        write_enumerator(to, *(const int32_t *)at, "TN_DTYPE_NONE");
        break;
    case TN_FIELD_LAYOUT:
        write_enumerator(to, *(const int32_t *)at, "TN_LAYOUT_NONE");
        break;
    case TN_FIELD_MEMORY_FORMAT:
        write_enumerator(to, *(const int32_t *)at, "TN_FORMAT_NONE");
        break;
    case TN_FIELD_DEVICE:
        fputs("TN_NO_DEVICE", to);
        break;
    default: /* where an initialiser is an expression, too */
        cg_default_initialise(to, f, at);
        break;
    }
}

const char *cg_default_argument(tn__arena *a, const tn_field *f, const void *at)
{
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    if (!to)
        return NULL;
    write_argument(to, f, at);
    bool ok = !ferror(to);
    ok = fclose(to) == 0 && ok;
    const char *kept = ok ? tn__arena_strndup(a, text, n) : NULL;
    free(text);
    return kept;
}

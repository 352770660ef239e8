/* defaults.c - tests of codegen/defaults.c: each kind of default value in its three guises. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/defaults.h"
#include "core/schema/schema.h"

typedef void writer(FILE *to, const tn_field *f, const void *at);

static void expect_written(writer *write, const tn_field *f, const void *at, const char *expected)
{
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    write(to, f, at);
    fclose(to);
    cr_expect_str_eq(text, expected, "%s: %s", f->name, text);
    free(text);
}

/* The default of "TYPE x=VALUE" in an expression call, in a frame and as an argument. */
static void expect(const char *argument, const char *in_call, const char *in_frame,
                   const char *as_argument)
{
    char schema[256];
    tn__arena a = {0};
    tn__schema_error err = {0, ""};
    snprintf(schema, sizeof schema, "f(Tensor self, %s) -> Tensor", argument);
    const tn__schema *s = tn__schema_parse(&a, schema, strlen(schema), true, &err);
    cr_assert(s, "%s: %s", schema, err.message);
    const tn__layout *l = tn__layout_new(&a, s);
    const tn_field *f = &l->fields[l->n_results + 1];
    expect_written(cg_default_initialise, f, l->defaults + f->offset, in_call);
    expect_written(cg_default_in_frame, f, l->defaults + f->offset, in_frame);
    cr_expect_str_eq(cg_default_argument(&a, f, l->defaults + f->offset), as_argument, "%s",
                     argument);
    tn__arena_free(&a);
}

Test(codegen_defaults, numbers)
{
    expect("int x=-1", "-1", "-1", "-1");
    expect("float x=0.5", "0.5", "0.5", "0.5");
    expect("bool x=True", "true", "true", "true");
    expect("int? x=None", "{TN_ABSENT_INT, 1}", "{0, 0}", "TN_NO_INT");
    expect("int? x=3", "{3, 1}", "{3, 1}", "tn_some_int(3)");
    expect("float? x=0.5", "{0.5, 1}", "{0.5, 1}", "tn_some_float(0.5)");
    expect("bool? x=None", "-1", "-1", "-1");
    expect("Scalar x=2", "{{.f = 2}, TN_SCALAR_FLOAT, 0}", "{{.i = 2}, TN_SCALAR_INT, 0}",
           "tn_scalar_int(2)");
    expect("Scalar? x=None", "{{.f = TN_ABSENT}, TN_SCALAR_FLOAT, 0}",
           "{{.i = 0}, TN_SCALAR_NONE, 0}", "TN_NO_SCALAR");
}

Test(codegen_defaults, lists)
{
    expect("int[2] x=[1,2]", "{(const int64_t[]){1, 2}, 2}", "{(const int64_t[]){1, 2}, 2}",
           "(tn_ints){(const int64_t[]){1, 2}, 2}");
    expect("int[] x=[]", "{NULL, 0}", "{NULL, 0}", "(tn_ints){NULL, 0}");
    expect("int[]? x=None", "{NULL, -1}", "{NULL, -1}", "TN_NO_INTS");
    expect("float[2] x=[0.5,2]", "{(const double[]){0.5, 2}, 2}", "{(const double[]){0.5, 2}, 2}",
           "(tn_floats){(const double[]){0.5, 2}, 2}");
    expect("bool[1] x=[True]", "{(const bool[]){true}, 1}", "{(const bool[]){true}, 1}",
           "(tn_bools){(const bool[]){true}, 1}");
}

/* Quotes, backslashes and what cannot be seen stand in C as escapes. */
Test(codegen_defaults, strings)
{
    expect("str x=\"none\"", "\"none\"", "\"none\"", "\"none\"");
    expect("str x=\"a\\\"b\\\\c\\n\"", "\"a\\\"b\\\\c\\012\"", "\"a\\\"b\\\\c\\012\"",
           "\"a\\\"b\\\\c\\012\"");
    expect("str? x=None", "NULL", "NULL", "NULL");
}

Test(codegen_defaults, words)
{
    expect("ScalarType? x=None", "-1", "-1", "TN_DTYPE_NONE");
    expect("Device? x=None", "{TN_DEVICE_NONE, -1}", "{TN_DEVICE_NONE, -1}", "TN_NO_DEVICE");
    expect("Layout? x=None", "-1", "-1", "TN_LAYOUT_NONE");
    expect("Tensor? x=None", "NULL", "NULL", "NULL");
}

/* layout.c - the names of a frame's fields: each stands once, so that a struct can be made of them. */
#include "core/schema/layout.h"
#include "schema_test.h"

static void expect_names(const char *text, int n, const char *const *names)
{
    tn__arena a = {0};
    const tn__schema *s = parse_text(&a, text, true);
    cr_assert_not_null(s, "%s", text);
    const tn__layout *l = tn__layout_new(&a, s);
    cr_assert_not_null(l);
    cr_assert_eq(l->n_results + l->n_args, n);
    for (int i = 0; i < n; i++)
        cr_assert_str_eq(l->fields[i].name, names[i], "field %d of %s", i, text);
    tn__arena_free(&a);
}

Test(schema_layout, results_have_their_names_or_numbers)
{
    expect_names("f(Tensor x) -> Tensor", 2, (const char *const[]){"result", "x"});
    expect_names("f(Tensor x) -> (Tensor, Tensor)", 3,
                 (const char *const[]){"result0", "result1", "x"});
    expect_names("f(Tensor x) -> (Tensor values, Tensor indices)", 3,
                 (const char *const[]){"values", "indices", "x"});
}

/* As in sort.values, whose results are called like the arguments that they go into. */
Test(schema_layout, a_result_called_like_an_argument_is_numbered)
{
    expect_names("f.v(Tensor x, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, "
                 "Tensor(b!) indices)",
                 5, (const char *const[]){"result0", "result1", "x", "values", "indices"});
    expect_names("f.m(Tensor x, *, Tensor(a!) max) -> (Tensor(a!) values, Tensor max)", 4,
                 (const char *const[]){"values", "result1", "x", "max"});
}

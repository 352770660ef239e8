/* `tenon schema lock` and `check` on a plugin's own YAML: its schemas and its gradients. */
#include "tool_test.h"

TestSuite(schema_gradients, .init = make_folder, .fini = remove_folder, .timeout = 60);

static const char schema[] = "- func: my::half(Tensor self) -> Tensor\n"
                             "  pointwise: self * 0.5\n"
                             "- func: my::both(Tensor self, Tensor other) -> Tensor\n"
                             "  shape: elementwise(self, other)\n";

static void lock_both(void)
{
    write_file("my.yaml", schema);
    write_file("my_derivatives.yaml", "- name: both(Tensor self, Tensor other) -> Tensor\n"
                                      "  self: grad\n"
                                      "  other: grad * 2\n");
    cr_assert_eq(run_tenon("schema lock --schema my.yaml --lock my.lock"), 0);
    char *lock = read_file("my.lock");
    cr_assert(strstr(lock, "# gradient my::both: other, self\n"), "%s", lock);
    cr_assert(strstr(lock, "# gradient my::half: self\n"), "%s", lock);
    free(lock);
    cr_assert_eq(run_tenon("schema check --schema my.yaml --lock my.lock --fresh"), 0);
}

Test(schema_gradients, a_gradient_that_is_gone_is_a_break)
{
    lock_both();
    write_file("my_derivatives.yaml", "- name: both(Tensor self, Tensor other) -> Tensor\n"
                                      "  self: grad\n"
                                      "  other: not_implemented(\"later\")\n");
    cr_assert_eq(run_tenon("schema check --schema my.yaml --lock my.lock"), 1);
    expect_words("out", "break      my::both [other]: the gradient of 'other' is gone");
    expect_words("out", "1 break");
    cr_assert_eq(run_tenon("schema check --schema my.yaml --lock my.lock --format github"), 1);
    expect_words("out", "::error file=my.yaml,line=3");
    cr_assert_eq(run_tenon("schema check --schema my.yaml --lock my.lock --format json"), 1);
    expect_words("out", "\"arguments\": [\"other\"], \"bc\": \"no\"");
    cr_assert_eq(run_tenon("schema check --schema my.yaml --lock my.lock --format junit"), 1);
    expect_words("out", "<failure message=\"the gradient of");
    write_file("my.allow", "my::both  2030-01-01  it was wrong\n");
    cr_assert_eq(run_tenon("schema check --schema my.yaml --lock my.lock --allow my.allow --today "
                           "2029-01-01"),
                 0);
    expect_words("out", "allowed until 2030-01-01: it was wrong");
}

Test(schema_gradients, of_an_expression)
{
    lock_both();
    write_file("my.yaml", "- func: my::half(Tensor self) -> Tensor\n"
                          "  shape: elementwise(self)\n"
                          "- func: my::both(Tensor self, Tensor other) -> Tensor\n"
                          "  shape: elementwise(self, other)\n");
    cr_assert_eq(run_tenon("schema check --schema my.yaml --lock my.lock"), 1);
    expect_words("out", "break      my::half [self]: the gradient of 'self' is gone");
}

Test(schema_gradients, an_operator_that_is_gone_is_one_break)
{
    lock_both();
    write_file("my.yaml", "- func: my::half(Tensor self) -> Tensor\n"
                          "  pointwise: self * 0.5\n");
    write_file("my_derivatives.yaml", "[]\n");
    remove(in_folder("my_derivatives.yaml"));
    cr_assert_eq(run_tenon("schema check --schema my.yaml --lock my.lock"), 1);
    expect_words("out", "the operator was removed");
    expect_no_words("out", "the gradient of");
}

Test(schema_gradients, a_lock_without_gradients_asks_for_none)
{
    lock_both();
    write_file("plain.lock", "my::half(Tensor self) -> Tensor\n");
    cr_assert_eq(run_tenon("schema check --schema my.yaml --lock plain.lock"), 0);
    cr_assert_eq(run_tenon("schema lock --schema my.yaml --derivatives nowhere.yaml --lock -"), 2);
    expect_words("err", "nowhere.yaml");
}

/* tree.c - tests of codegen/tree.c: positions, and YAML that is bad in every way we could think of.
 */
#include "model_test.h"

#define GOOD "- func: good(Tensor self) -> Tensor\n"

Test(codegen_tree, bad_yaml_has_a_position_and_hides_nothing)
{
    /* An open quote swallows the next entries; the one behind the broken line is still read and
     * checked. */
    static const char text[] = "- func: a(Tensor self) -> Tensor\n"
                               "- func: \"b(Tensor self) -> Tensor\n"
                               "- func: c(Tensor self) -> Tensor\n  bogus: 1\n";
    expect_error(text, 2, 9, "bad YAML");
    expect_error(text, 4, 3, "unknown key 'bogus'");
    expect_count(text, 2);
}

Test(codegen_tree, several_yaml_errors_in_one_run)
{
    static const char text[] = "- func: a: b\n" GOOD
                               "- [\n- func: more(Tensor self) -> Tensor\n- func: {\n";
    model m = model_check(text);
    cr_expect_eq(m.diag.n_items, 3, "%d", m.diag.n_items);
    cr_expect_not(m.file->complete);
    cr_expect_not_null(cg_file_find(m.file, "good"));
    cr_expect_not_null(cg_file_find(m.file, "more"));
    model_free(&m);
}

Test(codegen_tree, tabs)
{
    expect_error("- func: a(Tensor self) -> Tensor\n\tvariants: method\n", 2, 1,
                 "spaces, not tabs");
}

Test(codegen_tree, duplicate_keys)
{
    expect_error(GOOD "  variants: function\n  variants: method\n", 3, 3,
                 "duplicate key 'variants' (first on line 2)");
    expect_error(GOOD "  dispatch:\n    CPU: a\n    CPU: b\n", 4, 5, "duplicate key 'CPU'");
}

Test(codegen_tree, bytes_that_are_not_text)
{
    model m = {0};
    static const char nul[] = "- func: a(Tensor self) -> Tensor\n  tags: co\0re\n  bogus: 1\n";
    m.file = cg_file_parse(&m.diag, "f", nul, sizeof nul - 1);
    cr_expect_eq(m.diag.items[0].pos.line, 2);
    cr_expect_eq(m.diag.items[0].pos.column, 11);
    cr_expect(strstr(m.diag.items[0].message, "NUL byte"));
    cr_expect_eq(m.diag.n_items, 3, "the tag and the unknown key are reported too");
    model_free(&m);
    expect_error("- func: a(Tensor self) -> Tensor # \xff\xfe\n", 1, 36, "not UTF-8");
    expect_error(GOOD "  python_module: \"a\\0b\"\n", 2, 18, "NUL character");
}

Test(codegen_tree, columns_count_characters)
{
    expect_error("- {func: \"a(Tensor self) -> Tensor\", \xc3\xa9: 1, bogus: 2}\n", 1, 44,
                 "'bogus'");
}

Test(codegen_tree, a_byte_order_mark_takes_no_column)
{
    expect_error("\xef\xbb\xbf- func: 3\n", 1, 9, "found a number");
}

Test(codegen_tree, nesting_and_size)
{
    size_t n = 200000;
    char *deep = malloc(n + 200);
    memset(deep, '[', n);
    strcpy(deep + n, "\n" GOOD "  bogus: 1\n");
    expect_error(deep, 1, 33, "nested more than 32");
    expect_error(deep, 3, 3, "'bogus'");
    memcpy(deep, "- func: ", 8);
    memset(deep + 8, 'a', 70000);
    strcpy(deep + 70008, "(Tensor self) -> Tensor\n");
    expect_error(deep, 1, 9, "more than 65536 bytes");
    memset(deep + 8, 'a', 5000);
    strcpy(deep + 5008, "(Tensor self) -> Tensor\n");
    model m = model_check(deep);
    cr_expect_eq(m.diag.n_items, 1, "a name of 5000 characters");
    model_free(&m);
    free(deep);
}

Test(codegen_tree, what_a_file_may_not_be)
{
    expect_error("", 1, 1, "no entries");
    expect_error("# only this\n", 1, 1, "no entries");
    expect_error("func: foo(Tensor self) -> Tensor\n", 1, 1, "a mapping where the list");
    expect_error("hello\n", 1, 1, "a string where the list");
    expect_error(GOOD "---\n" GOOD, 2, 1, "second YAML document");
    expect_error("- &x "
                 "func: a(Tensor self) -> Tensor\n",
                 1, 3, "anchor");
    expect_error("- func: !!int a(Tensor self) -> Tensor\n", 1, 9, "YAML tag");
    expect_error(GOOD "- 3\n", 2, 3, "an entry must be a mapping, found a number");
    expect_error(GOOD "  [a]: 1\n", 2, 3, "a list as a key");
}

Test(codegen_tree, quoted_words_are_strings_and_plain_ones_are_not)
{
    expect_ok(GOOD "  device_guard: no\n");
    expect_error(GOOD "  device_guard: \"no\"\n", 2, 18, "found a string in quotes");
    expect_error(GOOD "  python_module: 1.5\n", 2, 18, "found a number");
    expect_ok(GOOD "  python_module: '1.5'\n");
    expect_ok(GOOD "  python_module:\n");
    expect_error(GOOD "  variants:\n", 2, 12, "found nothing");
}

Test(codegen_tree, files)
{
    cg_diag d = {0};
    cr_expect_null(cg_file_read(&d, "/nowhere/x.yaml"));
    cr_expect_eq(d.n_items, 1);
    cr_expect(strstr(d.items[0].message, "cannot be read"));
    cr_expect_null(cg_file_read(&d, "/"));
    cr_expect_eq(d.n_items, 2);
    cg_diag_free(&d);
}

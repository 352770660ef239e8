/* schema_compat.c - `tenon schema compat`: one pair, and tables of them. */
#include "tool_test.h"

TestSuite(tools_schema_compat, .init = make_folder, .fini = remove_folder);

Test(tools_schema_compat, one_pair)
{
    cr_expect_eq(run_tenon("schema compat 'f(int a) -> ()' 'f(int a, int b=1) -> ()'"), 0);
    expect_words("out", "backward yes\nforward  yes\n");
    cr_expect_eq(run_tenon("schema compat 'f(int a) -> ()' 'f(str a) -> ()'"), 1);
    expect_words("out", "backward no: argument 'a' was int and is now str");
    cr_expect_eq(run_tenon("schema compat --format json 'f(int a) -> ()' 'f(str a) -> ()'"), 1);
    expect_words("out", "\"bc\": \"no\", \"fc\": \"no\", \"frame\": \"no\", \"argument\": \"a\"");
    cr_expect_eq(run_tenon("schema compat 'f(int a' 'f(str a) -> ()'"), 2);
    expect_words("err", "the old schema, column 8: expected");
}

Test(tools_schema_compat, pairs)
{
    write_file("pairs.tsv",
               "note\tnew\told\n"
               "a\tf(int a, int b=1) -> ()\tf(int a) -> ()\n"
               "b\tf(SymInt a) -> ()\tf(int a) -> ()\r\n"
               "c\tf.out(Tensor x, *, int b=1) -> ()\tf.out(Tensor x, *, Tensor(a!) out) -> ()");
    cr_expect_eq(run_tenon("schema compat --pairs pairs.tsv --rules pytorch"), 0);
    expect_words("out", "bc\tfc\treason\nyes\tyes\t\nyes\tyes\t\nerror\tno\tbackward: out argument "
                        "'out' was removed");
    cr_expect_eq(run_tenon("schema compat --pairs pairs.tsv"), 0);
    expect_words("out", "bc\tfc\treason\nyes\tyes\t\nyes\tno\tforward: argument 'a' takes SymInt, "
                        "but older versions "
                        "take int\nno\tno\tbackward: out argument 'out' was removed");
    cr_expect_eq(run_tenon("schema compat --pairs pairs.tsv --format json"), 0);
    expect_words("out", "{\"kind\": \"summary\", \"pairs\": 3, \"backward\": 2, \"forward\": 1, "
                        "\"unreadable\": 0}");
}

Test(tools_schema_compat, unreadable_pairs)
{
    write_file("pairs.tsv", "old\tnew\nf(int a) -> ()\n\nf(int a) -> ()\tf(int) -> ()\n");
    cr_expect_eq(run_tenon("schema compat --pairs pairs.tsv"), 1);
    expect_words("out", "error\terror\tthe new schema, column 1: the schema is empty");
    expect_words("out", "error\terror\tthe new schema, column 6: expected a name");
    write_file("pairs.tsv", "old\tnow\n");
    cr_expect_eq(run_tenon("schema compat --pairs pairs.tsv"), 2);
    expect_words("err", "pairs.tsv:1:1: the header has no column 'new'");
    write_file("pairs.tsv", "old\tnew\n");
    cr_expect_eq(run_tenon("schema compat --pairs pairs.tsv"), 2);
    cr_expect_eq(run_tenon("schema compat x"), 2);
    cr_expect_eq(run_tenon("schema compat a b --rules java"), 2);
    expect_words("err", "unknown rules 'java'");
}

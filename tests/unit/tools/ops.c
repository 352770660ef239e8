/* ops.c - `tenon ops`: names, schemas, and who serves which key. */
#include "tool_test.h"

TestSuite(ops, .init = make_folder, .fini = remove_folder);

Test(ops, shows_schema_and_servers)
{
    cr_expect_eq(run_tenon("ops '^aten::add\\.Tensor$'"), 0);
    expect_words("out",
                 "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor\n");
    expect_words("out", "    cpu (kernel): CPU\n");
    expect_words("out", "    meta (kernel): Meta\n");
    expect_words("out", "1 operators, 0 of them without a kernel");
}

Test(ops, json_rows_and_summary)
{
    cr_expect_eq(run_tenon("ops '^aten::add\\.Tensor$' --format json"), 0);
    expect_words("out", "{\"kind\": \"op\", \"name\": \"aten::add.Tensor\", \"schema\": ");
    expect_words("out", "\"CPU\": {\"plugin\": \"cpu\", \"how\": \"kernel\"}");
    expect_words("out", "{\"kind\": \"summary\", \"operators\": 1, \"unserved\": 0}");
}

Test(ops, nothing_matched_or_wrong_use)
{
    cr_expect_eq(run_tenon("ops no_such_operator"), 2);
    expect_words("err", "no operator matched");
    cr_expect_eq(run_tenon("ops '('"), 2);
    expect_words("err", "no regular expression");
    cr_expect_eq(run_tenon("ops a b"), 2);
    cr_expect_eq(run_tenon("ops --plugin /nothing.so"), 2);
}

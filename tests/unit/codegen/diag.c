/* diag.c - tests of codegen/diag.c. */
#include "model_test.h"

static char *printed(cg_diag *d, cg_diag_format format)
{
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    cg_diag_print(d, to, format);
    fclose(to);
    return text;
}

Test(codegen_diag, prints_sorted_in_three_forms)
{
    cg_diag d = {0};
    cg_error(&d, "b.yaml", (cg_pos){2, 1}, "late \"%s\"", "x");
    cg_error(&d, "b.yaml", (cg_pos){1, 9}, "early, 100%%");
    cg_error(&d, "a.yaml", (cg_pos){0, 0}, "whole file");
    char *text = printed(&d, CG_DIAG_TEXT), *json = printed(&d, CG_DIAG_JSON),
         *github = printed(&d, CG_DIAG_GITHUB);
    cr_expect_str_eq(text, "a.yaml: whole file\nb.yaml:1:9: early, 100%\nb.yaml:2:1: late \"x\"\n");
    cr_expect(strstr(json,
                     "{\"kind\": \"error\", \"file\": \"b.yaml\", \"line\": 2, \"column\": 1, "
                     "\"message\": \"late \\\"x\\\"\"}\n"));
    cr_expect(strstr(github, "::error file=b.yaml,line=1,col=9::early, 100%25\n"));
    free(text);
    free(json);
    free(github);
    cg_diag_free(&d);
}

Test(codegen_diag, one_error_is_one_line)
{
    cg_diag d = {0};
    char big[4096];
    memset(big, 'x', sizeof big);
    big[sizeof big - 1] = '\0';
    cg_error(&d, "f", (cg_pos){1, 1}, "a\nb\x01%s", big);
    cr_expect_eq(strcspn(d.items[0].message, "\n\x01"), strlen(d.items[0].message));
    cr_expect_lt(strlen(d.items[0].message), 1025);
    cg_diag_free(&d);
}

Test(codegen_diag, near_words)
{
    static const char *const words[] = {"dispatch", "variants", "tags"};
    cr_expect_str_eq(cg_near("dispach", words, 3), "dispatch");
    cr_expect_str_eq(cg_near("Tags", words, 3), "tags");
    cr_expect_str_eq(cg_near("varaints", words, 3), "variants");
    cr_expect_null(cg_near("bogus", words, 3));
    cr_expect_null(cg_near("", words, 3));
}

/* border.c - tests of the border's description: what it generates, how it may grow, what it
 * refuses; and of emit.c. */
#include <sys/stat.h>
#include <unistd.h>

#include "codegen/border.h"
#include "model_test.h"

enum { PATH_CHARS = 512 };

static char directory[PATH_CHARS];

static void begin(void)
{
    snprintf(directory, sizeof directory, "%s/tenon-test-XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    cr_assert_not_null(mkdtemp(directory));
}

static void end(void)
{
    char command[PATH_CHARS + 32];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    cr_assert_eq(system(command), 0);
}

TestSuite(border, .init = begin, .fini = end, .timeout = 120);

static const char *tree(void)
{
    const char *source = getenv("TENON_SOURCE");
    return source ? source : ".";
}

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    cr_assert_not_null(f, "%s", path);
    static char text[1 << 18];
    size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = '\0';
    fclose(f);
    return text;
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    cr_assert_not_null(f, "%s", path);
    fputs(text, f);
    cr_assert_eq(fclose(f), 0);
}

static char *in_directory(const char *name)
{
    static char paths[4][2 * PATH_CHARS];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

/* Generates from a text; the diagnostics stay in *d. */
static bool generate(cg_diag *d, cg_out *out, const char *text)
{
    static char templates[PATH_CHARS];
    snprintf(templates, sizeof templates, "%s/codegen/templates", tree());
    char *path = in_directory("border.yaml");
    write_text(path, text);
    *d = (cg_diag){0};
    out->outdir = directory;
    out->template_dir = templates;
    return cg_border(d, out, path);
}

static void generate_well(const char *text)
{
    cg_diag d;
    cg_out out = {0};
    bool ok = generate(&d, &out, text);
    cr_assert(ok, "%d errors, the first: %s", d.n_items, d.n_items ? d.items[0].message : "none");
    cg_diag_free(&d);
}

static uint64_t fingerprint(int revision)
{
    char key[64];
    snprintf(key, sizeof key, "#define TN_BORDER_FINGERPRINT_%d UINT64_C(", revision);
    const char *at = strstr(read_text(in_directory("include/tenon/border.h")), key);
    cr_assert_not_null(at, "no fingerprint of revision %d", revision);
    return strtoull(at + strlen(key), NULL, 16);
}

static char *description(void)
{
    static char text[1 << 17];
    char path[PATH_CHARS];
    snprintf(path, sizeof path, "%s/abi/border.yaml", tree());
    snprintf(text, sizeof text, "%s", read_text(path));
    return text;
}

/* A copy with the first `from` replaced by `to`. */
static char *replaced(const char *text, const char *from, const char *to)
{
    static char copies[2][1 << 17];
    static int next;
    char *copy = copies[next++ % 2];
    const char *at = strstr(text, from);
    cr_assert_not_null(at, "'%s' is not in the text", from);
    snprintf(copy, sizeof copies[0], "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return copy;
}

static void compiles(const char *compiler, const char *language, int target)
{
    char command[4 * PATH_CHARS];
    snprintf(command, sizeof command,
             "command -v %s >/dev/null || exit 77; echo '#include <tenon/border.h>' | "
             "%s %s -DTN_TARGET_ABI=%d -Wall -Wextra -Wpedantic -Werror -I'%s/include' "
             "-I'%s/include' -fsyntax-only -",
             compiler, compiler, language, target, directory, tree());
    int status = system(command) >> 8;
    if (status == 77) {
        printf("skipped: no %s\n", compiler);
        return;
    }
    cr_assert_eq(status, 0, "failed: %s", command);
}

Test(border, the_real_one_compiles)
{
    generate_well(description());
    compiles("gcc", "-std=c11 -x c", 1);
    compiles("clang", "-std=c11 -x c", 1);
    compiles("g++", "-std=c++11 -x c++", 1);
    cr_assert_not_null(strstr(read_text(in_directory("docs/border.md")), "### struct tn_api"));
}

Test(border, writes_only_what_changed)
{
    cg_diag d;
    cg_out out = {0}, again = {0}, check = {.check = true};
    cr_assert(generate(&d, &out, description()));
    cr_assert_eq(out.written, 2);
    cr_assert(generate(&d, &again, description()));
    cr_assert_eq(again.written, 0);
    cr_assert_eq(again.same, 2);
    cr_assert(generate(&d, &check, description()));
    write_text(in_directory("docs/border.md"), "something else\n");
    cr_assert(!generate(&d, &check, description()), "--check does not see a file that differs");
    cr_assert(strstr(d.items[0].message, "not what the generator writes"), "%s",
              d.items[0].message);
    cr_assert_str_eq(read_text(in_directory("docs/border.md")), "something else\n");
    cg_diag_free(&d);
}

/* ---- growth ------------------------------------------------------------------------------------
 */
static char *with_addition(const char *text)
{
    char *next = replaced(text, "  revision: 1", "  revision: 2");
    return replaced(next, "- section: the one symbol",
                    "  - function: int more(tn_call *call)\n    threads: any\n    since: 2\n\n"
                    "- section: the one symbol");
}

Test(border, an_addition_keeps_the_older_fingerprints)
{
    generate_well(description());
    uint64_t before = fingerprint(1);
    generate_well(with_addition(description()));
    cr_assert_eq(fingerprint(1), before);
    cr_assert_neq(fingerprint(2), before);
    compiles("gcc", "-std=c11 -x c", 1);
    compiles("gcc", "-std=c11 -x c", 2);
    const char *header = read_text(in_directory("include/tenon/border.h"));
    cr_assert_not_null(
        strstr(header, "#if TN_TARGET_ABI >= 2\n    int (*more)(tn_call *call);\n#endif\n"));
}

Test(border, every_change_of_layout_changes_the_fingerprint)
{
    static const char *const changes[][2] = {
        {"- field: int64_t numel", "- field: uint64_t numel"},
        {"- field: uint8_t dtype\n  - field: uint8_t ndim",
         "- field: uint8_t ndim\n  - field: uint8_t dtype"},
        {"- field: int64_t numel", "- field: int64_t number"},
        {"TN_TENSOR_DENSE: 2", "TN_TENSOR_DENSE: 16"},
        {"void tensor_retain(tn_tensor *t)", "void tensor_retain(const tn_tensor *t)"},
        {"  - function: void tensor_release(tn_tensor *t)\n    threads: any\n    doc: NULL is "
         "fine\n",
         ""},
        {"  value: 64", "  value: 65"},
    };
    generate_well(description());
    uint64_t before = fingerprint(1);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        generate_well(replaced(description(), changes[i][0], changes[i][1]));
        cr_expect_neq(fingerprint(1), before, "%s", changes[i][1]);
    }
    generate_well(replaced(description(), "void tensor_retain(tn_tensor *t)",
                           "void tensor_retain(tn_tensor *tensor)"));
    cr_expect_eq(fingerprint(1), before, "a parameter's name is no layout");
    generate_well(replaced(description(), "doc: NULL is fine", "doc: NULL is fine, too"));
    cr_expect_eq(fingerprint(1), before, "nor is a comment");
}

/* ---- what is refused ---------------------------------------------------------------------------
 */
static void refused(const char *text, int line, const char *what)
{
    cg_diag d;
    cg_out out = {0};
    cr_assert(!generate(&d, &out, text), "accepted: %s", text);
    cg_diag_sort(&d);
    bool found = false;
    for (int i = 0; i < d.n_items; i++)
        found = found ||
                (strstr(d.items[i].message, what) && (line == 0 || d.items[i].pos.line == line));
    cr_expect(found, "expected '%s' at line %d, got '%s' at %d", what, line, d.items[0].message,
              d.items[0].pos.line);
    cr_expect_eq(out.written, 0);
    cg_diag_free(&d);
}

#define HEAD "- border: tenon\n  revision: 2\n"

Test(border, errors_say_where_and_what)
{
    refused("", 0, "");
    refused("- struct: a\n  members:\n  - field: int a\n", 1, "the first entry");
    refused(HEAD "- strukt: a\n", 3, "write struct");
    refused(HEAD "- struct: a\n", 3, "no 'members'");
    refused(HEAD "- struct: a\n  members: []\n", 4, "list of members");
    refused(HEAD "- struct: a\n  members:\n  - field: int\n", 5, "a type and a name");
    refused(HEAD "- struct: a\n  members:\n  - field: widget w\n", 5, "the size of 'widget'");
    refused(HEAD "- struct: a\n  members:\n  - field: int a[N]\n", 5, "array's length");
    refused(HEAD "- struct: a\n  members:\n  - field: int a[99999999]\n", 5, "too many");
    refused(HEAD "- struct: a\n  members:\n  - field: int a[2\n", 5, "expected ']'");
    refused(HEAD "- struct: a\n  members:\n  - field: int a\n  - field: int a\n", 6, "twice");
    refused(
        HEAD
        "- struct: a\n  members:\n  - field: int a\n- struct: a\n  members:\n  - field: int a\n",
        6, "twice");
    refused(HEAD "- struct: a\n  members:\n  - field: int a\n    since: 2\n  - field: int b\n", 7,
            "at the end");
    refused(HEAD "- struct: a\n  members:\n  - field: int a\n    since: 3\n", 6, "from 1 to 2");
    refused(HEAD "- struct: a\n  members:\n  - function: int f(int a)\n", 5, "threads");
    refused(HEAD "- struct: a\n  members:\n  - function: int f\n    threads: any\n", 5,
            "no parameter list");
    refused(HEAD "- struct: a\n  members:\n  - function: int f(int a\n    threads: any\n", 5,
            "expected ')'");
    refused(HEAD "- struct: a\n  members:\n  - field: int f(int a)\n", 5, "is a function");
    refused(HEAD "- struct: a\n  members:\n  - field: int a\n    dok: x\n", 6, "did you mean doc");
    refused(HEAD "- struct: a\n  doc: ends */ here\n  members:\n  - field: int a\n", 4, "*/");
    refused(HEAD "- struct: a\n  doc: 'm4 @{ quote'\n  members:\n  - field: int a\n", 4, "@{");
    refused(HEAD "- enum: e\n  values:\n  - A: x\n", 5, "write a number");
    refused(HEAD "- struct: a\n  members:\n  - field: int x\n  - field: int y\n    since: 2\n"
                 "- struct: b\n  members:\n  - field: a in\n  - field: int after\n",
            11, "must not grow");
}

/* Damaged descriptions: an error or a header, never a crash. */
Test(border, damaged_descriptions)
{
    static char text[1 << 17];
    const char *good = description();
    size_t n = strlen(good);
    uint64_t state = 7;
    for (int round = 0; round < 300; round++) {
        memcpy(text, good, n + 1);
        for (int hits = 0; hits <= round % 5; hits++) {
            state = state * UINT64_C(6364136223846793005) + 1;
            size_t at = (size_t)(state >> 20) % n;
            text[at] = "*[]():,{}#'\"0a\n -"[(state >> 50) % 17];
        }
        cg_diag d;
        cg_out out = {0};
        bool ok = generate(&d, &out, text);
        cr_assert(ok || d.n_items > 0, "refused without a word");
        cg_diag_free(&d);
    }
}

/* ---- emit --------------------------------------------------------------------------------------
 */
static bool emit(cg_diag *d, const char *template_text, const char *facts, const char *path)
{
    write_text(in_directory("prelude.m4"),
               "m4_divert(-1)m4_changequote(`@{', `@}')m4_changecom()\n");
    write_text(in_directory("t.m4"), template_text);
    *d = (cg_diag){0};
    cg_out out = {.outdir = directory, .template_dir = directory};
    return cg_emit(d, &out, "t.m4", facts, strlen(facts), path);
}

Test(border, emit_expands_facts)
{
    cg_diag d;
    cr_assert(emit(&d, "m4_define(@{cg_x@}, @{len($1) /* # ` ' */@})m4_divert(0)m4_dnl\ncg_facts\n",
                   "m4_define(@{cg_facts@}, @{cg_x(@{a, b@})@})", "deep/er/out.c"));
    cr_assert_str_eq(read_text(in_directory("deep/er/out.c")), "len(a, b) /* # ` ' */\n");
}

#define LONG "a_name_of_so_many_words_that_forty_columns"

static void expect_laid_out(const char *list, const char *expected)
{
    cg_diag d;
    char text[512];
    snprintf(text, sizeof text, "m4_divert(0)m4_dnl\n%s\n", list);
    cr_assert(emit(&d, text, "", "out.c"), "%s: %s", list, d.n_items ? d.items->message : "");
    cr_expect_str_eq(read_text(in_directory("out.c")), expected, "%s", list);
}

Test(border, emit_lays_out_lists)
{
    expect_laid_out("@<f(void);@>", "f(void);\n");
    expect_laid_out("@<f(@|int a@|int b);@> @<g(@|h)@>", "f(int a, int b); g(h)\n");
    expect_laid_out("@<f(@|" LONG "@|" LONG "@|b)@>", "f(" LONG ", " LONG ", b)\n");
    expect_laid_out("@<f(@|" LONG "@|" LONG "@|bcdefgh_)@>",
                    "f(" LONG ", " LONG ", bcdefgh_)\n"); /* 99 columns */
    expect_laid_out("@<f(@|" LONG "@|" LONG "@|bcdefghi_)@>",
                    "f(" LONG ", " LONG ",\n    bcdefghi_)\n");
    expect_laid_out("@12<" LONG LONG "_and_more(@|a_long_word@|b)@>",
                    LONG LONG "_and_more(\n            a_long_word, b)\n");
    expect_laid_out("@\\8<f(@|" LONG "@|" LONG "@|bcdefghi_)@> \\",
                    "f(" LONG ", " LONG ", \\\n        bcdefghi_) \\\n");
}

Test(border, emit_refuses_a_list_without_an_end)
{
    cg_diag d;
    cr_assert(!emit(&d, "m4_divert(0)m4_dnl\n@<f(@|int a\n", "", "out.c"));
    cr_assert(strstr(d.items[0].message, "@<f("), "%s", d.items[0].message);
    cg_diag_free(&d);
}

Test(border, emit_points_at_what_is_left_over)
{
    cg_diag d;
    cr_assert(!emit(&d, "m4_divert(0)m4_dnl\nfine\nint cg_forgotten;\n", "", "out.c"));
    cr_assert_eq(d.n_items, 1);
    cr_assert_eq(d.items[0].pos.line, 3);
    cr_assert(strstr(d.items[0].file, "t.m4"), "%s", d.items[0].file);
    cr_assert(strstr(d.items[0].message, "cg_forgotten"), "%s", d.items[0].message);
    cr_assert_neq(access(in_directory("out.c"), F_OK), 0, "the file was written all the same");
    cg_diag_free(&d);
}

Test(border, emit_reports_what_m4_says)
{
    cg_diag d;
    cr_assert(!emit(&d, "m4_divert(0)m4_dnl\nm4_include(@{nowhere.m4@})\n", "", "out.c"));
    cr_assert_geq(d.n_items, 1);
    cr_assert(strstr(d.items[0].message, "nowhere.m4"), "%s", d.items[0].message);
    cr_assert_eq(d.items[0].pos.line, 2);
    cg_diag_free(&d);
    cr_assert(!emit(&d, "m4_divert(0)m4_define(@{cg_x@}, @{", "", "out.c"));
    cr_assert_geq(d.n_items, 1);
    cg_diag_free(&d);
}

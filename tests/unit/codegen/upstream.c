/* upstream.c - PyTorch's own files read whole, and the bank of entries that a generator must refuse
 * or accept. */
#include "model_test.h"

#include <time.h>

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void check_prints_back(const cg_entry *e)
{
    static char text[1 << 14];
    cr_assert_not_null(e->schema, "%s", e->func.text);
    cr_assert_lt(tn__schema_print(e->schema, text, sizeof text), sizeof text);
    cr_expect_str_eq(text, e->func.text);
}

static void check_file(const char *name, int n)
{
    char path[4096];
    if (!shared_path(path, sizeof path, name))
        return;
    cg_diag d = {0};
    double begin = now_ms();
    cg_file *f = cg_file_read(&d, path);
    cr_assert_not_null(f);
    cg_validate(&d, f);
    double ms = now_ms() - begin;
    cr_expect_eq(f->n_entries, n, "%s: %d", name, f->n_entries);
    cr_expect(f->complete);
    cr_expect_eq(d.n_items, 0, "%s:%d: %s", name, d.n_items ? d.items[0].pos.line : 0,
                 d.n_items ? d.items[0].message : "");
    for (int i = 0; i < f->n_entries; i++)
        check_prints_back(&f->entries[i]);
    /* The goal is 50 ms in a release build on an idle machine; this only catches something
     * quadratic. */
    cr_expect_lt(ms, 1000.0, "%s took %.0f ms", name, ms);
    cg_file_free(f);
    cg_diag_free(&d);
}

Test(codegen_upstream, reads_pytorch_1_13)
{
    check_file("upstream/native_functions-1.13.yaml", 2493);
}

Test(codegen_upstream, reads_pytorch_2_4)
{
    check_file("upstream/native_functions-2.4.yaml", 2614);
}

Test(codegen_upstream, reads_pytorch_2_9)
{
    check_file("upstream/native_functions-2.9.yaml", 2658);
}

/* "\n" in the table stands for a line end. */
static void unescape(char *s)
{
    char *to = s;
    for (; *s; s++) {
        bool end = s[0] == '\\' && s[1] == 'n';
        *to++ = end ? '\n' : *s;
        s += end;
    }
    *to = '\0';
}

Test(codegen_upstream, bad_entries_are_refused)
{
    char path[4096], line[1 << 14];
    if (!shared_path(path, sizeof path, "schema/bad_entries.tsv"))
        return;
    FILE *in = fopen(path, "r");
    int n = 0;
    while (fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = '\0';
        char *verdict = strchr(line, '\t'), *yaml = verdict ? strchr(verdict + 1, '\t') : NULL;
        cr_assert_not_null(yaml);
        *verdict++ = *yaml++ = '\0';
        if (n++ == 0)
            continue; /* the header */
        unescape(yaml);
        model m = model_check(yaml);
        const char *got = cg_diag_failed(&m.diag) ? "bad" : "ok";
        cr_expect_str_eq(got, verdict, "%s is %s: %s", line, got,
                         m.diag.n_items ? m.diag.items[0].message : "");
        for (int i = 0; i < m.diag.n_items; i++) {
            cr_expect_gt(m.diag.items[i].pos.line, 0, "%s: no line", line);
            cr_expect_gt(m.diag.items[i].pos.column, 0, "%s: no column", line);
            cr_expect(strpbrk(m.diag.items[i].message, ";"), "%s: no advice in '%s'", line,
                      m.diag.items[i].message);
        }
        model_free(&m);
    }
    cr_expect_gt(n, 50);
    fclose(in);
}

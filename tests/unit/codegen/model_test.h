/* model_test.h - what the tests of the generator's front half share: read text, validate it, look
 * at the errors. */
#ifndef TN_TESTS_MODEL_TEST_H
#define TN_TESTS_MODEL_TEST_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/entry.h"

typedef struct model {
    cg_diag diag;
    cg_file *file;
} model;

static inline model model_read(const char *text)
{
    model m = {0};
    m.file = cg_file_parse(&m.diag, "f.yaml", text, strlen(text));
    return m;
}

static inline model model_check(const char *text)
{
    model m = model_read(text);
    if (m.file)
        cg_validate(&m.diag, m.file);
    cg_diag_sort(&m.diag);
    return m;
}

static inline void model_free(model *m)
{
    cg_file_free(m->file);
    cg_diag_free(&m->diag);
}

/* The text is valid. */
static inline void expect_ok(const char *text)
{
    model m = model_check(text);
    cr_expect_eq(
        m.diag.n_items, 0, "%s\n-> %d:%d: %s", text, m.diag.items ? m.diag.items->pos.line : 0,
        m.diag.items ? m.diag.items->pos.column : 0, m.diag.items ? m.diag.items->message : "");
    cr_expect_not(m.diag.no_memory);
    model_free(&m);
}

/* Some error stands at line:column and says `part`. */
static inline void expect_error(const char *text, int line, int column, const char *part)
{
    model m = model_check(text);
    bool found = false;
    for (int i = 0; i < m.diag.n_items; i++) {
        const cg_diag_item *it = &m.diag.items[i];
        found |= it->pos.line == line && it->pos.column == column && strstr(it->message, part);
    }
    const cg_diag_item none = {"", {0, 0}, "no error at all", 0};
    const cg_diag_item *first = m.diag.n_items ? m.diag.items : &none;
    cr_expect(found, "expected %d:%d '%s' of\n%sgot %d errors, first %d:%d: %s", line, column, part,
              text, m.diag.n_items, first->pos.line, first->pos.column, first->message);
    model_free(&m);
}

/* Exactly this many errors. */
static inline void expect_count(const char *text, int n)
{
    model m = model_check(text);
    cr_expect_eq(m.diag.n_items, n, "%s\n%d errors, the last: %s", text, m.diag.n_items,
                 m.diag.n_items ? m.diag.items[m.diag.n_items - 1].message : "");
    model_free(&m);
}

/* A path in the shared data, or NULL when the folder is absent (and one line says so). */
static inline const char *shared_path(char *buf, size_t cap, const char *name)
{
    const char *root = getenv("TENON_SHARED"), *source = getenv("TENON_SOURCE");
    if (root)
        snprintf(buf, cap, "%s/%s", root, name);
    else
        snprintf(buf, cap, "%s/../shared/%s", source ? source : ".", name);
    FILE *f = fopen(buf, "rb");
    if (f) {
        fclose(f);
        return buf;
    }
    fprintf(stderr, "skipped: %s is absent\n", buf);
    return NULL;
}

#endif

/* schema_test.h - what the schema tests share: parsing a literal, and files of ../shared. */
#ifndef TN_TESTS_SCHEMA_TEST_H
#define TN_TESTS_SCHEMA_TEST_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/schema/compat.h"
#include "core/schema/schema.h"

/* Opens a file of the shared folder ($TENON_SHARED, else next to the source tree). NULL: absent,
 * and said so. */
static inline FILE *open_shared(const char *name)
{
    char path[4096];
    const char *shared = getenv("TENON_SHARED"), *source = getenv("TENON_SOURCE");
    if (shared)
        snprintf(path, sizeof path, "%s/%s", shared, name);
    else
        snprintf(path, sizeof path, "%s/../shared/%s", source ? source : ".", name);
    FILE *f = fopen(path, "r");
    if (!f)
        fprintf(stderr, "SKIPPED: %s is not there\n", path);
    return f;
}

/* Parses into an arena that the caller frees. */
static inline const tn__schema *parse_text(tn__arena *a, const char *text, bool strict)
{
    tn__schema_error err;
    return tn__schema_parse(a, text, strlen(text), strict, &err);
}

/* The schema prints back as it was written. */
static inline void expect_round_trip(const char *text, bool strict)
{
    char printed[4096];
    tn__arena a = {0};
    tn__schema_error err;
    const tn__schema *s = tn__schema_parse(&a, text, strlen(text), strict, &err);
    cr_assert(s, "%s\n  column %d: %s", text, err.column, err.message);
    size_t n = tn__schema_print(s, printed, sizeof printed);
    cr_expect_eq(n, strlen(text), "%s", text);
    cr_expect_str_eq(printed, text);
    tn__arena_free(&a);
}

/* The text is refused at this column, and the message has these words in it. */
static inline void expect_error(const char *text, size_t n, bool strict, int column,
                                const char *words)
{
    tn__arena a = {0};
    tn__schema_error err = {0};
    const tn__schema *s = tn__schema_parse(&a, text, n, strict, &err);
    cr_assert(!s, "accepted: %.80s", text);
    cr_expect_eq(err.column, column, "%.80s: column %d, expected %d: %s", text, err.column, column,
                 err.message);
    cr_expect(strstr(err.message, words), "%.80s: \"%s\" lacks \"%s\"", text, err.message, words);
    tn__arena_free(&a);
}

static inline void expect_strict_error(const char *text, int column, const char *words)
{
    expect_error(text, strlen(text), true, column, words);
}

#endif

/* tool_test.h - running the command `tenon` and looking at what it says. */
#ifndef TN_TESTS_TOOL_TEST_H
#define TN_TESTS_TOOL_TEST_H

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char test_folder[] = "/tmp/tenon-test-XXXXXX";

static inline void make_folder(void)
{
    cr_assert(mkdtemp(test_folder));
}

static inline void remove_folder(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", test_folder);
    cr_expect_eq(system(command), 0);
}

static inline const char *in_folder(const char *name)
{
    static char path[4][300];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", test_folder, name);
    return path[turn];
}

/* Writes a file of the test's folder. */
static inline void write_file(const char *name, const char *text)
{
    FILE *f = fopen(in_folder(name), "w");
    cr_assert(f);
    fputs(text, f);
    fclose(f);
}

/* A file of the test's folder; the caller frees it. */
static inline char *read_file(const char *name)
{
    FILE *f = fopen(in_folder(name), "r");
    cr_assert(f, "%s", name);
    size_t cap = 1 << 20, n;
    char *text = malloc(cap);
    cr_assert(text);
    n = fread(text, 1, cap - 1, f);
    text[n] = '\0';
    fclose(f);
    return text;
}

/* Runs `tenon ARGUMENTS` in the test's folder; its output goes to the files "out" and "err".
 * Returns its status. */
__attribute__((format(printf, 1, 2))) static inline int run_tenon(const char *format, ...)
{
    char arguments[2000], command[4096];
    const char *build = getenv("TENON_BUILD");
    cr_assert(build, "TENON_BUILD names the build folder; run this through ctest");
    va_list ap;
    va_start(ap, format);
    vsnprintf(arguments, sizeof arguments, format, ap);
    va_end(ap);
    snprintf(command, sizeof command, "cd %s && %s/bin/tenon %s >out 2>err", test_folder, build,
             arguments);
    int status = system(command);
    cr_assert(WIFEXITED(status), "tenon %s crashed", arguments);
    return WEXITSTATUS(status);
}

/* The file "out" or "err" of the last run has these words in it. */
static inline void expect_words(const char *file, const char *words)
{
    char *text = read_file(file);
    cr_expect(strstr(text, words), "%s lacks \"%s\":\n%.2000s", file, words, text);
    free(text);
}

static inline void expect_no_words(const char *file, const char *words)
{
    char *text = read_file(file);
    cr_expect(!strstr(text, words), "%s has \"%s\":\n%.2000s", file, words, text);
    free(text);
}

#endif

/* new.c - `tenon new plugin`: what it writes, what it refuses, and that a refusal leaves nothing.
 * That the repositories build and pass is ci/extensions' to see. */
#include "tool_test.h"

#include <sys/stat.h>

TestSuite(new, .init = make_folder, .fini = remove_folder);

static void expect_refusal(const char *arguments, const char *words)
{
    cr_expect_eq(run_tenon("new %s", arguments), 2, "%s", arguments);
    expect_words("err", words);
}

static int count_entries(void)
{
    char command[200];
    snprintf(command, sizeof command, "exit $(ls -A %s | grep -cv -e '^out$' -e '^err$')",
             test_folder);
    int status = system(command);
    return WEXITSTATUS(status);
}

Test(new, writes_a_repository)
{
    static const char *const files[] = {
        "demo.yaml",
        "demo_derivatives.yaml",
        "demo.c",
        "test_demo.c",
        "CMakeLists.txt",
        "README.md",
        "schema.lock",
        ".gitignore",
        ".github/workflows/check.yml",
        "ci/check",
        "LICENSE",
    };
    cr_assert_eq(run_tenon("new plugin demo"), 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char name[100];
        snprintf(name, sizeof name, "demo/%s", files[i]);
        char *text = read_file(name);
        cr_expect_not(strstr(text, "@NAME@"), "%s", name);
        cr_expect_not(strstr(text, "@CUDA@"), "%s", name);
        free(text);
    }
    cr_expect_eq(access(in_folder("demo/ci/check"), X_OK), 0);
    cr_expect_eq(access(in_folder("demo/demo.cu"), F_OK), -1);
    cr_expect_eq(run_tenon("schema check --fresh --schema demo/demo.yaml --lock demo/schema.lock"),
                 0);
    cr_expect_eq(count_entries(), 1);
}

Test(new, choices_choose_files)
{
    cr_assert_eq(run_tenon("new plugin demo --lang c++ --cuda --dir here"), 0);
    cr_expect_eq(access(in_folder("here/demo.cpp"), F_OK), 0);
    cr_expect_eq(access(in_folder("here/demo.cu"), F_OK), 0);
    cr_expect_eq(access(in_folder("here/demo.c"), F_OK), -1);
    cr_assert_eq(run_tenon("new plugin demo --makefile --dir there"), 0);
    cr_expect_eq(access(in_folder("there/Makefile"), F_OK), 0);
    cr_expect_eq(access(in_folder("there/CMakeLists.txt"), F_OK), -1);
}

Test(new, an_empty_folder_will_do)
{
    cr_assert_eq(mkdir(in_folder("empty"), 0755), 0);
    cr_expect_eq(run_tenon("new plugin demo --dir empty/"), 0);
    cr_expect_eq(access(in_folder("empty/demo.c"), F_OK), 0);
}

Test(new, what_is_refused_leaves_nothing)
{
    expect_refusal("", "write `tenon new plugin NAME`");
    expect_refusal("plugin 9x", "beginning with a letter");
    expect_refusal("plugin a-b", "beginning with a letter");
    expect_refusal("plugin ''", "beginning with a letter");
    expect_refusal("plugin aten", "namespace of Tenon's own operators");
    expect_refusal("plugin CPU", "a plugin of Tenon's own");
    expect_refusal("plugin tenon_x", "begin with tenon_");
    expect_refusal("plugin test", "every build has a target");
    expect_refusal("plugin demo --lang rust", "--lang c or --lang c++");
    expect_refusal("plugin demo --makefile --cuda", "--cuda needs CMake");
    expect_refusal("plugin demo --dir no/such", "No such file");
    cr_expect_eq(count_entries(), 0);
    write_file("file", "");
    expect_refusal("plugin demo --dir file", "Not a directory");
    expect_refusal("plugin demo --dir .", "not empty");
    cr_expect_eq(count_entries(), 1);
}

/* `tenon doctor`, as a user runs it: one reason and one cure per plugin, whatever the plugin does.
 */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugin_test.h"

enum { MAX_ROWS = 32 };

static json_t *rows[MAX_ROWS];
static int n_rows;

static const char *command(void)
{
    static char path[600];
    const char *build = getenv("TENON_BUILD");
    snprintf(path, sizeof path, "%s/bin/tenon", build ? build : "build");
    return path;
}

static void begin(void)
{
    plugin_test_begin();
    if (access(command(), X_OK) == 0)
        return;
    printf("skipped: %s is not there\n", command());
    cr_skip_test("no command");
}

static void drop_rows(void)
{
    while (n_rows > 0)
        json_decref(rows[--n_rows]);
}

static void end(void)
{
    drop_rows();
    plugin_test_end();
}

TestSuite(doctor, .init = begin, .fini = end, .timeout = 120);

/* Runs the doctor; keeps its rows and returns its exit status. */
static int doctor(const char *arguments)
{
    char line[8192], shell[1024];
    snprintf(shell, sizeof shell, "'%s' doctor --format json %s", command(), arguments);
    FILE *from = popen(shell, "r");
    cr_assert_not_null(from);
    drop_rows();
    for (; n_rows < MAX_ROWS && fgets(line, sizeof line, from); n_rows++) {
        rows[n_rows] = json_loads(line, 0, NULL);
        cr_assert_not_null(rows[n_rows], "not JSON: %s", line);
    }
    return WEXITSTATUS(pclose(from));
}

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

static void says(const char *path, const char *state, const char *reason)
{
    for (int i = 0; i < n_rows; i++) {
        if (strcmp(text_of(rows[i], "path"), path) != 0)
            continue;
        cr_expect_str_eq(text_of(rows[i], "state"), state, "%s: %s", path,
                         text_of(rows[i], "reason"));
        cr_expect(strstr(text_of(rows[i], "reason"), reason), "expected '%s' in: %s", reason,
                  text_of(rows[i], "reason"));
        cr_expect(strcmp(state, "loaded") == 0 || *text_of(rows[i], "cure"), "%s has no cure",
                  path);
        return;
    }
    cr_assert_fail("%s is not listed", path);
}

static int total(const char *key)
{
    cr_assert_str_eq(text_of(rows[n_rows - 1], "kind"), "summary");
    return (int)json_integer_value(json_object_get(rows[n_rows - 1], key));
}

Test(doctor, one_reason_per_plugin)
{
    const char *good = plugin_build("a_good", "scale.c", "");
    const char *crash = plugin_build("crash", "broken.c", "-DCRASHES");
    const char *driver = plugin_build("driver", "broken.c", "-DNEEDS_DRIVER");
    const char *newer = plugin_build("newer", "broken.c", "-DNEWER");
    const char *text = plugin_file("text.so", "text", 4);
    const char *twice = plugin_build("twice", "scale.c", "-DNAME='\"twice\"'");
    cr_assert_eq(doctor(""), 1);
    says(good, "loaded", "");
    says(crash, "refused", "it crashes while it is loaded: signal 6");
    says(driver, "skipped", "driver library");
    says(newer, "refused", "border revision");
    says(text, "refused", "not an ELF file");
    says(twice, "refused", good);
    cr_expect_eq(total("loaded"), 1);
    cr_expect_eq(total("skipped"), 1);
    cr_expect_eq(total("refused"), 4);
}

Test(doctor, coverage_counts_kernels)
{
    plugin_build("a", "scale.c", "");
    plugin_build("b", "kernel.c", "-DNAME='\"b\"' -DKEY='\"Meta\"'");
    cr_assert_eq(doctor(""), 0);
    int found = 0;
    for (int i = 0; i < n_rows; i++) {
        if (strcmp(text_of(rows[i], "kind"), "coverage") != 0)
            continue;
        const char *key = text_of(rows[i], "key");
        cr_expect(strcmp(key, "CPU") == 0 || strcmp(key, "Meta") == 0, "%s", key);
        cr_expect_eq(json_integer_value(json_object_get(rows[i], "kernels")), 1);
        found++;
    }
    cr_expect_eq(found, 2);
}

Test(doctor, exports_and_links)
{
    const char *dir = plugin_test_directory(),
               *tree = getenv("TENON_SOURCE") ? getenv("TENON_SOURCE") : ".";
    const char *build = getenv("TENON_BUILD") ? getenv("TENON_BUILD") : "build";
    char extra[600], linked[700];
    snprintf(extra, sizeof extra, "%s/extra.so", dir);
    snprintf(linked, sizeof linked, "-Wl,--no-as-needed '%s/libtenon-fake.so'", dir);
    plugin_shell("cc -shared -fPIC -fvisibility=hidden -DEXTRA -I'%s/stage-include' "
                 "-I'%s/generated/include' -I'%s/include' "
                 "'%s/tests/plugins/broken.c' -o '%s'",
                 build, build, tree, tree, extra);
    plugin_shell("echo 'int fake = 1;' | cc -shared -fPIC -x c - -o '%s/libtenon-fake.so'", dir);
    cr_assert_eq(doctor(extra), 1);
    says(extra, "refused", "exports the symbol 'helper'");
    const char *path = plugin_build("linked", "scale.c", linked);
    cr_assert_eq(doctor(path), 1);
    says(path, "refused", "linked against");
}

Test(doctor, nothing_to_examine)
{
    cr_assert_eq(doctor(""), 2);
    cr_assert_eq(doctor("--nonsense"), 2);
    cr_assert_eq(doctor("./nowhere.so"), 1);
    says("./nowhere.so", "refused", "cannot be opened");
}

Test(doctor, what_crashes_goes_into_quarantine)
{
    const char *crash = plugin_build("crash", "broken.c", "-DCRASHES");
    cr_assert_eq(doctor(""), 1);
    says(crash, "refused", "it crashes while it is loaded: signal 6");
    cr_assert_eq(doctor(""), 1);
    says(crash, "refused", "it is in quarantine until its file changes: it crashes");
    cr_assert_eq(doctor("--retry"), 1);
    says(crash, "refused", "it crashes while it is loaded: signal 6");
    plugin_refused(crash, "refused", "quarantine", "--retry");
    plugin_shell("mv '%s' '%s'", plugin_build("sound", "broken.c", ""), crash);
    cr_assert_eq(doctor(""), 0);
    says(crash, "loaded", "");
}

Test(doctor, remarks_of_what_loads)
{
    const char *dir = plugin_test_directory();
    char path[600];
    snprintf(path, sizeof path, "%s/outer/inner/spawns.so", dir);
    const char *spawns = plugin_build("spawns", "init.c", "-DSPAWNS -DFLUSHES");
    plugin_shell("mkdir -p '%s/outer/inner' && mv '%s' '%s' && chmod 0775 '%s/outer'", dir, spawns,
                 path, dir);
    cr_assert_eq(doctor(path), 0);
    says(path, "loaded", "its init changes the floating-point mode");
    says(path, "loaded", "its init leaves 1 thread running");
    says(path, "loaded", "/outer can be changed by its group");
    const json_t *places = json_object_get(rows[0], "places");
    cr_assert_geq(json_array_size(places), 4);
    cr_expect_str_eq(text_of(json_array_get(places, 0), "path"), path);
    cr_expect_str_eq(text_of(json_array_get(places, 0), "others"), "nobody");
    cr_expect_str_eq(text_of(json_array_get(places, 2), "others"), "its group");
    cr_expect_eq(json_integer_value(json_object_get(rows[0], "border")), TN_BORDER_REVISION);
}

Test(doctor, coverage_of_each_operator)
{
    plugin_build("scale", "scale.c", "");
    plugin_shell(
        "'%s' doctor --json --coverage | grep '\"operator\": \"plgtest::scale\"' | grep -q "
        "'\"CPU\": {\"plugin\": \"scale\", \"how\": \"kernel\", \"dtypes\": \\['",
        command());
    plugin_shell(
        "'%s' doctor --coverage | grep -A1 '^plgtest::scale$' | grep -q 'CPU *scale, kernel:'",
        command());
}

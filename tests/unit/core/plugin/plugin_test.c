/* plugin_test.c - see plugin_test.h. */
#include "plugin_test.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tenon/op.h>
#include <tenon/tensor.h>

enum { PATH_CHARS = 512, MAX_PATHS = 320 };

static char directory[PATH_CHARS];
static char paths[MAX_PATHS][PATH_CHARS + 64];
static int n_paths;

struct scale_args {
    tn_frame frame;
    tn_tensor *result, *x;
    double s;
};

static const char *environment(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

void plugin_test_begin(void)
{
    const char *tmp = environment("TMPDIR", "/tmp");
    umask(022);
    unsetenv("TENON_ALLOW_WRITABLE");
    unsetenv("TENON_TEST_EXITS");
    snprintf(directory, sizeof directory, "%s/tenon-test-XXXXXX", tmp);
    cr_assert_not_null(mkdtemp(directory), "no temporary directory in %s", tmp);
    setenv("TENON_PLUGIN_PATH", directory, 1);
    setenv("XDG_CACHE_HOME", directory, 1);
    unsetenv("TENON_PLUGIN_PROBE");
    unsetenv("TENON_PLUGIN_CHECK");
    if (system("cc --version >/dev/null 2>&1") != 0) {
        printf("skipped: no C compiler (cc) to build test plugins with\n");
        cr_skip_test("no C compiler");
    }
}

void plugin_test_end(void)
{
    char command[PATH_CHARS + 32];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    if (system(command) != 0)
        cr_log_warn("%s is left behind", directory);
}

const char *plugin_test_directory(void)
{
    return directory;
}

static char *new_path(const char *name)
{
    cr_assert_lt(n_paths, MAX_PATHS);
    char *path = paths[n_paths++];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

void plugin_shell(const char *format, ...)
{
    char command[4096];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(command, sizeof command, format, args);
    va_end(args);
    cr_assert(n > 0 && n < (int)sizeof command, "the command is too long");
    cr_assert_eq(system(command), 0, "failed: %s", command);
}

const char *plugin_build(const char *name, const char *source, const char *flags)
{
    const char *tree = environment("TENON_SOURCE", "."),
               *build = environment("TENON_BUILD", "build");
    char *path = new_path(name);
    strcat(path, ".so");
    bool cpp = strstr(source, ".cpp") != NULL;
    plugin_shell(
        "%s -shared -fPIC -fvisibility=hidden -O1 -Wall -Wextra -Wpedantic -Werror"
        " -I'%s/stage-include' -I'%s/generated/include' -I'%s/include'"
        " -Wl,--version-script='%s/cmake/tenon_plugin.map' %s '%s/tests/plugins/%s' -o '%s'",
        cpp ? "c++ -std=c++17" : "cc -std=gnu11", build, build, tree, tree, flags, tree, source,
        path);
    return path;
}

const char *plugin_file(const char *name, const void *bytes, size_t n)
{
    char *path = new_path(name);
    FILE *f = fopen(path, "wb");
    cr_assert_not_null(f);
    cr_assert_eq(fwrite(bytes, 1, n, f), n);
    cr_assert_eq(fclose(f), 0);
    return path;
}

bool plugin_reported(const char *path_end, tn_plugin_info *out)
{
    bool found = false;
    tn_plugin_info info;
    for (size_t i = 0; tn_plugin_report(i, &info); i++) {
        size_t n = strlen(info.path), k = strlen(path_end);
        if (n < k || strcmp(info.path + n - k, path_end) != 0)
            continue;
        *out = info;
        found = true;
    }
    return found;
}

tn_plugin_handle *plugin_loaded(const char *path)
{
    tn_plugin_handle *handle = NULL;
    tn_status status = tn_plugin_load(path, &handle);
    cr_assert_eq(status, TN_OK, "%s", tn_error_last()->message);
    cr_assert_not_null(handle);
    return handle;
}

void plugin_refused(const char *path, const char *state, const char *text, const char *more)
{
    tn_plugin_info info;
    tn_plugin_handle *handle = (tn_plugin_handle *)&info;
    size_t operators = plugin_operators();
    cr_assert_eq(tn_plugin_load(path, &handle), TN_ERR_PLUGIN, "%s was loaded", path);
    cr_assert_null(handle);
    const char *message = tn_error_last()->message;
    cr_assert(strstr(message, text), "expected '%s' in: %s", text, message);
    cr_assert(!more || strstr(message, more), "expected '%s' in: %s", more, message);
    cr_assert_eq(strchr(message, '\n'), NULL, "more than a line: %s", message);
    cr_assert_eq(plugin_operators(), operators, "something was registered");
    cr_assert(plugin_reported(path, &info), "%s is not in the report", path);
    cr_assert_str_eq(info.state, state, "%s: %s", info.state, info.reason);
    cr_assert(strstr(info.reason, text), "expected '%s' in: %s", text, info.reason);
    cr_assert(*info.cure, "no cure");
}

tn_status plugin_scale_op(const tn_op *op, float x, double s, float *out)
{
    struct scale_args a = {.frame = {sizeof a, 0}, .s = s};
    cr_assert_eq(tn_op_frame_size(op), sizeof a);
    int64_t one = 1;
    cr_assert_eq(tn_tensor_from_data(&x, TN_F32, 1, &one, &a.x), TN_OK);
    tn_status status = tn_op_call(op, &a);
    if (status == TN_OK)
        *out = *(float *)a.result->data;
    tn_release(a.result);
    tn_release(a.x);
    return status;
}

tn_status plugin_scale(const char *ns, float x, double s, float *out)
{
    char name[128];
    snprintf(name, sizeof name, "%s::scale", ns);
    const tn_op *op = tn_op_find(name);
    cr_assert_not_null(op, "%s is not there", name);
    return plugin_scale_op(op, x, s, out);
}

size_t plugin_operators(void)
{
    size_t n = 0;
    while (tn_op_at(n))
        n++;
    return n;
}

/* `tenon record` and `tenon replay --minimize`: calls of a program become a file, and a call that fails
 * becomes a small one. */
#include "replay_file.h"

#include <sys/stat.h>

static const char program[] =
    "#include <stdio.h>\n"
    "#include <stdlib.h>\n"
    "#include <pthread.h>\n"
    "#include <tenon/ops.h>\n"
    "#include <tenon/runtime.h>\n"
    "#include <tenon/tensor.h>\n"
    "static tn_tensor *row(int64_t n)\n"
    "{\n"
    "    const float v[] = {1, -2, 3, 4};\n"
    "    tn_tensor *t = NULL;\n"
    "    tn_tensor_from_data(v, TN_F32, 1, &n, &t);\n"
    "    return t;\n"
    "}\n"
    "static void *work(void *arg)\n"
    "{\n"
    "    tn_tensor *x = row(3);\n"
    "    TN_SCOPE { tn_relu(tn_add(x, x)); }\n"
    "    tn_release(x);\n"
    "    return arg;\n"
    "}\n"
    "int main(int argc, char **argv)\n"
    "{\n"
    "    pthread_t thread;\n"
    "    tn_plugins_load_default();\n"
    "    if (argc > 1 && tn_record_start(argv[1], \"failing\") != TN_OK)\n"
    "        return puts(tn_error_last()->message), 3;\n"
    "    pthread_create(&thread, NULL, work, NULL);\n"
    "    pthread_join(thread, NULL);\n"
    "    work(NULL);\n"
    "    tn_tensor *x = row(3), *y = row(4);\n"
    "    TN_SCOPE { tn_add(x, y); }\n"
    "    tn_error_clear();\n"
    "    tn_release(x);\n"
    "    tn_release(y);\n"
    "    if (argc > 1)\n"
    "        return tn_record_stop() == TN_OK ? 0 : 4;\n"
    "    if (getenv(\"CRASH\"))\n"
    "        abort();\n"
    "    return 0;\n"
    "}\n";

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *format, ...)
{
    char command[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    cr_assert_eq(system(command), 0, "failed: %s", command);
}

static void begin(void)
{
    umask(022);
    make_folder();
}

TestSuite(record, .init = begin, .fini = remove_folder, .timeout = 120);

static void build_program(void)
{
    const char *build = getenv("TENON_BUILD"), *tree = getenv("TENON_SOURCE");
    cr_assert(build && tree, "run this through ctest");
    write_file("program.c", program);
    /* A library that is instrumented wants its runtime in the program, too. */
    shell("cc -std=gnu11 $(ldd '%s/lib/libtenon.so' | grep -q libasan && echo "
          "-fsanitize=address,undefined) '%s/program.c' -o '%s/program' -I'%s/generated/include' "
          "-I'%s/include' "
          "-L'%s/lib' -ltenon -Wl,-rpath,'%s/lib' -lpthread",
          build, test_folder, test_folder, build, tree, build, build);
}

Test(record, every_call_of_every_thread)
{
    build_program();
    cr_assert_eq(run_tenon("record --out all.safetensors -- ./program"), 0);
    expect_words("err", "all.safetensors: 5 calls");
    cr_assert_eq(run_tenon("replay all.safetensors"), 0);
    expect_words("out", "total: 5 passed, 0 failed");
}

Test(record, those_that_fail)
{
    build_program();
    cr_assert_eq(run_tenon("record --out bad.safetensors --only failing -- ./program"), 0);
    expect_words("err", "bad.safetensors: 1 call");
    cr_assert_eq(run_tenon("replay --verbose bad.safetensors"), 0);
    expect_words("out", "shapes [3] and [4] do not broadcast");
    cr_assert_eq(run_tenon("replay --minimize bad.safetensors --out small.safetensors"), 0);
    expect_words("out", "\"shape\": [2]");
    expect_words("out", "\"shape\": [3]");
    cr_assert_eq(run_tenon("replay --verbose small.safetensors"), 0);
    expect_words("out", "shapes [2] and [3] do not broadcast");
}

Test(record, the_last_before_a_crash)
{
    build_program();
    setenv("CRASH", "1", 1);
    cr_assert_eq(run_tenon("record --out last.safetensors --only last -- ./program"), 128 + 6);
    unsetenv("CRASH");
    expect_words("err", "ended by signal 6");
    expect_words("err", "last.safetensors: 1 call");
    cr_assert_eq(run_tenon("replay last.safetensors"), 1);
    expect_words("out", "do not broadcast");
}

Test(record, by_a_call_and_by_the_environment)
{
    build_program();
    shell("cd '%s' && ./program by-call.safetensors && TENON_RECORD=by-env.safetensors ./program",
          test_folder);
    cr_assert_eq(run_tenon("replay by-call.safetensors"), 0);
    expect_words("out", "total: 1 passed");
    cr_assert_eq(run_tenon("replay by-env.safetensors"), 0);
    expect_words("out", "total: 5 passed");
}

Test(record, a_limit)
{
    build_program();
    cr_assert_eq(run_tenon("record --out few.safetensors --limit 2 -- ./program"), 0);
    expect_words("err", "few.safetensors: 2 calls, others were left out");
}

Test(record, wrong_use)
{
    cr_assert_eq(run_tenon("record"), 2);
    expect_words("err", "behind --");
    cr_assert_eq(run_tenon("record --only some -- true"), 2);
    expect_words("err", "failing or last");
    cr_assert_eq(run_tenon("record -- ./no-such-program"), 2);
    expect_words("err", "cannot run './no-such-program'");
    cr_assert_eq(run_tenon("record -- true"), 2);
    expect_words("err", "nothing was recorded");
    cr_assert_eq(run_tenon("record --out /nowhere/x.safetensors -- true"), 2);
}

/* ---- minimize -------------------------------------------------------------------------------- */
/* The operators of tests/plugins/crash.c, in a directory that is searched. */
static void build_plugin(void)
{
    const char *build = getenv("TENON_BUILD"), *tree = getenv("TENON_SOURCE");
    shell(
        "mkdir -p '%s/plugins' && cc -std=gnu11 -shared -fPIC -fvisibility=hidden "
        "-I'%s/generated/include' -I'%s/include' -Wl,--version-script='%s/cmake/tenon_plugin.map' "
        "'%s/tests/plugins/crash.c' -o '%s/plugins/crash.so'",
        test_folder, build, tree, tree, tree, test_folder);
    setenv("TENON_PLUGIN_PATH", in_folder("plugins"), 1);
}

Test(record, a_crash_is_shrunk)
{
    float x[40];
    for (int i = 0; i < 40; i++)
        x[i] = i == 19 ? -2.5f : (float)i + 0.5f;
    build_plugin();
    begin_replay();
    add_floats("0.s0", 40, x);
    end_replay("crash.safetensors",
               "{'n':0,'schema':'plgcrash::abort(Tensor x, int n, float[] fs) -> Tensor','args':{"
               "'x':{'tensor':'s0','dtype':'float32','shape':[5,6],'stride':[8,1],'offset':1},"
               "'n':{'int':77},'fs':[{'float':1.5},{'float':2.5}]},'returns':[null]}");
    cr_assert_eq(run_tenon("replay crash.safetensors"), 1);
    expect_words("out", "CRASH: signal 6");
    cr_assert_eq(run_tenon("replay --minimize crash.safetensors"), 0);
    expect_words("out", "\"shape\": [3]");
    expect_words("out", "\"n\": {\"int\": 0}");
    expect_words("out", "\"fs\": []");
    expect_words("out", "CRASH signal");
    cr_assert_eq(run_tenon("replay minimized.safetensors"), 1);
    expect_words("out", "CRASH: signal 6");
}

Test(record, a_wrong_value_is_shrunk)
{
    float x[24];
    for (int i = 0; i < 24; i++)
        x[i] = (float)i;
    build_plugin();
    begin_replay();
    add_floats("0.s0", 24, x);
    add_floats("0.r0", 24, x);
    end_replay(
        "value.safetensors",
        "{'n':0,'schema':'plgcrash::off(Tensor x) -> Tensor','args':{"
        "'x':{'tensor':'s0','dtype':'float32','shape':[4,6],'stride':[6,1],'offset':0}},"
        "'returns':[{'tensor':'r0','dtype':'float32','shape':[4,6],'stride':[6,1],'offset':0}]}");
    cr_assert_eq(run_tenon("replay value.safetensors"), 1);
    cr_assert_eq(run_tenon("replay --minimize value.safetensors"), 0);
    expect_words("out", "\"shape\": [1, 1]");
    cr_assert_eq(run_tenon("replay minimized.safetensors"), 1);
    expect_words("out", "1 failed");
}

Test(record, nothing_to_shrink)
{
    const float x[] = {1, 2};
    build_plugin();
    begin_replay();
    add_floats("0.s0", 2, x);
    end_replay("fine.safetensors",
               "{'n':0,'schema':'plgcrash::off(Tensor x) -> Tensor','args':{'x':" F32_2(
                   "s0") "},'returns':[" F32_2("s0") "]}");
    cr_assert_eq(run_tenon("replay --minimize fine.safetensors"), 2);
    expect_words("err", "no case of it fails");
    cr_assert_eq(run_tenon("replay --minimize nowhere.safetensors"), 2);
    cr_assert_eq(run_tenon("replay --minimize a b"), 2);
    expect_words("err", "takes one file");
}

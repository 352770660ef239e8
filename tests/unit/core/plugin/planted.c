/* Planted faults: every plugin of the table has one thing wrong with it, and both the loader and
 * `tenon doctor` must say the right words about it.
 *
 * A row: source and flags of tests/plugins/, what is done to the file afterwards, and what is said.
 * Where the loader cannot notice (it reads no symbol table) or must not try (the plugin crashes),
 * only the doctor is asked. Each plugin is built into a directory that is not searched. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugin_test.h"

typedef enum asked { BOTH, DOCTOR } asked;

typedef struct planted {
    const char *source, *flags;
    const char *shell; /* run afterwards, with the file's path as $1 and the tests' sources as $2 */
    asked asked;
    const char *state;
    const char *words; /* that the reason holds */
    const char *cure;  /* that the cure holds; NULL: any */
} planted;

/* Writes one byte: $1 is the file. */
#define POKE(at, octal)                                                                            \
    "printf '\\" octal "' | dd of=\"$1\" bs=1 seek=" at " conv=notrunc 2>/dev/null"
#define CASE(name) "-DCASE=" name
#define CLAIM(name, words)                                                                         \
    {                                                                                              \
        "claims.c", "'-DCASE=\"" name "\"'", NULL, BOTH, "refused", words, NULL                    \
    }

static const planted table[] = {
    /* no shared object for this machine */
    {NULL, NULL, "printf 'hello, plugin\\n' >\"$1\"", BOTH, "refused", "not an ELF file", NULL},
    {NULL, NULL, ": >\"$1\"", BOTH, "refused", "the file is empty", NULL},
    {NULL, NULL, "printf '\\177ELF\\002\\001\\001' >\"$1\"", BOTH, "refused", "truncated: 7 bytes",
     NULL},
    {NULL, NULL, "mkdir \"$1\"", BOTH, "refused", "not a regular file", NULL},
    {NULL, NULL, "mkfifo \"$1\"", BOTH, "refused", "not a regular file", NULL},
    {NULL, NULL, "ln -s \"$1\" \"$1\"", BOTH, "refused", "Too many levels of symbolic links", NULL},
    {NULL, NULL, "ln -s /dev/null \"$1\"", BOTH, "refused", "written by everybody", NULL},
    {NULL, NULL, "ln -s /nowhere/at/all \"$1\"", BOTH, "refused", "cannot be opened", "path"},
    {"scale.c", "", POKE("4", "001"), BOTH, "refused", "not a 64-bit ELF file", "this machine"},
    {"scale.c", "", POKE("18", "050"), BOTH, "refused", "machine type", "this machine"},
    {"scale.c", "", POKE("16", "001"), BOTH, "refused", "type 1, not a shared object", "-shared"},
    {"scale.c", "", POKE("57", "377"), BOTH, "refused", "program headers lie outside", NULL},
    {"scale.c", "", "truncate -s 700 \"$1\"", BOTH, "refused", "ends outside the file", "again"},
    {"scale.c", "", "truncate -s 8192 \"$1\"", BOTH, "refused", "ends outside the file", "again"},

    /* who can write it */
    {"scale.c", "", "chmod 0666 \"$1\"", BOTH, "refused", "written by everybody (mode 0666)",
     "chmod go-w"},
    {"scale.c", "", "chmod 0664 \"$1\"", BOTH, "refused", "written by its group", "chmod go-w"},
    {"scale.c", "",
     "mkdir \"$1.d\" && mv \"$1\" \"$1.d/p.so\" && ln -s \"$1.d/p.so\" \"$1\" && chmod 0777 "
     "\"$1.d\"",
     BOTH, "refused", "its directory can be written by everybody", "chmod go-w"},

    /* the note */
    {"broken.c", "-DNO_NOTE", NULL, BOTH, "refused", "no Tenon note", "TN_PLUGIN"},
    {"broken.c", "-DOWNER", NULL, BOTH, "refused", "no Tenon note", "TN_PLUGIN"},
    {"broken.c", "-DNOTE_TYPE", NULL, BOTH, "refused", "no Tenon note", "TN_PLUGIN"},
    {"broken.c", "-DNOTE_REVISION", NULL, BOTH, "refused", "layout 99", "tenon/plugin.h"},
    {"broken.c", "-DSHORT_NOTE", NULL, BOTH, "refused", "16 bytes", NULL},
    {"broken.c", "-DUNPRINTABLE", NULL, BOTH, "refused", "unprintable", NULL},
    {"broken.c", "-DNO_NAME", NULL, BOTH, "refused", "has the name ''", NULL},
    {"broken.c", "-DNEWER", NULL, BOTH, "refused", "needs border revision", "TN_TARGET_ABI"},
    {"broken.c", "-DOLDER", NULL, BOTH, "refused", "border revision 0", "rebuild"},
    {"broken.c", "-DFINGERPRINT", NULL, BOTH, "refused", "its fingerprint is", "rebuild"},
    {"broken.c", "-DNEEDS_UNKNOWN", NULL, BOTH, "skipped", "CPU feature 'quantum'", "build"},
    {"broken.c", "-DNEEDS_DRIVER", NULL, BOTH, "skipped", "libtenon-no-such-driver.so.1",
     "install"},
    {"broken.c", "-DNEEDS_PATH", NULL, BOTH, "refused", "'../libdriver.so', which is a path",
     "not a path"},
    {"broken.c", "-DTALKS -DNEWER", NULL, BOTH, "refused", "needs border revision", NULL},
    {"broken.c", "-DTWO_NOTES", NULL, BOTH, "refused", "it has 2 Tenon notes", "once"},
    {"broken.c", "-DHUGE_NOTE", NULL, BOTH, "refused", "Tenon's is not found before it", NULL},
    {"broken.c", "-DLONG_NOTE", NULL, BOTH, "refused", "one ends outside its segment", NULL},
    {"broken.c", "-DINVERTED", NULL, BOTH, "refused", "its note contradicts itself", NULL},
    {"broken.c", "-DHIDDEN", NULL, BOTH, "refused", "something behind its end", NULL},
    {"broken.c", "'-DNAMED=\"../evil\"'", NULL, BOTH, "refused", "has the name '../evil'", NULL},
    {"broken.c", "'-DNAMED=\"two words\"'", NULL, BOTH, "refused", "has the name 'two words'",
     NULL},
    {"broken.c", "'-DVERSION=\"latest\"'", NULL, BOTH, "refused", "begins with a digit", NULL},
    {"broken.c", "'-DVERSION=\"1.0; rm\"'", NULL, BOTH, "refused", "the version '1.0; rm'", NULL},
    {"broken.c", "'-DNEEDS_CPU=\"sse4.2,,avx\"'", NULL, BOTH, "refused", "has an empty one",
     "TN_PLUGIN_CPU"},
    {"broken.c", "-DSCHEMAS", NULL, BOTH, "refused", "123456789abcdef0 as the hash of its", NULL},
    {"broken.c", "-DTALKS -DTWO_NOTES", NULL, BOTH, "refused", "it has 2 Tenon notes", NULL},

    /* its symbols and how it is linked */
    {"broken.c", "-DNO_SYMBOL -Wl,--export-dynamic", NULL, BOTH, "refused", "export", "export"},
    {"broken.c", "-DNO_SYMBOL", "cc -shared -fPIC -DNO_SYMBOL $INCLUDES \"$2/broken.c\" -o \"$1\"",
     DOCTOR, "refused", "exports the symbol '", "-fvisibility=hidden"},
    {"broken.c", "-DFUNCTION_SYMBOL", NULL, BOTH, "refused", "not a tn_plugin", NULL},
    {"broken.c", "-DSHORT_TABLE", NULL, BOTH, "refused", "8 bytes", NULL},
    {"broken.c", "-DOTHER_NAME", NULL, BOTH, "refused", "another name", NULL},
    {"broken.c", "-DOTHER_TABLE", NULL, BOTH, "refused", "do not agree", NULL},
    {"broken.c", "-DNO_INIT", NULL, BOTH, "refused", "no init", NULL},
    {"broken.c", "-DNO_TEXTS", NULL, BOTH, "refused", "another name", NULL},
    {"broken.c", "-DLONG_TABLE", NULL, BOTH, "refused", "says 2147483647 bytes", NULL},
    {"broken.c", "-DSMALL_TABLE", NULL, BOTH, "refused", "not a tn_plugin", NULL},
    {"broken.c", "-DRESOLVED_SYMBOL", NULL, BOTH, "refused", "not a tn_plugin", NULL},
#if defined(__x86_64__)
    {"broken.c", "-DCROOKED_TABLE", NULL, BOTH, "refused", "is misaligned", NULL},
#endif
    {"broken.c", "-DUNDEFINED", NULL, BOTH, "refused", "undefined symbol: tenon_test_nobody", NULL},
    {"broken.c", "-DMUCH_TLS", NULL, BOTH, "refused", "static TLS block", NULL},
    {"broken.c", "", POKE("60", "000") " && " POKE("61", "000"), DOCTOR, "refused",
     "no section of dynamic symbols", "section headers"},
    {"broken.c", "",
     "cc -shared -fPIC -fvisibility=hidden -DEXTRA $INCLUDES \"$2/broken.c\" -o \"$1\"", DOCTOR,
     "refused", "exports the symbol 'helper'", "export map"},
    {"broken.c", "-DWANTS", NULL, DOCTOR, "refused",
     "needs the symbol 'tn_plugin_load' of libtenon", "tn->NAME"},
    {"scale.c", "",
     "echo 'int fake;' | cc -shared -fPIC -x c - -o \"$1.d.so\" && mv \"$1.d.so\" "
     "\"${1%/*}/libtenon-x.so\""
     " && cc -shared -fPIC -fvisibility=hidden $MAP $INCLUDES \"$2/scale.c\" -Wl,--no-as-needed "
     "\"${1%/*}/libtenon-x.so\" -o \"$1\"",
     DOCTOR, "refused", "linked against", "do not link libtenon"},
    {"scale.c", "",
     "echo 'int gone;' | cc -shared -fPIC -x c - -o \"${1%/*}/libgone.so\" && cc -shared -fPIC "
     "-fvisibility=hidden $MAP $INCLUDES \"$2/scale.c\" -Wl,--no-as-needed \"${1%/*}/libgone.so\" "
     "-o "
     "\"$1\" && rm \"${1%/*}/libgone.so\"",
     BOTH, "refused", "the dynamic linker refuses it", "ldd"},
#if defined(__x86_64__)
    {"broken.c", "-DTEXT_RELOCATIONS -Wl,-z,notext", NULL, DOCTOR, "refused", "relocations",
     "-fPIC"},
#endif
    {"scale.c", "-Wl,-z,execstack", NULL, DOCTOR, "refused", "executable stack", "noexecstack"},
    {"scale.c", "-Wl,-rpath,plugins/lib", NULL, DOCTOR, "refused",
     "'plugins/lib' depends on the current directory", "$ORIGIN"},
    {"scale.c", "'-Wl,-rpath,/opt/x:'", NULL, DOCTOR, "refused", "'an empty place'", "$ORIGIN"},

    /* its code */
    {"broken.c", "-DCRASHES", NULL, DOCTOR, "refused", "it crashes while it is loaded: signal 6",
     "--retry"},
    {"broken.c", "-DCONSTRUCTOR_CRASHES", NULL, DOCTOR, "refused", "signal 6", "--retry"},
    {"broken.c", "-DCONSTRUCTOR_EXITS", NULL, DOCTOR, "refused",
     "ends the process while it is loaded, with exit status 0", NULL},
    {"broken.c", "-DCONSTRUCTOR_HANGS", NULL, DOCTOR, "refused", "does not return", NULL},
    {"broken.c", "-DRESOLVER_CRASHES", NULL, DOCTOR, "refused", "signal 6", "--retry"},
    {"throws.cpp", "-DCONSTRUCTOR", NULL, DOCTOR, "refused",
     "a constructor of it threw a C++ exception", "init that TN_PLUGIN names"},
    {"broken.c", "-DEXITS", NULL, DOCTOR, "refused",
     "ends the process while it is loaded, with exit status 3", NULL},
    {"broken.c", "-DHANGS", NULL, DOCTOR, "refused", "does not return: stopped after 1 second",
     NULL},
    {"throws.cpp", "", NULL, BOTH, "refused", "its init threw a C++ exception", "return a status"},
    {"init.c", "-DFAIL_AT=1", NULL, BOTH, "refused", "init failed (schema", "correct"},
    {"init.c", "-DFAIL_AT=5", NULL, BOTH, "refused", "wrong(Tensor x -> Tensor", NULL},
    {"init.c", "-DFAIL_AT=3 -DIGNORE_FAILURE", NULL, BOTH, "refused", "init failed", NULL},
    {"init.c", "-DRETURNS=12345", NULL, BOTH, "refused", "returned 12345, which is not a status",
     "TN_OK"},
    {"init.c", "-DRETURNS=-1", NULL, BOTH, "refused", "returned -1", NULL},
    {"init.c", "-DRETURNS=TN_ERR_DEVICE", NULL, BOTH, "refused", "(device): it does not say why",
     NULL},
    {"init.c", "-DIMPORTS", NULL, BOTH, "refused", "plgtest_nobody::has, which no loaded plugin",
     NULL},
    {"init.c", "-DLOADS", NULL, DOCTOR, "refused", "a plugin's init cannot load or unload plugins",
     NULL},

    /* what it declares */
    {"declare.c", CASE("frame_size"), NULL, BOTH, "refused", "compiled with a frame of", NULL},
    {"declare.c", CASE("unknown_key"), NULL, BOTH, "refused", "dispatch key 'CPUU' does not exist",
     NULL},
    {"declare.c", CASE("no_key"), NULL, BOTH, "refused", "without a schema or a key", NULL},
    {"declare.c", CASE("no_kernel_schema"), NULL, BOTH, "refused", "without a schema or a key",
     NULL},
    {"declare.c", CASE("bad_kernel_schema"), NULL, BOTH, "refused", "plgtest::f(Tensor x", NULL},
    {"declare.c", CASE("other_kernel_schema"), NULL, BOTH, "refused", "plgtest::f(int x) -> Tensor",
     NULL},
    {"declare.c", CASE("kernel_of_nobody"), NULL, BOTH, "refused",
     "plgtest::nobodys: no such operator", NULL},
    {"declare.c", CASE("kernel_twice"), NULL, BOTH, "refused",
     "registers two kernels of one rank for plgtest::f under CPU", NULL},
    {"declare.c", CASE("alias_falls_through"), NULL, BOTH, "refused", "needs a function", NULL},
    {"declare.c", CASE("fallback_for_alias"), NULL, BOTH, "refused", "not under the alias", NULL},
    {"declare.c", CASE("op_twice"), NULL, BOTH, "refused", "plgtest::f is already registered",
     NULL},
    {"declare.c", CASE("op_twice_otherwise"), NULL, BOTH, "refused", "(Tensor x, int n)", NULL},
    {"declare.c", CASE("op_of_the_core"), NULL, BOTH, "refused",
     "aten::relu is already registered by the core", NULL},
    {"declare.c", CASE("op_without_schema"), NULL, BOTH, "refused", "without a schema", NULL},
    {"declare.c", CASE("bad_schema"), NULL, BOTH, "refused", "Tensr", NULL},
    {"declare.c", CASE("default_then_none"), NULL, BOTH, "refused", "b", NULL},
    {"declare.c", CASE("long_name"), NULL, BOTH, "refused", "aaaa", NULL},
    {"declare.c", CASE("pointwise_without_tensor"), NULL, BOTH, "refused", "cannot be structured",
     NULL},
    {"declare.c", CASE("five_results"), NULL, BOTH, "refused", "cannot be structured", NULL},
    {"declare.c", CASE("missing_import"), NULL, BOTH, "refused", "plgtest_nobody::has, which no",
     NULL},
    {"declare.c", CASE("other_import"), NULL, BOTH, "refused", "aten::relu(Tensor self, int n)",
     NULL},
    {"declare.c", CASE("other_registry"), NULL, BOTH, "refused", "inside a plugin's init only",
     NULL},
    {"declare.c", CASE("device_twice"), NULL, BOTH, "refused", "'plgnpu' cannot be registered",
     NULL},
    {"declare.c", CASE("device_of_the_core"), NULL, BOTH, "refused", "'cpu' cannot be registered",
     NULL},
    {"declare.c", CASE("device_with_index"), NULL, BOTH, "refused", "letters, digits, '_' or '-'",
     NULL},
    {"declare.c", CASE("device_without_memory"), NULL, BOTH, "refused",
     "no function that allocates", NULL},
    {"declare.c", CASE("device_with_other_key"), NULL, BOTH, "refused",
     "cannot have the dispatch key 'Meta'", NULL},
    {"declare.c", CASE("too_many_devices"), NULL, BOTH, "refused", "types are", NULL},
    {"declare.c", CASE("derivative_of_nobody"), NULL, BOTH, "refused",
     "plgtest::nobodys: no such operator", NULL},
    {"declare.c", CASE("derivative_fields"), NULL, BOTH, "refused",
     "the derivative of plgtest::f describes 3 fields; its schema has 1 results and 1 arguments",
     NULL},
    {"declare.c", CASE("derivative_frame"), NULL, BOTH, "refused",
     "the derivative of plgtest::f was compiled with a frame of", NULL},
    {"declare.c", CASE("derivative_schema"), NULL, BOTH, "refused",
     "plgtest::f(Tensor x, int n) -> Tensor", NULL},
    {"declare.c", CASE("derivative_without_name"), NULL, BOTH, "refused",
     "without schema, name or fields", NULL},
    {"declare.c", CASE("derivative_twice"), NULL, BOTH, "refused",
     "two kernels of one rank for plgtest::f under Autograd", NULL},

    /* what it claims: tests/plugins/claims.c */
    CLAIM("inplace_of_another_name", "has the same name with '_' behind it"),
    CLAIM("inplace_of_another_namespace", "'other::g_(Tensor(a!) x) -> Tensor(a!)' is no form of"),
    CLAIM("inplace_that_writes_nothing", "an in-place form writes an argument"),
    CLAIM("inplace_with_more", "its results and arguments must be the same"),
    CLAIM("out_of_another_name", "has the same name and another overload"),
    CLAIM("out_with_other_arguments", "then an out argument"),
    CLAIM("out_without_out", "then an out argument"),
    CLAIM("out_twice", "plgtest::g"),
    CLAIM("shape_and_pointwise", "not both"),
    CLAIM("unknown_pointwise", "bits that mean nothing"),
    CLAIM("unknown_op_dtypes", "its dtypes 0x40000000"),
    CLAIM("core_namespace", "'myops::plgtest_g'"),
    CLAIM("no_namespace", "aten::plgtest_g cannot be registered by claims 1.0"),
    CLAIM("unknown_kernel_dtypes", "its dtypes 0x80000000"),
    CLAIM("unknown_kernel_flags", "its flags 0x80"),
    CLAIM("kernel_of_another_namespace", "other::f: no such operator"),
    CLAIM("core_kernel_otherwise", "aten::relu(Tensor self, int n) -> Tensor"),
    CLAIM("fallback_that_is_taken", "the fallback already has a kernel of rank 0 for AutogradCPU"),
    CLAIM("empty_kernel_schema", "no such operator"),
    CLAIM("empty_key", "dispatch key '' does not exist"),
    CLAIM("device_without_name", "device type '': its name"),
    CLAIM("device_of_no_letters", "device type '': its name"),
    CLAIM("device_with_path", "device type '../npu': its name"),
    CLAIM("device_without_key", "the key is ''"),
    CLAIM("device_that_frees_nothing", "has no function that frees"),
    CLAIM("device_with_flags", "flags that mean nothing: 0x2"),
    CLAIM("half_a_stream", "give all four, or none"),
    CLAIM("half_an_allocator", "give both, or none"),
    CLAIM("device_with_the_cores_key", "cannot have the dispatch key 'CPU'"),
    CLAIM("derivative_of_a_number", "speaks of 'n', which is of type int and no tensor"),
    CLAIM("derivative_that_keeps_a_number", "speaks of 'n', which is of type int and no tensor"),
    CLAIM("derivative_that_keeps_for_nobody", "keeps 'x' for the gradient of an argument that it"),
    CLAIM("no_ops", "register_ops: expected 3 declarations, got NULL"),
    CLAIM("no_ops_and_no_word", "register_ops: expected 3 declarations, got NULL"),
    CLAIM("no_kernels", "register_kernels: expected 1 declarations, got NULL"),
    CLAIM("no_derivatives", "register_derivatives: expected 1 declarations, got NULL"),
    CLAIM("no_import", "imports an operator without a schema"),
    CLAIM("no_device", "without a declaration"),
    CLAIM("no_device_number", "without a place for its number"),
};
enum { N = sizeof table / sizeof *table };

static char home[600];

static const char *from_environment(const char *name, const char *otherwise)
{
    return getenv(name) && *getenv(name) ? getenv(name) : otherwise;
}

static void begin(void)
{
    plugin_test_begin();
    const char *build = from_environment("TENON_BUILD", "build");
    const char *tree = from_environment("TENON_SOURCE", ".");
    char text[2048];
    snprintf(home, sizeof home, "%s/searched", plugin_test_directory());
    cr_assert_eq(mkdir(home, 0755), 0);
    setenv("TENON_PLUGIN_PATH", home, 1);
    setenv("TENON_PLUGIN_PROBE_SECONDS", "1", 1);
    setenv("TENON_TEST_LOADS", "/nowhere.so", 1);
    snprintf(text, sizeof text, "-I%s/stage-include -I%s/generated/include -I%s/include", build,
             build, tree);
    setenv("INCLUDES", text, 1);
    snprintf(text, sizeof text, "-Wl,--version-script=%s/cmake/tenon_plugin.map", tree);
    setenv("MAP", text, 1);
}

TestSuite(planted, .init = begin, .fini = plugin_test_end, .timeout = 300);

static const char *plant(const planted *p, int i)
{
    char name[16];
    snprintf(name, sizeof name, "planted%d", i);
    static char none[N][600]; /* files that the shell makes */
    snprintf(none[i], sizeof none[i], "%s/%s.so", plugin_test_directory(), name);
    const char *path = p->source ? plugin_build(name, p->source, p->flags) : none[i];
    if (p->shell) {
        setenv("SCRIPT", p->shell, 1);
        plugin_shell("sh -c \"$SCRIPT\" sh '%s' '%s/tests/plugins'", path,
                     from_environment("TENON_SOURCE", "."));
    }
    return path;
}

/* The doctor's row for one file. */
static json_t *ask_doctor(const char *path)
{
    char line[16384], shell[1600];
    json_t *row = NULL;
    snprintf(shell, sizeof shell, "'%s/bin/tenon' doctor --json '%s' 2>/dev/null",
             from_environment("TENON_BUILD", "build"), path);
    FILE *from = popen(shell, "r");
    cr_assert_not_null(from);
    while (fgets(line, sizeof line, from))
        if (!row && strstr(line, "\"kind\": \"plugin\""))
            row = json_loads(line, 0, NULL);
    cr_assert_eq(WEXITSTATUS(pclose(from)), 1, "%s: the doctor is content", path);
    return row;
}

static void check_doctor(const planted *p, int i, const char *path)
{
    json_t *row = ask_doctor(path);
    cr_assert_not_null(row, "row %d: the doctor says nothing", i);
    const char *state = json_string_value(json_object_get(row, "state"));
    const char *reason = json_string_value(json_object_get(row, "reason"));
    const char *cure = json_string_value(json_object_get(row, "cure"));
    cr_expect_str_eq(state, p->state, "row %d %s: doctor: %s: %s", i, p->flags, state, reason);
    cr_expect(strstr(reason, p->words), "row %d %s: doctor: expected '%s' in: %s", i, p->flags,
              p->words, reason);
    cr_expect(*cure && strlen(cure) < 200, "row %d: cure '%s'", i, cure);
    cr_expect(!p->cure || strstr(cure, p->cure), "row %d %s: doctor: expected '%s' in the cure: %s",
              i, p->flags, p->cure, cure);
    json_decref(row);
}

static void check_loader(const planted *p, const char *path)
{
    char real[4096];
    bool there = realpath(path, real);
    plugin_refused(there ? real : path, p->state, p->words, p->cure);
}

Test(planted, each_is_caught_with_the_right_words)
{
    cr_assert_geq(N, 40);
    for (int i = 0; i < N; i++) {
        const char *path = plant(&table[i], i);
        if (table[i].asked == BOTH)
            check_loader(&table[i], path);
        check_doctor(&table[i], i, path);
    }
    cr_assert_null(getenv("TENON_TEST_CONSTRUCTED"), "code ran before the note was read");
    plugin_loaded(plugin_build("sound", "declare.c", ""));
}

/* What this machine's CPU lacks. */
Test(planted, an_instruction_set_that_is_not_here)
{
#if defined(__x86_64__)
    const char *lacks = !__builtin_cpu_supports("avx512f")    ? "avx512f"
                        : !__builtin_cpu_supports("avx512bw") ? "avx512bw"
                                                              : NULL;
    if (lacks) {
        char flags[64], words[64];
        snprintf(flags, sizeof flags, "'-DNEEDS_CPU=\"sse4.2,%s\"'", lacks);
        snprintf(words, sizeof words, "the CPU feature '%s', which this CPU has not", lacks);
        plugin_refused(plugin_build("lacks", "broken.c", flags), "skipped", words,
                       "instruction set");
        return;
    }
#endif
    printf("skipped: this CPU lacks nothing that Tenon knows\n");
}

/* Two of one namespace, and two copies of one file: with the other one loaded before. */
Test(planted, beside_another_plugin)
{
    const char *scale = plugin_build("searched/scale", "scale.c", "");
    static const struct {
        const char *source, *flags, *words;
    } rows[] = {
        {"scale.c", "", "plgtest::scale is already registered by scale 1.2.3 (/"},
        {"scale.c", "-DNAME='\"other\"'", "plgtest::scale is already registered by scale 1.2.3 (/"},
        {"scale.c", "-DNAME='\"other\"' '-DSCHEMA=\"plgtest::scale(Tensor x, int s) -> Tensor\"'",
         "plgtest::scale(Tensor x, int s) -> Tensor"},
        {"kernel.c", "-DNAME='\"again\"'", "already has a kernel of rank 0 for CPU, from scale"},
        {"older.c", "'-DSCHEMA=\"plgtest::scale(Tensor x) -> (Tensor, Tensor)\"'",
         "plgtest::scale(Tensor x) -> (Tensor, Tensor)"},
        {"caller.c", "'-DCALLS=\"plgtest::scale(Tensor x, Tensor y) -> Tensor\"'",
         "plgtest::scale(Tensor x, Tensor y) -> Tensor"},
    };
    plugin_loaded(scale);
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
        planted p = {rows[i].source, rows[i].flags, NULL, BOTH, "refused", rows[i].words, NULL};
        const char *path = plant(&p, i);
        check_loader(&p, path);
        check_doctor(&p, i, path);
    }
}

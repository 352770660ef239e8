/* `tenon abi`: a plugin's file and its rules; what may follow a border, a library, a plugin. */
#include "tool_test.h"

#include <sys/stat.h>

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

static const char *tree(void)
{
    cr_assert(getenv("TENON_SOURCE"), "TENON_SOURCE names the sources; run this through ctest");
    return getenv("TENON_SOURCE");
}

/* border.yaml of the sources, edited by a sed script. */
static void edit_border(const char *name, const char *script)
{
    shell("sed '%s' '%s/abi/border.yaml' >%s/%s", script, tree(), test_folder, name);
}

static void build_plugin(const char *name, const char *source, const char *flags)
{
    const char *build = getenv("TENON_BUILD");
    shell("cc -std=gnu11 -shared -fPIC -fvisibility=hidden -I'%s/generated/include' -I'%s/include' "
          "-Wl,--version-script='%s/cmake/tenon_plugin.map' %s '%s/tests/plugins/%s' -o %s/%s",
          build, tree(), tree(), flags, tree(), source, test_folder, name);
}

static void begin(void)
{
    umask(022);
    make_folder();
}

TestSuite(abi, .init = begin, .fini = remove_folder, .timeout = 120);

/* ---- check ----------------------------------------------------------------------------------- */
Test(abi, a_sound_plugin)
{
    build_plugin("scale.so", "scale.c", "");
    cr_assert_eq(run_tenon("abi check scale.so"), 0);
    expect_words("out", "ok       note: scale 1.2.3, for hosts of border revision 1 and later");
    expect_words("out", "8 ok, 0 added, 0 changed, 0 breaks");
    cr_assert_eq(run_tenon("abi check scale.so --format json"), 0);
    expect_words("out", "{\"kind\": \"summary\", \"ok\": 8");
    edit_border("border.yaml", "");
    cr_assert_eq(run_tenon("abi check scale.so --border border.yaml"), 0);
    cr_assert_eq(
        run_tenon("abi check scale.so --border '%s/lib/libtenon.so'", getenv("TENON_BUILD")), 0);
}

Test(abi, every_rule_has_its_row)
{
    build_plugin("bad.so", "broken.c", "-DFINGERPRINT -Wl,-z,execstack -Wl,-rpath,lib");
    cr_assert_eq(run_tenon("abi check bad.so"), 1);
    expect_words("out", "break    border: ");
    expect_words("out", "ok       exports: ");
    expect_words("out", "break    stack: ");
    expect_words("out", "break    run path: ");
    expect_words("out", "3 breaks");
    cr_assert_eq(run_tenon("abi check bad.so --format github"), 1);
    expect_words("out", "::error file=bad.so,line=1::stack: ");
    cr_assert_eq(run_tenon("abi check bad.so --format junit"), 1);
    expect_words("out", "<testcase classname=\"abi\" name=\"stack\"><failure");
    build_plugin("driver.so", "broken.c", "-DNEEDS_DRIVER");
    cr_assert_eq(run_tenon("abi check driver.so"), 0, "what this machine lacks breaks no rule");
    expect_words("out", "changed  border: not on this machine");
    write_file("text.so", "text");
    cr_assert_eq(run_tenon("abi check text.so"), 1);
    expect_words("out", "not an ELF file");
    cr_assert_eq(run_tenon("abi check"), 2);
}

/* ---- diff ------------------------------------------------------------------------------------ */
static void diff(const char *script, int status, const char *words)
{
    edit_border("old.yaml", "");
    edit_border("new.yaml", script);
    cr_assert_eq(run_tenon("abi diff old.yaml new.yaml"), status, "%s", script);
    expect_words("out", words);
}

Test(abi, what_breaks_a_border)
{
    diff("", 0, "ok       revision 1: its fingerprint is");
    diff("s/doc: uninitialised, row-major/doc: other words/", 0, "0 breaks");
    diff("s/function: int64_t tensor_offset(const tn_tensor \\*t)/function: int64_t "
         "tensor_offset(const tn_tensor *other_name)/",
         0, "0 breaks");
    diff("/field: uint64_t keys/{N;N;s/.*doc: its dispatch keys//}", 1,
         "tn_tensor.keys: it was removed");
    diff("s/field: uint8_t ndim/field: uint16_t ndim/", 1,
         "tn_tensor.ndim: its type was 'uint8_t' and is 'uint16_t'");
    diff("s/TN_TENSOR_DENSE: 2/TN_TENSOR_DENSE: 64/", 1, "its value was 2 and is 64");
    diff("s/function: tn_dtype promote(tn_dtype a, tn_dtype b)/function: tn_dtype promote(tn_dtype "
         "a)/",
         1,
         "tn_api.promote: its type was 'tn_dtype (tn_dtype, tn_dtype)' and is 'tn_dtype "
         "(tn_dtype)'");
    diff("s/value: 64/value: 32/", 1, "TN_MAX_DIMS: it was 64 and is 32");
}

/* An addition to a released revision is a break, to the next one it is not. */
Test(abi, what_may_be_added)
{
    diff("/^    doc: A view of all of self/a\\  - function: int more(void)\\n    threads: any", 1,
         "tn_api.more: it was added to revision 1, which is released");
    diff("s/revision: 1$/revision: 2/;/^    doc: A view of all of self/i\\ ", 0,
         "added    revision 2: new");
}

Test(abi, a_later_revision)
{
    edit_border("old.yaml", "");
    edit_border("new.yaml", "s/revision: 1$/revision: 2/");
    shell(
        "awk '/^- section: the one symbol/ && !done {print \"  - group: later\\n  - function: int "
        "later(void)\\n    threads: any\\n    since: 2\\n\"; done = 1} {print}' %s/new.yaml >%s/n "
        "&& mv "
        "%s/n %s/new.yaml",
        test_folder, test_folder, test_folder, test_folder);
    cr_assert_eq(run_tenon("abi diff old.yaml new.yaml"), 0);
    expect_words("out", "added    tn_api.later: since revision 2");
    expect_words("out", "ok       revision 1");
    cr_assert_eq(run_tenon("abi diff new.yaml old.yaml"), 1);
    expect_words("out", "revision 2: it is gone");
    cr_assert_eq(run_tenon("abi diff old.yaml new.yaml --format github"), 0);
    expect_words("out", "::notice file=new.yaml,line=");
}

Test(abi, libraries_and_plugins)
{
    const char *build = getenv("TENON_BUILD");
    build_plugin("a.so", "broken.c", "");
    build_plugin("b.so", "broken.c", "-DNEEDS_DRIVER");
    build_plugin("c.so", "broken.c", "-DFINGERPRINT");
    cr_assert_eq(run_tenon("abi diff '%s/lib/libtenon.so' '%s/lib/libtenon.so'", build, build), 0);
    cr_assert_eq(run_tenon("abi diff '%s/lib/libtenon.so' '%s/abi/border.yaml'", build, tree()), 0);
    cr_assert_eq(run_tenon("abi diff a.so '%s/lib/libtenon.so'", build), 0);
    expect_words("out", "a.so runs in hosts with the border of");
    cr_assert_eq(run_tenon("abi diff '%s/abi/border.yaml' c.so", tree()), 1);
    expect_words("out", "its fingerprint is");
    cr_assert_eq(run_tenon("abi diff a.so b.so"), 1);
    expect_words("out", "needs 'libtenon-no-such-driver.so.1'");
    cr_assert_eq(run_tenon("abi diff b.so a.so"), 0);
    cr_assert_eq(run_tenon("abi diff a.so c.so"), 1);
    cr_assert_eq(run_tenon("abi diff a.so"), 2);
    write_file("bad.yaml", "- nothing: here\n");
    cr_assert_eq(run_tenon("abi diff bad.yaml a.so"), 2);
    expect_words("err", "bad.yaml:1");
}

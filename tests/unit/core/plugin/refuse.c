/* What is refused: files that are no plugins, plugins of another host, places that others can
 * write. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tenon/op.h>

#include "core/plugin/note.h"
#include "plugin_test.h"

TestSuite(refuse, .init = plugin_test_begin, .fini = plugin_test_end, .timeout = 120);

Test(refuse, what_is_no_shared_object)
{
    plugin_refused(plugin_file("empty.so", "", 0), "refused", "empty", NULL);
    plugin_refused(plugin_file("text.so", "hello, plugin\n", 14), "refused", "not an ELF file",
                   NULL);
    plugin_refused(plugin_file("short.so", "\177ELF\2\1\1", 7), "refused", "truncated", NULL);
    plugin_shell("mkfifo '%s/fifo.so'", plugin_test_directory());
    char path[600];
    snprintf(path, sizeof path, "%s/fifo.so", plugin_test_directory());
    plugin_refused(path, "refused", "not a regular file", NULL);
    plugin_refused("/nowhere/at/all.so", "refused", "cannot be opened", NULL);
    plugin_refused("", "refused", "path is empty", NULL);
    cr_assert_eq(tn_plugin_load(NULL, NULL), TN_ERR_ARGUMENT);
}

Test(refuse, a_path_longer_than_any)
{
    char path[6000];
    memset(path, 'a', sizeof path - 1);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    cr_assert_eq(tn_plugin_load(path, NULL), TN_ERR_PLUGIN);
    const char *message = tn_error_last()->message;
    cr_assert(strstr(message, "or more; check the path"), "the reason was cut off: %s", message);
}

Test(refuse, what_is_no_plugin)
{
    static const struct {
        const char *flags, *state, *text, *more;
    } faults[] = {
        {"-DNO_NOTE", "refused", "no Tenon note", "TN_PLUGIN"},
        {"-DNO_SYMBOL -Wl,--export-dynamic", "refused", "tenon_plugin", "export"},
        {"-DFUNCTION_SYMBOL", "refused", "tenon_plugin", "not a tn_plugin"},
        {"-DSHORT_TABLE", "refused", "8 bytes", "least"},
        {"-DOTHER_NAME", "refused", "another name", "broken 0.1"},
        {"-DOTHER_TABLE", "refused", "do not agree", "fingerprint"},
        {"-DNO_INIT", "refused", "no init", NULL},
        {"-DNEWER", "refused", "border revision", "TN_TARGET_ABI"},
        {"-DOLDER", "refused", "border revision 0", NULL},
        {"-DFINGERPRINT", "refused", "fingerprint", "rebuild"},
        {"-DNOTE_REVISION", "refused", "layout 99", NULL},
        {"-DNEEDS_UNKNOWN", "skipped", "CPU feature 'quantum'", NULL},
        {"-DNEEDS_DRIVER", "skipped", "libtenon-no-such-driver.so.1", "install"},
    };
    char name[16];
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        snprintf(name, sizeof name, "fault%zu", i);
        const char *path = plugin_build(name, "broken.c", faults[i].flags);
        plugin_refused(path, faults[i].state, faults[i].text, faults[i].more);
    }
    plugin_loaded(plugin_build("sound", "broken.c", ""));
}

Test(refuse, no_code_runs_before_the_note_is_read)
{
    plugin_refused(plugin_build("a", "broken.c", "-DTALKS -DNEWER"), "refused", "border revision",
                   NULL);
    plugin_refused(plugin_build("b", "broken.c", "-DTALKS -DFINGERPRINT"), "refused", "fingerprint",
                   NULL);
    plugin_refused(plugin_build("c", "broken.c", "-DTALKS -DNO_NOTE"), "refused", "note", NULL);
    cr_assert_null(getenv("TENON_TEST_CONSTRUCTED"));
    plugin_loaded(plugin_build("d", "broken.c", "-DTALKS"));
    cr_assert_not_null(getenv("TENON_TEST_CONSTRUCTED"),
                       "the test's constructor does not run at all");
}

Test(refuse, the_note_survives_strip)
{
    const char *path = plugin_build("scale", "scale.c", "");
    plugin_shell("strip '%s'", path);
    plugin_loaded(path);
}

/* ---- who can write ----------------------------------------------------------------------------
 */
Test(refuse, files_that_others_can_write)
{
    const char *path = plugin_build("scale", "scale.c", "");
    cr_assert_eq(chmod(path, 0664), 0);
    plugin_refused(path, "refused", "the file can be written by its group", "chmod");
    cr_assert_eq(chmod(path, 0646), 0);
    plugin_refused(path, "refused", "the file can be written by everybody", "TENON_ALLOW_WRITABLE");
    cr_assert_eq(chmod(path, 0644), 0);
    cr_assert_eq(chmod(plugin_test_directory(), 0770), 0);
    plugin_refused(path, "refused", "its directory can be written by its group", NULL);
    setenv("TENON_ALLOW_WRITABLE", "1", 1);
    plugin_loaded(path);
}

/* ---- where plugins come from ------------------------------------------------------------------
 */
Test(refuse, the_current_directory_is_never_searched)
{
    plugin_build("scale", "scale.c", "");
    cr_assert_eq(chdir(plugin_test_directory()), 0);
    setenv("TENON_PLUGIN_PATH", ".::nowhere", 1);
    cr_assert_eq(tn_plugin_load("scale.so", NULL), TN_ERR_PLUGIN);
    cr_assert_eq(tn_plugin_load("scale", NULL), TN_ERR_PLUGIN);
    cr_assert_eq(tn_plugins_load_default(), TN_OK);
    cr_assert_null(tn_op_find("plgtest::scale"));
    tn_plugin_info info;
    cr_assert(plugin_reported(".", &info));
    cr_assert_str_eq(info.state, "skipped");
    cr_assert(strstr(info.reason, "relative"), "%s", info.reason);
}

Test(refuse, configured_places_in_sorted_order)
{
    const char *dir = plugin_test_directory();
    plugin_build("b", "scale.c", "-DNAME='\"b\"' -DNS='\"nsb\"'");
    plugin_build("a", "scale.c", "-DNAME='\"a\"' -DNS='\"nsa\"'");
    plugin_file("c.so", "garbage", 7);
    plugin_file("d.txt", "no plugin", 9);
    plugin_file(".hidden.so", "garbage", 7);
    cr_assert_eq(tn_plugins_load_default(), TN_OK, "a bad plugin does not keep the others out");
    cr_assert_eq(tn_error_last()->status, TN_OK);
    static const char *const names[] = {"a.so", "b.so", "c.so"}, *const states[] = {
                                                                     "loaded", "loaded", "refused"};
    tn_plugin_info info;
    for (size_t i = 0; i < 3; i++) {
        cr_assert(tn_plugin_report(i, &info));
        cr_assert(strncmp(info.path, dir, strlen(dir)) == 0, "%s", info.path);
        cr_assert_str_eq(info.path + strlen(dir) + 1, names[i]);
        cr_assert_str_eq(info.state, states[i]);
    }
    cr_assert(!tn_plugin_report(3, &info));
    cr_assert_eq(tn_plugins_load_default(), TN_OK, "a second time changes nothing");
    cr_assert(!tn_plugin_report(3, &info));
    cr_assert_eq(tn_plugin_unload(plugin_loaded("a")), TN_OK);
    float y = 0;
    cr_assert_eq(plugin_scale("nsa", 1, 1, &y), TN_OK,
                 "the default load holds one reference, not two");
}

/* ---- a file that changes ----------------------------------------------------------------------
 */
Test(refuse, a_file_that_changed_after_it_was_mapped)
{
    const char *path = plugin_build("scale", "scale.c", "");
    const char *next = plugin_build("next", "scale.c", "-DFACTOR=5");
    tn_plugin_handle *handle = plugin_loaded(path);
    plugin_shell("mv '%s' '%s'", next, path);
    cr_assert_eq(tn_plugin_load(path, NULL), TN_ERR_PLUGIN);
    cr_assert(strstr(tn_error_last()->message, "still in use"), "%s", tn_error_last()->message);
    float y = 0;
    cr_assert_eq(plugin_scale("plgtest", 2, 3, &y), TN_OK);
    cr_assert_eq(y, 6, "the old code serves on");
    cr_assert_eq(tn_plugin_unload(handle), TN_OK);
    plugin_refused(path, "refused", "changed after its code was mapped", "another file name");
}

/* ---- every byte of a plugin, damaged -----------------------------------------------------------
 */
static uint64_t random_state = 1;

static uint32_t random_number(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33);
}

static bool read_once(void *arg, const char *name)
{
    (void)name;
    return ++*(int *)arg < 100000;
}

/* All that is read of a file before its code runs; true when it would have been mapped. */
static bool inspect(const char *path)
{
    tn__finding f = {.state = NULL};
    tn_note note;
    tn__elf e;
    int names = 0;
    if (!tn__elf_open(&e, path, &f)) {
        cr_assert(f.state && *f.reason && *f.cure);
        return false;
    }
    bool found = tn__note_find(&e, &note, &f);
    tn__elf_exports(&e, read_once, &names, &f);
    tn__elf_needed(&e, read_once, &names, &f);
    tn__elf_imports(&e, read_once, &names, &f);
    tn__elf_run_paths(&e, read_once, &names, &f);
    names += tn__elf_text_relocations(&e) + tn__elf_executable_stack(&e);
    uint64_t fingerprints[TN__NOTE_REVISIONS];
    cr_assert_lt(tn__note_host(&e, fingerprints), TN__NOTE_REVISIONS);
    tn__elf_close(&e);
    cr_assert(found || (f.state && *f.reason && *f.cure));
    return found && tn__note_check(&note, &f);
}

Test(refuse, damaged_files)
{
    const char *path = plugin_build("scale", "scale.c", "");
    static unsigned char good[1 << 16], bad[1 << 16];
    FILE *f = fopen(path, "rb");
    cr_assert_not_null(f);
    size_t n = fread(good, 1, sizeof good, f);
    fclose(f);
    cr_assert(n > 1000 && n < sizeof good);
    cr_assert(inspect(path));
    char victim[600];
    snprintf(victim, sizeof victim, "%s/victim.so", plugin_test_directory());
    for (size_t cut = 0; cut < n; cut += cut < 1024 ? 1 : 97) {
        f = fopen(victim, "wb");
        cr_assert_eq(fwrite(good, 1, cut, f), cut);
        fclose(f);
        inspect(victim);
    }
    int refused = 0;
    for (int round = 0; round < 1500; round++) {
        memcpy(bad, good, n);
        size_t reach = round % 2 ? 0x400
                                 : n; /* half of the rounds damage the headers and the note */
        for (uint32_t hits = 1 + random_number() % 8; hits > 0; hits--)
            bad[random_number() % reach] = random_number() % 3 ? (unsigned char)random_number()
                                                               : 0xff;
        f = fopen(victim, "wb");
        cr_assert_eq(fwrite(bad, 1, n, f), n);
        fclose(f);
        refused += !inspect(victim);
    }
    cr_assert_gt(refused, 100);
}

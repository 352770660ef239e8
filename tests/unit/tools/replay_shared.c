/* replay_shared.c - all recorded calls that the project is given: what is supported passes. */
#include "tool_test.h"

TestSuite(replay_shared, .init = make_folder, .fini = remove_folder);

Test(replay_shared, every_supported_call_passes, .timeout = 300)
{
    const char *shared = getenv("TENON_SHARED"), *source = getenv("TENON_SOURCE");
    char path[2000];
    if (shared)
        snprintf(path, sizeof path, "%s/replay/calls", shared);
    else
        snprintf(path, sizeof path, "%s/../shared/replay/calls", source ? source : ".");
    if (access(path, R_OK) != 0)
        cr_skip_test("%s is not here: recorded calls are not replayed", path);
    cr_expect_eq(run_tenon("replay '%s'", path), 0);
    char *out = read_file("out"), *total = strstr(out, "total: ");
    cr_assert(total, "no totals");
    cr_expect_geq(atoi(total + 7), 2000, "%s", total);
    cr_expect(strstr(total, " 0 failed"), "%.3000s\n%s", out, total);
    free(out);
}

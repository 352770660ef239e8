/* scale.c - a plugin as it should be; with the variables of scale.h, two that clash. Its exit
 * counts itself in the environment variable TENON_TEST_EXITS, because nothing else of it can be
 * seen from outside. */
#include "scale.h"

#include <stdlib.h>

static tn_status start(tn_registry *r)
{
    TN_TRY(tn->register_ops(r, scale_ops, TN_COUNT(scale_ops)));
    return tn->register_kernels(r, scale_kernels, TN_COUNT(scale_kernels));
}

static void stop(void)
{
    const char *now = getenv("TENON_TEST_EXITS");
    char next[2] = {now && *now ? (char)(*now + 1) : '1', 0};
    setenv("TENON_TEST_EXITS", next, 1);
}

TN_PLUGIN(NAME, "1.2.3", start, stop);

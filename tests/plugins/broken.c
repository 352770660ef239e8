/* broken.c - shared objects that are not quite plugins, one fault each, or EXTRA exports:
 *   NO_NOTE, NO_SYMBOL, FUNCTION_SYMBOL, NO_INIT, SHORT_TABLE, OTHER_NAME, OTHER_TABLE   in what
 * they export NEWER, OLDER, FINGERPRINT, NOTE_REVISION, NEEDS_CPU, NEEDS_DRIVER, NEEDS_UNKNOWN in
 * what their note says TALKS          its constructor sets TENON_TEST_CONSTRUCTED: code that must
 * not run when the note refuses it CRASHES, HANGS its init does that */
#include <tenon/plugin.h>

#include <stdlib.h>
#include <unistd.h>

#ifdef TALKS
__attribute__((constructor)) static void talk(void)
{
    setenv("TENON_TEST_CONSTRUCTED", "1", 1);
}
#endif

static tn_status start(const tn_api *api, tn_registry *r)
{
    (void)api, (void)r;
#ifdef CRASHES
    abort();
#endif
#ifdef HANGS
    for (;;)
        pause();
#endif
    return TN_OK;
}

#ifdef NEWER
#define ABI (TN_BORDER_REVISION + 1)
#elif defined(OLDER)
#define ABI 0
#else
#define ABI TN_TARGET_ABI
#endif
#ifdef FINGERPRINT
#define PRINT (TN_BORDER_FINGERPRINT ^ 1)
#else
#define PRINT TN_BORDER_FINGERPRINT
#endif
#ifdef NOTE_REVISION
#define LAYOUT 99
#else
#define LAYOUT TN_NOTE_REVISION
#endif
#if defined(NEEDS_UNKNOWN)
#define CPU "sse4.2,quantum"
#else
#define CPU ""
#endif
#ifdef NEEDS_DRIVER
#define DRIVER "libtenon-no-such-driver.so.1"
#else
#define DRIVER ""
#endif

#ifndef NO_NOTE
static const tn_note note TN_NOTE_SECTION = {
    6,
    (uint32_t)(sizeof(tn_note) - offsetof(tn_note, revision)),
    TN_NOTE_TYPE,
    "Tenon",
    LAYOUT,
    ABI,
    TN_BORDER_REVISION,
    TN_NOTE_WORDS(PRINT),
    TN_NOTE_WORDS(UINT64_C(0)),
    "broken",
    "0.1",
    CPU,
    DRIVER};
#endif

#ifdef OTHER_NAME
#define TABLE_NAME "other"
#else
#define TABLE_NAME "broken"
#endif

#if defined(FUNCTION_SYMBOL)
TN_API tn_status function(tn_registry *r) __asm__("tenon_plugin");
tn_status function(tn_registry *r)
{
    return start(NULL, r);
}
#elif defined(NO_SYMBOL)
TN_API const int something_else = 1;
tn_status (*const keep)(const tn_api *, tn_registry *) = start;
#else
TN_API const tn_plugin tenon_plugin = {
#ifdef SHORT_TABLE
    8,
#else
    sizeof(tn_plugin),
#endif
    ABI,
#ifdef OTHER_TABLE
    PRINT ^ 2,
#else
    PRINT,
#endif
    TABLE_NAME, "0.1",
#ifdef NO_INIT
    NULL,
#else
    start,
#endif
    NULL};
#ifdef NO_INIT
tn_status (*const keep)(const tn_api *, tn_registry *) = start;
#endif
#endif

#ifdef EXTRA
TN_API int helper(void);
int helper(void)
{
    return 1;
}
#endif

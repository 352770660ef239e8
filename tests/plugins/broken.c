/* broken.c - shared objects that are not quite plugins, one fault each:
 *   what they export: NO_NOTE, NO_SYMBOL, FUNCTION_SYMBOL, NO_INIT, SHORT_TABLE, OTHER_NAME,
 *     OTHER_TABLE, EXTRA (one symbol more), WANTS (a symbol of libtenon)
 *   what their note says: NEWER, OLDER, FINGERPRINT, NOTE_REVISION, SHORT_NOTE, OWNER, NOTE_TYPE,
 *     UNPRINTABLE, NO_NAME, NEEDS_UNKNOWN, NEEDS_DRIVER, NEEDS_PATH, NEEDS_CPU="feature"
 *   how they are mapped: TEXT_RELOCATIONS
 *   TALKS: a constructor sets TENON_TEST_CONSTRUCTED, which must not happen when the note refuses it
 *   CRASHES, HANGS, EXITS: init does that; CONSTRUCTOR_CRASHES: a constructor does */
#include <tenon/plugin.h>

#include <stdlib.h>
#include <unistd.h>

#ifdef TALKS
__attribute__((constructor)) static void talk(void)
{
    setenv("TENON_TEST_CONSTRUCTED", "1", 1);
}
#endif

#ifdef CONSTRUCTOR_CRASHES
__attribute__((constructor)) static void fall(void)
{
    abort();
}
#endif

#ifdef WANTS
tn_status tn_plugin_load(const char *path, void **out);
#endif

#ifdef TEXT_RELOCATIONS
__asm__(".text\n.balign 8\nplace: .quad tenon_test_place\n"
        ".data\n.hidden tenon_test_place\ntenon_test_place: .quad 0\n.text\n");
#endif

static tn_status start(const tn_api *api, tn_registry *r)
{
    (void)api, (void)r;
#ifdef WANTS
    tn_plugin_load("", NULL);
#endif
#ifdef EXITS
    exit(3);
#endif
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
#elif defined(NEEDS_CPU)
#define CPU NEEDS_CPU
#else
#define CPU ""
#endif
#if defined(NEEDS_DRIVER)
#define DRIVER "libtenon-no-such-driver.so.1"
#elif defined(NEEDS_PATH)
#define DRIVER "../libdriver.so"
#else
#define DRIVER ""
#endif

#ifdef SHORT_NOTE
#define NOTE_BYTES 16u
#else
#define NOTE_BYTES ((uint32_t)(sizeof(tn_note) - offsetof(tn_note, revision)))
#endif
#ifdef NOTE_TYPE
#define TYPE 7
#else
#define TYPE TN_NOTE_TYPE
#endif
#ifdef OWNER
#define WHOSE "Tenor"
#else
#define WHOSE "Tenon"
#endif
#if defined(UNPRINTABLE)
#define NAME "bro\tken"
#elif defined(NO_NAME)
#define NAME ""
#else
#define NAME "broken"
#endif

#ifndef NO_NOTE
static const tn_note note TN_NOTE_SECTION = {6,
                                             NOTE_BYTES,
                                             TYPE,
                                             WHOSE,
                                             LAYOUT,
                                             ABI,
                                             TN_BORDER_REVISION,
                                             TN_NOTE_WORDS(PRINT),
                                             TN_NOTE_WORDS(UINT64_C(0)),
                                             NAME,
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
TN_EXPORT const int something_else = 1;
tn_status (*const keep)(const tn_api *, tn_registry *) = start;
#else
TN_EXPORT const tn_plugin tenon_plugin = {
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

/* broken.c - shared objects that are not quite plugins, one fault each:
 *   what they export: NO_NOTE, NO_SYMBOL, FUNCTION_SYMBOL, RESOLVED_SYMBOL (an indirect function's
 *     answer), NO_INIT, NO_TEXTS, SHORT_TABLE, LONG_TABLE, SMALL_TABLE, CROOKED_TABLE, OTHER_NAME,
 *     OTHER_TABLE, EXTRA (one symbol more), WANTS (a symbol of libtenon), UNDEFINED (of nobody)
 *   what their note says: NEWER, OLDER, INVERTED, FINGERPRINT, NOTE_REVISION, SHORT_NOTE, LONG_NOTE,
 *     OWNER, NOTE_TYPE, UNPRINTABLE, NO_NAME, NAMED="text", VERSION="text", HIDDEN (a text behind a
 *     text), SCHEMAS (another hash), NEEDS_UNKNOWN, NEEDS_DRIVER, NEEDS_PATH, NEEDS_CPU="feature"
 *   beside it: TWO_NOTES, HUGE_NOTE (another owner's, without an end)
 *   how they are mapped: TEXT_RELOCATIONS, MUCH_TLS
 *   TALKS: a constructor sets TENON_TEST_CONSTRUCTED, which must not happen when the note refuses it
 *   CRASHES, HANGS, EXITS: init does that; CONSTRUCTOR_CRASHES, CONSTRUCTOR_EXITS, CONSTRUCTOR_HANGS,
 *   RESOLVER_CRASHES (of an indirect function): before init */
#include <tenon/plugin.h>

#include <stdlib.h>
#include <unistd.h>

#ifdef TALKS
__attribute__((constructor)) static void talk(void)
{
    setenv("TENON_TEST_CONSTRUCTED", "1", 1);
}
#endif

#if defined(CONSTRUCTOR_CRASHES) || defined(CONSTRUCTOR_EXITS) || defined(CONSTRUCTOR_HANGS)
__attribute__((constructor)) static void fall(void)
{
#ifdef CONSTRUCTOR_CRASHES
    abort();
#elif defined(CONSTRUCTOR_EXITS)
    exit(0);
#else
    for (;;)
        pause();
#endif
}
#endif

#ifdef RESOLVER_CRASHES
static int nothing(void)
{
    return 0;
}
static int (*resolve(void))(void)
{
    abort();
    return nothing;
}
TN_HIDDEN int indirect(void) __attribute__((ifunc("resolve")));
int (*const use_indirect)(void) = indirect;
#endif

#ifdef UNDEFINED
int tenon_test_nobody_has_this(void);
int (*const use_undefined)(void) = tenon_test_nobody_has_this;
#endif

#ifdef MUCH_TLS
__attribute__((tls_model("initial-exec"))) _Thread_local char much[1 << 22];
char *touch(int i);
char *touch(int i)
{
    return much + i;
}
#endif

#ifdef HUGE_NOTE
__asm__(".section .note.aaaaa,\"a\",@note\n.balign 4\n.long 0xfffffff0, 4, 1\n.asciz "
        "\"Huge\"\n.text\n");
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

#if defined(NEWER)
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

#ifdef INVERTED
#define BUILT 0
#elif defined(NEWER)
#define BUILT (TN_BORDER_REVISION + 1)
#else
#define BUILT TN_BORDER_REVISION
#endif
#ifdef SCHEMAS
#define HASH UINT64_C(0x123456789abcdef0)
#else
#define HASH UINT64_C(0)
#endif
#ifndef VERSION
#define VERSION "0.1"
#endif

#if defined(SHORT_NOTE)
#define NOTE_BYTES 16u
#elif defined(LONG_NOTE)
#define NOTE_BYTES 0x7ffffff0u
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
#elif defined(NAMED)
#define NAME NAMED
#elif defined(HIDDEN)
#define NAME "broken\0rm -rf"
#else
#define NAME "broken"
#endif

#define NOTE                                                                                       \
    {                                                                                              \
        6, NOTE_BYTES, TYPE, WHOSE, LAYOUT, ABI, BUILT, TN_NOTE_WORDS(PRINT), TN_NOTE_WORDS(HASH), \
            NAME, VERSION, CPU, DRIVER                                                             \
    }
#ifndef NO_NOTE
static const tn_note note TN_NOTE_SECTION = NOTE;
#endif
#ifdef TWO_NOTES
static const tn_note second TN_NOTE_SECTION = NOTE;
#endif

#ifdef OTHER_NAME
#define TABLE_NAME "other"
#else
#define TABLE_NAME "broken"
#endif

#if defined(SHORT_TABLE)
#define TABLE_BYTES 8
#elif defined(LONG_TABLE)
#define TABLE_BYTES 0x7fffffff
#else
#define TABLE_BYTES sizeof(tn_plugin)
#endif
#ifdef OTHER_TABLE
#define TABLE_PRINT (PRINT ^ 2)
#else
#define TABLE_PRINT PRINT
#endif
#ifdef NO_INIT
#define INIT NULL
tn_status (*const keep)(const tn_api *, tn_registry *) = start;
#else
#define INIT start
#endif
#ifdef NO_TEXTS
#define TABLE                                                                                      \
    {                                                                                              \
        TABLE_BYTES, ABI, TABLE_PRINT, NULL, NULL, INIT, NULL                                      \
    }
#else
#define TABLE                                                                                      \
    {                                                                                              \
        TABLE_BYTES, ABI, TABLE_PRINT, TABLE_NAME, VERSION, INIT, NULL                             \
    }
#endif

#if defined(FUNCTION_SYMBOL)
TN_API tn_status function(tn_registry *r) __asm__("tenon_plugin");
tn_status function(tn_registry *r)
{
    return start(NULL, r);
}
#elif defined(NO_SYMBOL)
TN_EXPORT const int something_else = 1;
tn_status (*const keep_start)(const tn_api *, tn_registry *) = start;
#elif defined(RESOLVED_SYMBOL)
static const tn_plugin table = TABLE;
static void (*answer(void))(void)
{
    void (*fn)(void);
    *(const void **)&fn = &table;
    return fn;
}
TN_EXPORT void function(void) __asm__("tenon_plugin") __attribute__((ifunc("answer")));
#elif defined(SMALL_TABLE)
static const tn_plugin whole = TABLE;
TN_EXPORT const char small[8] __asm__("tenon_plugin") = {sizeof(tn_plugin)};
const tn_plugin *const keep_whole = &whole;
#elif defined(CROOKED_TABLE)
struct __attribute__((packed)) crooked {
    char odd;
    tn_plugin table;
};
__attribute__((used)) static const struct crooked crooked = {1, TABLE};
__asm__(".globl tenon_plugin\n.type tenon_plugin, @object\n.size tenon_plugin, 48\n"
        ".set tenon_plugin, crooked + 1\n");
#else
TN_EXPORT const tn_plugin tenon_plugin = TABLE;
#endif

#ifdef EXTRA
TN_API int helper(void);
int helper(void)
{
    return 1;
}
#endif

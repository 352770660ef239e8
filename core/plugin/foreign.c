/* foreign.c - runs a plugin's code so that it cannot change how this thread computes, and so that
 * no C++ exception passes.
 *
 * One trick: the frame that calls the plugin carries a personality routine, as a C++ function with
 * a catch-all has one. The unwinder asks it, learns that here is a handler, runs the destructors of
 * the plugin's own frames, and comes back with the order to land: then we jump. No C++ runtime is
 * needed for that, only the unwind tables that every x86-64 and AArch64 object has. */
#define _GNU_SOURCE
#include "core/plugin/foreign.h"

#include <dirent.h>
#include <fenv.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* ---- exceptions ------------------------------------------------------------------------------ */
static _Thread_local jmp_buf *landing;

#if defined(__ELF__) && (defined(__x86_64__) || defined(__aarch64__))
__attribute__((used)) static _Unwind_Reason_Code stop(int version, _Unwind_Action actions,
                                                      _Unwind_Exception_Class kind,
                                                      struct _Unwind_Exception *exception,
                                                      struct _Unwind_Context *context)
{
    (void)version, (void)kind, (void)context;
    if (actions & _UA_FORCE_UNWIND)
        return _URC_CONTINUE_UNWIND; /* the thread is being cancelled: that is no error of ours */
    if (actions & _UA_SEARCH_PHASE)
        return _URC_HANDLER_FOUND;
    if (exception->exception_cleanup)
        exception->exception_cleanup(_URC_FOREIGN_EXCEPTION_CAUGHT, exception);
    longjmp(*landing, 1);
}
#define STOPS_EXCEPTIONS __asm__ volatile(".cfi_personality 0x1b, stop") /* pc-relative, 4 bytes */
#else
#define STOPS_EXCEPTIONS ((void)0)
#endif

__attribute__((noinline)) static void enter(void (*fn)(void *), void *arg)
{
    STOPS_EXCEPTIONS;
    fn(arg);
    __asm__ volatile(""); /* no tail call: this frame must stand on the stack */
}

static bool throws(void (*fn)(void *), void *arg)
{
    jmp_buf here, *volatile outer = landing;
    landing = &here;
    volatile bool threw = true;
    if (setjmp(here) == 0) {
        enter(fn, arg);
        threw = false;
    }
    landing = outer;
    return threw;
}

/* ---- the floating-point mode, without the flags of what happened ----------------------------- */
static uint32_t mode(void)
{
#if defined(__x86_64__)
    uint16_t x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return (_mm_getcsr() & ~0x3fu) | (uint32_t)x87 << 16;
#elif defined(__aarch64__)
    uint64_t fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    return (uint32_t)fpcr;
#else
    return (uint32_t)fegetround();
#endif
}

/* ---- threads --------------------------------------------------------------------------------- */
bool tn__foreign_checked(void)
{
    const char *check = secure_getenv("TENON_PLUGIN_CHECK");
    return check && strcmp(check, "1") == 0;
}

static int count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int n = 0;
    for (struct dirent *e; tasks && (e = readdir(tasks));)
        n += e->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return n;
}

tn__foreign tn__foreign_run(void (*fn)(void *), void *arg, unsigned how)
{
    bool checked = how & TN__FOREIGN_THREADS && tn__foreign_checked();
    int threads = checked ? count_threads() : 0;
    fenv_t before;
    fegetenv(&before);
    uint32_t mode_before = mode();
    tn__foreign f = {0};
    if (how & TN__FOREIGN_STOP)
        f.threw = throws(fn, arg);
    else
        fn(arg);
    f.fp_mode = mode() != mode_before;
    fesetenv(&before);
    int more = checked ? count_threads() - threads : 0;
    f.threads = more > 0 ? more : 0;
    return f;
}

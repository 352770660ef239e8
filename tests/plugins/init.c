/* init.c - plugins whose init goes wrong, one way each:
 *   FAIL_AT=n       the n-th of five registrations is wrong (a schema that does not parse), and init
 *                   passes that on
 *   IGNORE_FAILURE  the same, but init says that all is well
 *   RETURNS=n       init registers, and returns that number
 *   LATE            init keeps the registry, and the kernel registers with it later
 *   IMPORTS         init asks for an operator that nobody has
 *   FLUSHES         init and exit change the thread's floating-point mode
 *   SPAWNS          init starts a thread that goes on
 *   LOADS           init loads the plugin of the environment variable TENON_TEST_LOADS */
#define _GNU_SOURCE
#include "scale.h"

#include <dlfcn.h>
#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#ifndef FAIL_AT
#define FAIL_AT 0
#endif

static tn_registry *kept;

static tn_status late(tn_call *call, struct tn_scale_args *a)
{
    (void)call, (void)a;
    return tn->register_ops(kept, scale_ops, TN_COUNT(scale_ops));
}

static const tn_op_decl many_ops[] = {{.schema = NS "::one(Tensor x, float s) -> Tensor"},
                                      {.schema = NS "::two(Tensor x, float s) -> Tensor"},
                                      {.schema = NS "::three(Tensor x, float s) -> Tensor"},
                                      {.schema = NS "::four(Tensor x, float s) -> Tensor"},
                                      {.schema = NS "::five(Tensor x, float s) -> Tensor"}};

static void disturb(void)
{
#ifdef FLUSHES
    fesetround(FE_TOWARDZERO);
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
#endif
}

#ifdef SPAWNS
static void *wait(void *arg)
{
    for (;;)
        pause();
    return arg;
}
#endif

#ifdef LOADS
typedef tn_status (*load_fn)(const char *path, void **out);
static tn_status load_another(void)
{
    load_fn load;
    *(void **)&load = dlsym(RTLD_DEFAULT, "tn_plugin_load");
    return load(getenv("TENON_TEST_LOADS"), NULL);
}
#endif

static tn_status start(tn_registry *r)
{
    static const tn_kernel_decl late_kernels[] = {TN_KERNEL(scale, "CPU", late)};
    static const tn_op_decl wrong = {.schema = NS "::wrong(Tensor x -> Tensor"};
    kept = r;
    disturb();
#ifdef SPAWNS
    pthread_t thread;
    pthread_create(&thread, NULL, wait, NULL);
#endif
#ifdef LOADS
    TN_TRY(load_another());
#endif
    for (int i = 0; i < 5; i++) {
        tn_status status = tn->register_ops(r, i + 1 == FAIL_AT ? &wrong : &many_ops[i], 1);
#ifndef IGNORE_FAILURE
        TN_TRY(status);
#else
        (void)status;
#endif
    }
    TN_TRY(tn->register_ops(r, scale_ops, TN_COUNT(scale_ops)));
#ifdef LATE
    TN_TRY(tn->register_kernels(r, late_kernels, TN_COUNT(late_kernels)));
#else
    (void)late_kernels;
    TN_TRY(tn->register_kernels(r, scale_kernels, TN_COUNT(scale_kernels)));
#endif
#ifdef IMPORTS
    static const char *const schemas[] = {"plgtest_nobody::has(Tensor x) -> Tensor"};
    const tn_op *handle;
    TN_TRY(tn->import_ops(r, schemas, &handle, 1));
#endif
#ifdef RETURNS
    return RETURNS;
#else
    return TN_OK;
#endif
}

TN_PLUGIN("init", "1.0.0", start, disturb);

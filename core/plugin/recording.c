/* recording.c - tn_record_start and tn_record_stop: the plugin `tenon_record.so` beside the built-in
 * plugins' directory writes the calls of this process to a replay file. It is loaded when it is first
 * asked for, and offers itself through the ability of tenon/observe.h. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/autocast.h>
#include <tenon/observe.h>

#include "core/dispatch/registry.h"
#include "core/plugin/plugin_impl.h"

static const tn_observer *_Atomic offered;
static _Atomic bool recording;

static tn_status offer(const tn_observer *observer)
{
    const tn_observer *none = NULL;
    if (!tn__registry_open)
        return tn__fail(NULL, TN_ERR_PLUGIN, "offer: an observer is offered in a plugin's init");
    if (!observer || observer->size < sizeof *observer || !observer->before || !observer->after ||
        !observer->start || !observer->stop)
        return tn__fail(NULL, TN_ERR_PLUGIN, "offer: expected an observer with all its functions");
    if (!atomic_compare_exchange_strong(&offered, &none, observer) && none != observer)
        return tn__fail(NULL, TN_ERR_PLUGIN, "offer: another plugin observes this process already");
    return TN_OK;
}

const void *tn__extension(const char *id, int revision)
{
    static const tn_observe_api observe = {sizeof observe, 0, offer};
    if (!id || revision != 1)
        return NULL;
    if (strcmp(id, TN_AUTOCAST_ABILITY) == 0)
        return &tn__autocast_api;
    return strcmp(id, TN_OBSERVE) == 0 ? &observe : NULL;
}

static tn_status load_recorder(void)
{
    char path[PATH_MAX];
    if (atomic_load(&offered))
        return TN_OK;
    if (!tn__plugin_beside(path, "tenon_record.so"))
        return tn__fail(NULL, TN_ERR_PLUGIN, "the place of libtenon cannot be found out");
    TN__TRY(tn_plugin_load(path, NULL));
    return atomic_load(&offered) ? TN_OK
                                 : tn__fail(NULL, TN_ERR_PLUGIN, "%s offers no observer", path);
}

tn_status tn_record_start(const char *path, const char *only)
{
    if (!path || !*path)
        return tn__fail(NULL, TN_ERR_ARGUMENT, "tn_record_start: expected a path, got none");
    if (!only)
        only = "all";
    if (strcmp(only, "all") != 0 && strcmp(only, "failing") != 0 && strcmp(only, "last") != 0)
        return tn__fail(NULL, TN_ERR_ARGUMENT,
                        "tn_record_start: expected 'all', 'failing' or 'last', got '%.40s'", only);
    TN__TRY(load_recorder());
    if (atomic_exchange(&recording, true))
        return tn__fail(NULL, TN_ERR_ARGUMENT, "tn_record_start: a recording is running; stop it");
    tn_status status = atomic_load(&offered)->start(path, only);
    if (status == TN_OK)
        tn__observe(atomic_load(&offered));
    else
        atomic_store(&recording, false);
    return status;
}

tn_status tn_record_stop(void)
{
    if (!atomic_exchange(&recording, false))
        return tn__fail(NULL, TN_ERR_ARGUMENT, "tn_record_stop: no recording is running");
    tn__observe(NULL);
    return atomic_load(&offered)->stop();
}

static void stop_at_exit(void)
{
    if (atomic_load(&recording))
        tn_record_stop();
}

void tn__record_from_environment(void)
{
    const char *path = secure_getenv("TENON_RECORD"), *only = secure_getenv("TENON_RECORD_ONLY");
    if (!path || !*path || atomic_load(&recording))
        return;
    if (tn_record_start(path, only && *only ? only : NULL) == TN_OK)
        atexit(stop_at_exit);
}

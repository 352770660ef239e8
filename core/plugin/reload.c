/* reload.c - a plugin's new build takes over from the one that runs, without a call that fails in
 * between.
 *
 * A mapped file cannot be mapped again, and must not be overwritten: so the new file is copied into
 * memory and loaded from there, as a plugin of its own, the next generation. Its transaction takes
 * the old generation's place in one commit. The old code stays mapped for the calls that are in it,
 * and its exit never runs: nothing says when the last of them returns. Memory of its device types
 * goes back to it (core/base/provider.c); what it has put on its queues is waited for. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "core/base/devices.h"
#include "core/plugin/plugin_impl.h"

static bool copy_all(int from, int to)
{
    for (;;) {
        ssize_t n = sendfile(to, from, NULL, 1 << 20);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0;
    }
}

/* A copy in memory, and the name under which it can be mapped. Its descriptor stays open: the
 * dynamic linker takes a name that it has seen for the same object. */
static bool copy(const char *path, char *name, size_t cap, int *memory, tn__finding *f)
{
    int from = open(path, O_RDONLY | O_CLOEXEC);
    *memory = from >= 0 ? memfd_create("tenon-plugin", MFD_CLOEXEC) : -1;
    bool ok = *memory >= 0 && copy_all(from, *memory);
    int why = errno;
    if (from >= 0)
        close(from);
    if (!ok) {
        if (*memory >= 0)
            close(*memory);
        return tn__refuse(f, "check the path and its permissions", "it cannot be copied: %s",
                          strerror(why));
    }
    snprintf(name, cap, "/proc/self/fd/%d", *memory);
    return true;
}

static void retire(tn__plugin *old, tn__plugin *next)
{
    next->references = old->references;
    old->references = 0;
    old->successor = next;
    old->finding.state = "unloaded";
    snprintf(old->finding.reason, sizeof old->finding.reason, "generation %d of it took over",
             next->generation);
    snprintf(old->finding.cure, sizeof old->finding.cure, "nothing needs to be done");
}

/* Streams are the old code's, and the new code would be handed them. */
static bool check_streams(const tn__plugin *old, tn__finding *f)
{
    char why[160];
    if (!tn__device_blocks_reload(old, why, sizeof why))
        return true;
    return tn__refuse(f, "free them first", "%s", why);
}

bool tn__plugin_reload(tn__plugin *old, tn__finding *f)
{
    char path[PATH_MAX], name[64];
    tn__file_id id;
    int memory;
    if (!tn__plugin_resolve(old->path, path, &id, f))
        return false;
    if (tn__file_unchanged(&old->id, &id))
        return true;
    if (!check_streams(old, f) || !copy(path, name, sizeof name, &memory, f))
        return false;
    tn__plugin *next = tn__plugin_next(old);
    bool ok = next ? tn__plugin_take_over(next, old, name, f)
                   : tn__refuse(f, "free some memory", "out of memory");
    if (ok) {
        next->id = id;
        retire(old, next);
        tn__device_drain(old);
    } else {
        if (next)
            next->finding = *f;
        if (!next || !next->handle)
            close(memory);
    }
    return ok;
}

/* recorder.c - the plugin tenon_record.so: an observer (tenon/observe.h) that writes the calls it sees
 * to a replay file.
 *
 * A call that a kernel makes is not written, its caller is: each thread counts how deep it is. Calls
 * are kept in memory, arguments copied before the call, and written when the recording stops; "last"
 * writes each call before it is made, without its results, so that a crash leaves the call that
 * crashed. One lock: threads that record wait for each other. */
#define _GNU_SOURCE
#include <tenon/observe.h>
#include <tenon/plugin.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/replay_write.h"

enum { MAX_CALLS = 10000, MAX_TOTAL = 512 << 20, MAX_PATH = 4096 };
typedef enum what { ALL, FAILING, LAST } what;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int depth;

static struct {
    char path[MAX_PATH];
    what what;
    replay_writer writer;
    int calls, dropped; /* written; not written: too many, too large, not in host memory */
    size_t limit, bytes;
    pid_t process; /* that began: a fork of it goes on unrecorded */
} file;

/* The call that this thread is in, as the writer holds it: one at a time, so the lock is held from
 * before to after of an outermost call. Kernels that call from threads of their own are not seen. */
static _Thread_local bool writing;

static size_t call_limit(void)
{
    const char *text = secure_getenv("TENON_RECORD_LIMIT");
    long n = text ? strtol(text, NULL, 10) : 0;
    return n > 0 ? (size_t)n : MAX_CALLS;
}

static int same_storage(const tn_tensor *a, const tn_tensor *b)
{
    return tn->tensor_same_storage(a, b);
}

static bool save(void)
{
    json_t *more = file.dropped ? json_pack("{s:i}", "dropped", file.dropped) : NULL;
    return replay_save(&file.writer, file.path, "tenon record", more);
}

static bool full(void)
{
    return file.what != LAST && ((size_t)file.calls >= file.limit || file.bytes >= MAX_TOTAL);
}

/* ---- the observer ---------------------------------------------------------------------------- */
static void write_ahead(const tn_op *op, const tn_field *args, int n, const void *frame)
{
    replay_writer_free(&file.writer);
    replay_begin(&file.writer, 0, tn->op_schema(op));
    replay_add_arguments(&file.writer, args, n, frame);
    replay_add(&file.writer, "returns", json_array());
    replay_add(&file.writer, "compare", json_string("none"));
    if (replay_end(&file.writer, true))
        save();
}

static void before(const tn_op *op, const void *frame)
{
    int n_results, n_args;
    if (depth++ > 0 || getpid() != file.process)
        return;
    const tn_field *f = tn->op_fields(op, &n_results, &n_args);
    pthread_mutex_lock(&lock);
    if (full()) {
        file.dropped++;
    } else if (file.what == LAST) {
        write_ahead(op, f + n_results, n_args, frame);
    } else {
        replay_begin(&file.writer, file.calls, tn->op_schema(op));
        replay_add_arguments(&file.writer, f + n_results, n_args, frame);
        writing = true;
        return; /* with the lock, until after */
    }
    pthread_mutex_unlock(&lock);
}

static size_t open_bytes(void)
{
    size_t n = 0;
    for (size_t i = file.writer.first; i < file.writer.n_parts; i++)
        n += file.writer.parts[i].bytes;
    return n;
}

static void after(const tn_op *op, const void *frame, tn_status status)
{
    int n_results, n_args;
    if (--depth > 0 || !writing)
        return;
    const tn_field *f = tn->op_fields(op, &n_results, &n_args);
    bool keep = status != TN_OK || file.what == ALL;
    if (keep && status != TN_OK)
        replay_add(&file.writer, "raises", json_true());
    if (keep && status == TN_OK) {
        replay_add_results(&file.writer, f, n_results, frame);
        replay_add_mutated(&file.writer, f + n_results, n_args, frame);
    }
    size_t bytes = keep ? open_bytes() : 0;
    if (replay_end(&file.writer, keep)) {
        file.calls++;
        file.bytes += bytes;
        if (file.what == FAILING)
            save();
    } else {
        file.dropped += keep;
    }
    writing = false;
    pthread_mutex_unlock(&lock);
}

/* ---- start and stop -------------------------------------------------------------------------- */
static tn_status start(const char *path, const char *only)
{
    if (strlen(path) >= sizeof file.path)
        return tn->fail(NULL, TN_ERR_ARGUMENT, "record: the path has %zu bytes, %d are the most",
                        strlen(path), MAX_PATH - 1);
    pthread_mutex_lock(&lock);
    strcpy(file.path, path);
    file.what = strcmp(only, "failing") == 0 ? FAILING : strcmp(only, "last") == 0 ? LAST : ALL;
    file.writer.access = (replay_access){tn->tensor_offset, tn->tensor_storage_bytes, same_storage};
    file.calls = file.dropped = 0;
    file.bytes = 0;
    file.limit = call_limit();
    file.process = getpid();
    bool ok = save(); /* an empty one now, so that a path that cannot be written is known */
    pthread_mutex_unlock(&lock);
    return ok ? TN_OK
              : tn->fail(NULL, TN_ERR_ARGUMENT, "record: the file '%.200s' cannot be written",
                         path);
}

static tn_status stop(void)
{
    if (getpid() != file.process)
        return TN_OK;
    pthread_mutex_lock(&lock);
    bool ok = file.what == LAST || save();
    replay_writer_free(&file.writer);
    pthread_mutex_unlock(&lock);
    return ok ? TN_OK
              : tn->fail(NULL, TN_ERR_ARGUMENT, "record: the file '%.200s' cannot be written",
                         file.path);
}

static const tn_observer observer = {sizeof observer, 0, before, after, start, stop};

static tn_status init(tn_registry *r)
{
    const tn_observe_api *api = tn->extension(TN_OBSERVE, 1);
    (void)r;
    if (!api)
        return tn->fail(NULL, TN_ERR_UNSUPPORTED, "this Tenon does not offer '%s'", TN_OBSERVE);
    return api->offer(&observer);
}

TN_PLUGIN("tenon_record", "0.1.0", init, NULL);

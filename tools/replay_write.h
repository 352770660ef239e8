/* replay_write.h - calls become replay files: frames in, a safetensors file out (docs/replay.md).
 *
 * The one writer: of the OpInfo harness, of the recorder (a plugin, which cannot link libtenon) and
 * of `tenon replay --minimize`. It knows tensors by their public prefix and three functions.
 *
 *     replay_writer w = {.access = ..};
 *     replay_begin(&w, n, schema);                    a case
 *     replay_add_arguments(&w, fields, n, frame);     before the call
 *     replay_add_results(&w, fields, n, frame);       after it
 *     replay_end(&w, keep);                           it stays, or it never was
 *     replay_save(&w, path, source); replay_writer_free(&w); */
#ifndef TENON_TOOLS_REPLAY_WRITE_H
#define TENON_TOOLS_REPLAY_WRITE_H

#include <jansson.h>

#include <tenon/border.h>

#include "safetensors.h"

typedef struct replay_dtype {
    const char *name;
    const char *stored; /* dtype of the storage in the file; complex ones are pairs of reals */
    int size;
} replay_dtype;
extern const replay_dtype replay_dtypes[TN_DTYPE_COUNT];
const char *replay_dtype_name(tn_dtype dtype);
tn_dtype replay_dtype_named(const char *name); /* TN_DTYPE_NONE: not one of ours */

/* What a tensor's public prefix does not say. */
typedef struct replay_access {
    int64_t (*offset)(const tn_tensor *t);
    int64_t (*storage_bytes)(const tn_tensor *t);
    int (*same_storage)(const tn_tensor *a, const tn_tensor *b);
} replay_access;

typedef struct replay_part {
    char name[32];
    const tn_tensor *owner; /* of the storage, while its case is written; NULL: nobody's */
    const char *dtype;
    void *data; /* a copy */
    size_t bytes;
} replay_part;

typedef struct replay_writer {
    replay_access access;
    size_t max_bytes; /* of one storage; 0: 64 MiB */
    json_t *cases, *open;
    replay_part *parts;
    size_t n_parts, cap, first; /* first: of the open case */
    int n;                      /* the open case's number */
    bool bad; /* the open case cannot be written: another device, too large, no memory */
} replay_writer;

void replay_begin(replay_writer *w, int n, const char *schema);
void replay_add_arguments(replay_writer *w, const tn_field *fields, int n, const void *frame);
/* Results, as they stand in the frame; and of the arguments those that the schema says are written. */
void replay_add_results(replay_writer *w, const tn_field *fields, int n, const void *frame);
void replay_add_mutated(replay_writer *w, const tn_field *fields, int n, const void *frame);
void replay_add(replay_writer *w, const char *key, json_t *value); /* owns the value */
/* False, and nothing of it is left, when !keep or the case is bad. */
bool replay_end(replay_writer *w, bool keep);
/* False: there is no such file now. */
bool replay_save(const replay_writer *w, const char *path, const char *source, json_t *more);
void replay_writer_free(replay_writer *w);

/* A tensor over bytes that are nobody's storage; copied. */
json_t *replay_tensor_json(replay_writer *w, tn_dtype dtype, int ndim, const int64_t *sizes,
                           const int64_t *strides, const void *data, size_t bytes);

#endif

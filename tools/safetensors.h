/* safetensors.h - reading and writing the safetensors format: one JSON header, then raw bytes.
 *
 * A file is checked whole when it is opened (sizes, offsets, dtypes, no gap and no overlap), so
 * that what st_find gives can be read without another look. A broken file is one sentence in
 * `why`. */
#ifndef TENON_TOOLS_SAFETENSORS_H
#define TENON_TOOLS_SAFETENSORS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct st_file {
    char *bytes; /* the whole file */
    size_t n;
    json_t *header;   /* entries by name, and __metadata__ */
    const char *data; /* what the offsets count from; not aligned */
    size_t data_n;
} st_file;

typedef struct st_entry {
    const char *dtype; /* "F32", as the file spells it */
    const char *data;
    size_t bytes;
} st_entry;

/* False: `why` (n bytes) says what is wrong; nothing needs closing then. */
bool st_open(st_file *f, const char *path, char *why, size_t n);
void st_close(st_file *f);

bool st_find(const st_file *f, const char *name, st_entry *out);
/* A value of __metadata__; NULL when there is none. */
const char *st_metadata(const st_file *f, const char *key);

/* A 1-dim entry of a file to be written; bytes: whole elements. */
typedef struct st_part {
    const char *name, *dtype;
    const void *data;
    size_t bytes;
} st_part;
/* The parts, and one pair of __metadata__. False: there is no such file now. */
bool st_write(const char *path, const char *key, const char *value, const st_part *parts, size_t n);

/* Bytes of one element, 0 for a dtype that the format does not know. */
size_t st_dtype_size(const char *dtype);

#endif

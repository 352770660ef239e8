/* replay_file.h - replay files made by tests: storages one after the other, then the cases as JSON
 * in which ' stands for ". */
#ifndef TN_TESTS_REPLAY_FILE_H
#define TN_TESTS_REPLAY_FILE_H

#include <stdint.h>

#include "tool_test.h"

static char replay_entries[4000];
static char replay_data[4000];
static size_t replay_bytes;

static inline void begin_replay(void)
{
    replay_entries[0] = '\0';
    replay_bytes = 0;
}

/* A storage of count elements. */
static inline void add_storage(const char *name, const char *dtype, int count, const void *data,
                               size_t bytes)
{
    size_t used = strlen(replay_entries);
    cr_assert(replay_bytes + bytes <= sizeof replay_data);
    snprintf(replay_entries + used, sizeof replay_entries - used,
             ",\"%s\":{\"dtype\":\"%s\",\"shape\":[%d],\"data_offsets\":[%zu,%zu]}", name, dtype,
             count, replay_bytes, replay_bytes + bytes);
    memcpy(replay_data + replay_bytes, data, bytes);
    replay_bytes += bytes;
}

static inline void add_floats(const char *name, int count, const float *data)
{
    add_storage(name, "F32", count, data, (size_t)count * sizeof *data);
}

static inline void add_longs(const char *name, int count, const int64_t *data)
{
    add_storage(name, "I64", count, data, (size_t)count * sizeof *data);
}

static inline void put_file(const char *name, const char *header, const void *data, size_t bytes)
{
    FILE *f = fopen(in_folder(name), "w");
    cr_assert(f);
    uint64_t length = strlen(header);
    for (int i = 0; i < 8; i++)
        fputc((int)(length >> 8 * i & 0xff), f);
    fwrite(header, 1, length, f);
    fwrite(data, 1, bytes, f);
    fclose(f);
}

static inline void end_replay(const char *name, const char *cases)
{
    char header[12000], *to = header;
    to += sprintf(to, "{\"__metadata__\":{\"tenon_replay\":\"{\\\"version\\\":1,\\\"cases\\\":[");
    for (; *cases; cases++)
        to += sprintf(to, "%s%c", *cases == '\'' ? "\\" : "", *cases == '\'' ? '"' : *cases);
    sprintf(to, "]}\"}%s}", replay_entries);
    put_file(name, header, replay_data, replay_bytes);
}

#define F32_2(storage)                                                                             \
    "{'tensor':'" storage "','dtype':'float32','shape':[2],'stride':[1],'offset':0}"
#define I64_0(storage) "{'tensor':'" storage "','dtype':'int64','shape':[],'stride':[],'offset':0}"

#endif

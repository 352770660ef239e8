/* safetensors.c - the format: 8 bytes, the length of the header; the header, a JSON object
 * {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ..}; the data. */
#include "safetensors.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIMS = 8 };

typedef struct entry {
    tn_dtype dtype;
    int64_t ndim, sizes[MAX_DIMS];
    const char *data;
} entry;

static char *read_file(const char *path, size_t *n)
{
    FILE *in = fopen(path, "rb");
    char *bytes = NULL;
    long end = in && fseek(in, 0, SEEK_END) == 0 ? ftell(in) : -1;
    if (end >= 8 && fseek(in, 0, SEEK_SET) == 0 && (bytes = malloc((size_t)end))) {
        *n = fread(bytes, 1, (size_t)end, in);
        if (*n != (size_t)end) {
            free(bytes);
            bytes = NULL;
        }
    }
    if (in)
        fclose(in);
    return bytes;
}

static bool read_dtype(const char *name, tn_dtype *dtype, uint64_t *bytes)
{
    static const struct {
        const char *name;
        tn_dtype dtype;
        uint64_t bytes;
    } dtypes[] = {{"U8", TN_U8, 1}, {"I64", TN_I64, 8}, {"F32", TN_F32, 4}, {"F64", TN_F64, 8}};
    for (size_t i = 0; name && i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(name, dtypes[i].name) == 0) {
            *dtype = dtypes[i].dtype;
            *bytes = dtypes[i].bytes;
            return true;
        }
    return false;
}

/* `room`: bytes of data in the file. */
static bool read_entry(json_t *header, const char *name, const char *data, uint64_t room, entry *e)
{
    const char *dtype = NULL;
    json_t *shape = NULL, *size;
    json_int_t begin, end;
    size_t d;
    uint64_t bytes;
    if (json_unpack(json_object_get(header, name), "{s:s, s:o, s:[I,I]}", "dtype", &dtype, "shape",
                    &shape, "data_offsets", &begin, &end) != 0 ||
        !read_dtype(dtype, &e->dtype, &bytes) || json_array_size(shape) > MAX_DIMS)
        return false;
    json_array_foreach(shape, d, size)
    {
        json_int_t n = json_integer_value(size);
        if (n < 0 || (n > 0 && bytes > room / (uint64_t)n))
            return false;
        e->sizes[d] = n;
        bytes *= (uint64_t)n;
    }
    e->ndim = (int64_t)json_array_size(shape);
    e->data = data + begin;
    return begin >= 0 && (uint64_t)begin <= room && bytes <= room - (uint64_t)begin &&
           (uint64_t)(end - begin) == bytes;
}

tn_tensor *safetensors_read(const char *path, const char *name, char why[200])
{
    size_t n = 0;
    uint64_t length = 0;
    tn_tensor *t = NULL;
    json_t *header = NULL;
    entry e;
    char *file = read_file(path, &n);
    for (int i = 0; file && i < 8; i++)
        length |= (uint64_t)(unsigned char)file[i] << 8 * i;
    if (file && length <= n - 8)
        header = json_loadb(file + 8, length, 0, NULL);
    if (!header)
        snprintf(why, 200, "%s is no safetensors file, or cannot be read", path);
    else if (!read_entry(header, name, file + 8 + length, n - 8 - length, &e))
        snprintf(why, 200, "%s: no tensor \"%s\" that this program can read", path, name);
    else if (tn_tensor_from_data(e.data, e.dtype, e.ndim, e.sizes, &t) != TN_OK)
        snprintf(why, 200, "%s: %s: %s", path, name, tn_error_last()->message);
    json_decref(header);
    free(file);
    return t;
}

/* safetensors_write.c - writing a safetensors file: the header, padded with spaces so that the
 * data begins at a multiple of 8, then the parts one behind the other. A file that could not be
 * written whole is removed. */
#include "safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *header_of(const char *key, const char *value, const st_part *parts, size_t n)
{
    json_t *header = json_pack("{s:{s:s}}", "__metadata__", key, value);
    size_t at = 0;
    for (size_t i = 0; header && i < n; i++) {
        size_t end = at + parts[i].bytes, size = st_dtype_size(parts[i].dtype);
        json_t *entry = json_pack("{s:s, s:[I], s:[I, I]}", "dtype", parts[i].dtype, "shape",
                                  (json_int_t)(parts[i].bytes / size), "data_offsets",
                                  (json_int_t)at, (json_int_t)end);
        if (json_object_set_new(header, parts[i].name, entry) != 0) {
            json_decref(header);
            return NULL;
        }
        at = end;
    }
    return header;
}

static bool write_parts(FILE *out, const char *header, const st_part *parts, size_t n)
{
    size_t used = strlen(header), length = (used + 7) / 8 * 8;
    for (int i = 0; i < 8; i++)
        fputc((int)(length >> 8 * i & 0xff), out);
    fprintf(out, "%s%*s", header, (int)(length - used), "");
    for (size_t i = 0; i < n; i++)
        if (parts[i].bytes)
            fwrite(parts[i].data, 1, parts[i].bytes, out);
    return !ferror(out);
}

bool st_write(const char *path, const char *key, const char *value, const st_part *parts, size_t n)
{
    json_t *header = header_of(key, value, parts, n);
    char *text = header ? json_dumps(header, JSON_COMPACT) : NULL;
    FILE *out = text ? fopen(path, "wb") : NULL;
    bool ok = out && write_parts(out, text, parts, n);
    if (out && fclose(out) != 0)
        ok = false;
    if (out && !ok)
        remove(path);
    free(text);
    json_decref(header);
    return ok;
}

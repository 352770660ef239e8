/* safetensors.c - opening and checking a safetensors file.
 *
 * Layout: 8 bytes little-endian length of the header, the header (a JSON object: name -> dtype,
 * shape, data_offsets; and __metadata__, an object of strings), then the data. The entries'
 * offsets, sorted, must cover the data exactly. */
#include "safetensors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_HEADER = 100000000 }; /* the format's own limit */

size_t st_dtype_size(const char *dtype)
{
    static const struct {
        const char *name;
        size_t size;
    } dtypes[] = {{"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1},
                  {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},
                  {"U32", 4},  {"F32", 4}, {"I64", 8}, {"U64", 8},     {"F64", 8}};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(dtypes[i].name, dtype) == 0)
            return dtypes[i].size;
    return 0;
}

static bool read_all(st_file *f, const char *path, char *why, size_t n)
{
    FILE *in = fopen(path, "rb");
    struct stat about;
    if (!in || fstat(fileno(in), &about) != 0) {
        snprintf(why, n, "cannot be read: %s", strerror(errno));
        if (in)
            fclose(in);
        return false;
    }
    f->n = (size_t)about.st_size;
    f->bytes = S_ISREG(about.st_mode) ? malloc(f->n + 1) : NULL;
    bool ok = f->bytes && fread(f->bytes, 1, f->n, in) == f->n;
    if (!ok)
        snprintf(why, n, "cannot be read: %s",
                 !S_ISREG(about.st_mode) ? "not a file"
                 : f->bytes              ? "it became shorter"
                                         : "out of memory");
    fclose(in);
    return ok;
}

static bool read_header(st_file *f, char *why, size_t n)
{
    if (f->n < 8) {
        snprintf(why, n, "is no safetensors file: %zu bytes, 8 at least expected", f->n);
        return false;
    }
    uint64_t length = 0;
    for (int i = 7; i >= 0; i--)
        length = length << 8 | (unsigned char)f->bytes[i];
    if (length > f->n - 8 || length > MAX_HEADER) {
        snprintf(why, n, "is no safetensors file: a header of %llu bytes, but %zu bytes follow",
                 (unsigned long long)length, f->n - 8);
        return false;
    }
    json_error_t e;
    f->header = json_loadb(f->bytes + 8, (size_t)length, JSON_REJECT_DUPLICATES, &e);
    if (!json_is_object(f->header)) {
        snprintf(why, n, "is no safetensors file: the header is no JSON object%s%s",
                 f->header ? "" : ": ", f->header ? "" : e.text);
        return false;
    }
    f->data = f->bytes + 8 + length;
    f->data_n = f->n - 8 - (size_t)length;
    return true;
}

typedef struct span {
    uint64_t begin, end;
} span;

/* An entry's span, checked against its dtype and shape and the data's size. NULL: fine. */
static const char *entry_span(const st_file *f, const json_t *entry, span *s)
{
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    const json_t *shape = json_object_get(entry, "shape");
    const json_t *offsets = json_object_get(entry, "data_offsets");
    const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    if (!dtype || !json_is_array(shape) || json_array_size(offsets) != 2 ||
        !json_is_integer(begin) || !json_is_integer(end))
        return "dtype, shape and two data_offsets are required";
    uint64_t bytes = st_dtype_size(dtype);
    if (bytes == 0)
        return "its dtype is not one of the format";
    for (size_t i = 0; i < json_array_size(shape); i++) {
        const json_t *size = json_array_get(shape, i);
        if (!json_is_integer(size) || json_integer_value(size) < 0 ||
            __builtin_mul_overflow(bytes, (uint64_t)json_integer_value(size), &bytes))
            return "its shape is not one of a tensor";
    }
    s->begin = (uint64_t)json_integer_value(begin);
    s->end = (uint64_t)json_integer_value(end);
    if (s->begin > s->end || s->end > f->data_n) /* a negative one is huge here */
        return "its data_offsets leave the file";
    return s->end - s->begin == bytes ? NULL : "its data_offsets do not fit its shape and dtype";
}

static int by_begin(const void *a, const void *b)
{
    const span *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static bool check_spans(const st_file *f, span *spans, size_t count, char *why, size_t n)
{
    uint64_t at = 0;
    if (count)
        qsort(spans, count, sizeof *spans, by_begin);
    for (size_t i = 0; i < count && at == spans[i].begin; i++)
        at = spans[i].end;
    if (at == f->data_n)
        return true;
    snprintf(why, n, "is broken: the entries overlap or leave a gap at byte %llu of the data",
             (unsigned long long)at);
    return false;
}

static bool check_entries(const st_file *f, char *why, size_t n)
{
    const char *name, *wrong = NULL;
    json_t *entry;
    size_t count = 0;
    span *spans = malloc((json_object_size(f->header) + 1) * sizeof *spans);
    if (!spans)
        wrong = "out of memory";
    json_object_foreach(f->header, name, entry)
    {
        if (wrong || strcmp(name, "__metadata__") == 0)
            continue;
        wrong = entry_span(f, entry, &spans[count++]);
        if (wrong)
            snprintf(why, n, "is broken: entry '%.100s': %s", name, wrong);
    }
    bool ok = spans && !wrong && check_spans(f, spans, count, why, n);
    if (!spans)
        snprintf(why, n, "cannot be read: %s", wrong);
    free(spans);
    return ok;
}

bool st_open(st_file *f, const char *path, char *why, size_t n)
{
    memset(f, 0, sizeof *f);
    if (read_all(f, path, why, n) && read_header(f, why, n) && check_entries(f, why, n))
        return true;
    st_close(f);
    return false;
}

void st_close(st_file *f)
{
    json_decref(f->header);
    free(f->bytes);
    memset(f, 0, sizeof *f);
}

bool st_find(const st_file *f, const char *name, st_entry *out)
{
    const json_t *entry = json_object_get(f->header, name);
    if (!entry || strcmp(name, "__metadata__") == 0)
        return false;
    const json_t *offsets = json_object_get(entry, "data_offsets");
    size_t begin = (size_t)json_integer_value(json_array_get(offsets, 0));
    out->dtype = json_string_value(json_object_get(entry, "dtype"));
    out->data = f->data + begin;
    out->bytes = (size_t)json_integer_value(json_array_get(offsets, 1)) - begin;
    return true;
}

const char *st_metadata(const st_file *f, const char *key)
{
    return json_string_value(json_object_get(json_object_get(f->header, "__metadata__"), key));
}

/* array.c - the reference's arrays: row-major lists of numbers, and the pool that all of a case's
 * memory comes from. */
#include "opinfo.h"

#include <stdlib.h>
#include <string.h>

typedef struct block {
    struct block *next;
    _Alignas(64) unsigned char bytes[];
} block;
static block *blocks;

/* A child that gets no memory ends, and its case is reported as an error by the parent. */
void *oi_alloc(size_t bytes)
{
    block *b = aligned_alloc(64, (sizeof *b + bytes + 127) / 64 * 64);
    if (!b) {
        fputs("tenon: opinfo: out of memory\n", stderr);
        exit(3);
    }
    b->next = blocks;
    blocks = b;
    return memset(b->bytes, 0, bytes);
}

void *oi_pool_mark(void)
{
    return blocks;
}

void oi_pool_reset(void *mark)
{
    while (blocks && blocks != mark) {
        block *next = blocks->next;
        free(blocks);
        blocks = next;
    }
}

int64_t oi_numel(int ndim, const int64_t *sizes)
{
    int64_t n = 1;
    for (int d = 0; d < ndim; d++)
        n *= sizes[d];
    return n;
}

oi_array oi_array_new(tn_dtype dtype, int ndim, const int64_t *sizes)
{
    oi_array a = {.dtype = dtype, .ndim = ndim};
    for (int d = 0; d < ndim; d++)
        a.sizes[d] = sizes[d];
    a.numel = oi_numel(ndim, sizes);
    a.v = oi_alloc((size_t)a.numel * sizeof *a.v);
    return a;
}

void oi_array_mags(oi_array *a)
{
    a->mag = oi_alloc((size_t)a->numel * sizeof *a->mag);
}

void oi_coords(const oi_array *a, int64_t index, int64_t *coords)
{
    for (int d = a->ndim - 1; d >= 0; d--) {
        coords[d] = index % a->sizes[d];
        index /= a->sizes[d];
    }
}

int64_t oi_index(const oi_array *a, const int64_t *coords)
{
    int64_t index = 0;
    for (int d = 0; d < a->ndim; d++)
        index = index * a->sizes[d] + coords[d];
    return index;
}

int64_t oi_broadcast_index(const oi_array *a, int ndim, const int64_t *coords)
{
    int64_t index = 0;
    for (int d = 0; d < a->ndim; d++)
        index = index * a->sizes[d] + (a->sizes[d] == 1 ? 0 : coords[ndim - a->ndim + d]);
    return index;
}

bool oi_broadcast(int n, const oi_array *const *arrays, int *ndim, int64_t *sizes)
{
    *ndim = 0;
    for (int k = 0; k < n; k++)
        *ndim = arrays[k]->ndim > *ndim ? arrays[k]->ndim : *ndim;
    for (int d = 0; d < *ndim; d++) {
        sizes[d] = 1;
        for (int k = 0; k < n; k++) {
            int own = d - (*ndim - arrays[k]->ndim);
            int64_t size = own < 0 ? 1 : arrays[k]->sizes[own];
            if (size != 1 && sizes[d] != 1 && size != sizes[d])
                return false;
            sizes[d] = size == 1 ? sizes[d] : size;
        }
    }
    return true;
}

oi_array oi_array_cast(const oi_array *a, tn_dtype to)
{
    oi_array r = oi_array_new(to, a->ndim, a->sizes);
    for (int64_t i = 0; i < a->numel; i++)
        r.v[i] = oi_cast(a->v[i], a->dtype, to);
    return r;
}

const char *oi_shape_text(int ndim, const int64_t *sizes)
{
    static char texts[8][96];
    static int turn;
    char *text = texts[turn++ % 8];
    size_t used = 0;
    used += (size_t)snprintf(text, 96, "[");
    for (int d = 0; d < ndim && used < 80; d++)
        used +=
            (size_t)snprintf(text + used, 96 - used, d ? ", %lld" : "%lld", (long long)sizes[d]);
    snprintf(text + used, 96 - used, "]");
    return text;
}

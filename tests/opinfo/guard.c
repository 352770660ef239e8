/* guard.c - tensors over memory that the harness owns: sentinels before, behind and between the
 * elements.
 *
 * An image of every byte is kept. An input is whole when all bytes are as they were; what is
 * written is whole when all bytes but its elements are. A stride of over 2 GiB is backed by
 * address space alone: only the bytes around each element are touched, which is why a buffer is a
 * few windows and not one block. */
#include "opinfo.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { GUARD = 128 };

static unsigned char sentinel(size_t i)
{
    return (unsigned char)(0xa5 ^ (i * 29 & 0x1f) << 2);
}

static void set_strides(const oi_tensor *t, int64_t *strides)
{
    const oi_array *a = &t->a;
    int64_t next = t->layout == OI_GAPPED ? 2 : 1;
    for (int k = 0; k < a->ndim; k++) {
        int d = t->layout == OI_TRANSPOSED ? k : a->ndim - 1 - k;
        strides[d] = next;
        next = next * (a->sizes[d] ? a->sizes[d] : 1) + (t->layout == OI_GAPPED ? 3 : 0);
    }
    if (a->ndim && t->layout == OI_EXPANDED)
        strides[0] = 0;
    if (a->ndim && t->layout == OI_HUGE)
        strides[0] = INT64_C(0x80000100) / oi_size_of(a->dtype) + 1;
}

/* Elements from the first to behind the last, of dimensions from `first` on. */
static int64_t span(const oi_array *a, const int64_t *strides, int first)
{
    int64_t n = 1;
    for (int d = first; d < a->ndim; d++)
        n += (a->sizes[d] - 1) * strides[d];
    return a->numel ? n : 0;
}

static int64_t offset_of(const oi_array *a, const int64_t *strides, int64_t index)
{
    int64_t coords[OI_DIMS], offset = 0;
    oi_coords(a, index, coords);
    for (int d = 0; d < a->ndim; d++)
        offset += coords[d] * strides[d];
    return offset;
}

static void add_window(oi_buffer *b, unsigned char *at, size_t n)
{
    oi_window *w = &b->windows[b->n_windows++];
    w->at = at;
    w->n = n;
    w->image = oi_alloc(n);
    w->mask = oi_alloc(n);
    for (size_t i = 0; i < n; i++)
        at[i] = sentinel(i);
}

static bool map_windows(oi_buffer *b, const oi_tensor *t, const int64_t *strides, size_t lead,
                        char *why)
{
    size_t size = (size_t)oi_size_of(t->a.dtype);
    if (t->layout != OI_HUGE) {
        size_t n = lead + (size_t)span(&t->a, strides, 0) * size + GUARD;
        b->memory = oi_alloc(n);
        add_window(b, b->memory, n);
        return true;
    }
    size_t row = lead + (size_t)span(&t->a, strides, 1) * size + GUARD,
           step = (size_t)strides[0] * size;
    int64_t rows = t->a.sizes[0] < 4 ? t->a.sizes[0] : 4;
    b->mapped = step * (size_t)(rows - 1) + row;
    b->memory = mmap(NULL, b->mapped, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (b->memory == MAP_FAILED) {
        b->mapped = 0;
        snprintf(why, OI_TEXT, "no address space for a stride of %zu bytes", step);
        return false;
    }
    for (int64_t i = 0; i < rows; i++)
        add_window(b, (unsigned char *)b->memory + (size_t)i * step, row);
    return true;
}

static void store_elements(oi_buffer *b, const oi_tensor *t, const int64_t *strides, size_t lead)
{
    size_t size = (size_t)oi_size_of(t->a.dtype);
    unsigned char *first = (unsigned char *)b->memory + lead;
    for (int64_t i = 0; i < t->a.numel; i++) {
        unsigned char *at = first + (size_t)offset_of(&t->a, strides, i) * size;
        oi_store(at, t->a.dtype, t->a.v[i]);
        for (int k = 0; k < b->n_windows; k++)
            if (at >= b->windows[k].at && at < b->windows[k].at + b->windows[k].n)
                memset(b->windows[k].mask + (at - b->windows[k].at), 1, size);
    }
    for (int k = 0; k < b->n_windows; k++)
        memcpy(b->windows[k].image, b->windows[k].at, b->windows[k].n);
}

static bool failed(char *why)
{
    snprintf(why, OI_TEXT, "%s", tn_error_last()->message);
    return false;
}

static bool copy_between(tn_tensor *to, tn_tensor *from, char *why)
{
    const tn_op *op = tn_op_find("aten::copy_");
    uint64_t frame[32];
    int n_results, n_args;
    if (!op || tn_op_frame_size(op) > sizeof frame) {
        snprintf(why, OI_TEXT, "no copy_ to bring tensors to the device");
        return false;
    }
    tn_op_frame_init(op, frame);
    const tn_field *f = tn_op_fields(op, &n_results, &n_args) + n_results;
    memcpy((char *)frame + f[0].offset, &to, sizeof to);
    memcpy((char *)frame + f[1].offset, &from, sizeof from);
    if (tn_op_call(op, frame) != TN_OK)
        return failed(why);
    tn_op_frame_release(op, frame);
    return true;
}

/* On another device the whole window is one 1-dim tensor, and the operand a view of it. */
static bool make_there(oi_buffer *b, const oi_tensor *t, const int64_t *strides, size_t lead,
                       tn_device device, char *why)
{
    int64_t size = oi_size_of(t->a.dtype),
            n = (int64_t)lead / size + span(&t->a, strides, 0) + GUARD / size;
    if (tn_tensor_new(1, &n, t->a.dtype, device, &b->base) != TN_OK)
        return failed(why);
    if (device.type != TN_META) {
        if (tn_tensor_from_memory(b->memory, t->a.dtype, 1, &n, NULL, NULL, NULL, &b->host) !=
            TN_OK)
            return failed(why);
        if (!copy_between(b->base, b->host, why))
            return false;
    }
    if (tn_tensor_view(b->base, t->a.ndim, t->a.sizes, strides, (int64_t)lead / size, &b->tensor) !=
        TN_OK)
        return failed(why);
    return true;
}

bool oi_buffer_make(oi_buffer *b, const oi_tensor *given, tn_device device, char *why)
{
    oi_tensor t = *given;
    int64_t strides[OI_DIMS];
    memset(b, 0, sizeof *b);
    if (t.layout == OI_HUGE &&
        (t.a.ndim == 0 || t.a.sizes[0] < 2 || (device.type != TN_CPU && device.type != TN_META)))
        t.layout = OI_GAPPED;
    set_strides(&t, strides);
    size_t lead = GUARD + (t.layout == OI_SHIFTED ? (size_t)oi_size_of(t.a.dtype) : 0);
    if (device.type == TN_META)
        return make_there(b, &t, strides, lead, device, why);
    if (!map_windows(b, &t, strides, lead, why))
        return false;
    store_elements(b, &t, strides, lead);
    if (device.type != TN_CPU)
        return make_there(b, &t, strides, lead, device, why);
    if (tn_tensor_from_memory((char *)b->memory + lead, t.a.dtype, t.a.ndim, t.a.sizes, strides,
                              NULL, NULL, &b->tensor) != TN_OK)
        return failed(why);
    return true;
}

bool oi_buffer_intact(const oi_buffer *b, bool elements, char *why)
{
    if (b->host && !copy_between(b->host, b->base, why))
        return false;
    for (int k = 0; k < b->n_windows; k++) {
        const oi_window *w = &b->windows[k];
        for (size_t i = 0; i < w->n; i++) {
            if (w->at[i] == w->image[i] || (!elements && w->mask[i]))
                continue;
            bool before = i < GUARD, behind = i >= w->n - GUARD;
            snprintf(why, OI_TEXT, "wrote %s: byte %lld was 0x%02x, is 0x%02x",
                     before       ? "before its memory"
                     : behind     ? "behind its memory"
                     : w->mask[i] ? "an element of an input"
                                  : "between the elements",
                     (long long)i - GUARD, w->image[i], w->at[i]);
            return false;
        }
    }
    return true;
}

void oi_buffer_free(oi_buffer *b)
{
    tn_release(b->tensor);
    tn_release(b->base);
    tn_release(b->host);
    if (b->mapped)
        munmap(b->memory, b->mapped);
    memset(b, 0, sizeof *b);
}

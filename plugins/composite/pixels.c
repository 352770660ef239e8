/* pixels.c - pixel_shuffle: channels become squares of pixels; pixel_unshuffle, the way back.
 * Always a copy, also where nothing moves. */
#include "work.h"

#include <inttypes.h>

static tn_status check_pixels(tn_call *call, const tn_tensor *self, int64_t factor,
                              const char *name)
{
    if (self->ndim < 3)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "self: expected channels, rows and columns, 3 dimensions or more, got %d",
                        self->ndim);
    if (factor < 1 || factor > INT32_MAX)
        return tn->fail(call, TN_ERR_ARGUMENT, "%s: expected 1 or more, got %" PRId64, name,
                        factor);
    return TN_OK;
}

/* [.., a, b, c, d, e] with its last five dimensions in another order, then as `sizes`. */
static tn_status regrouped(work *w, tn_tensor *self, const int64_t parts[5], const int order[5],
                           const int64_t last[3], tn_tensor **out)
{
    int64_t sizes[TN_MAX_DIMS + 2], dims[TN_MAX_DIMS + 2], lead = self->ndim - 3;
    TN_TRY(composite_check_rank(w->call, self->ndim + 2));
    for (int64_t d = 0; d < lead + 5; d++) {
        sizes[d] = d < lead ? self->sizes[d] : parts[d - lead];
        dims[d] = d < lead ? d : lead + order[d - lead];
    }
    tn_tensor *t = work_reshape(w, self, (tn_ints){sizes, lead + 5});
    t = work_clone(w, work_permute(w, t, (tn_ints){dims, lead + 5}), TN_CONTIGUOUS);
    for (int d = 0; d < 3; d++)
        sizes[lead + d] = last[d];
    return work_end(w, work_reshape(w, t, (tn_ints){sizes, lead + 3}), out);
}

static tn_status pixel_shuffle(tn_call *call, struct tn_pixel_shuffle_args *a)
{
    static const int order[] = {0, 3, 1, 4, 2};
    work w = work_on(call);
    int64_t r = a->upscale_factor;
    TN_TRY(check_pixels(call, a->self, r, "upscale_factor"));
    const int64_t *n = a->self->sizes + a->self->ndim - 3;
    if (n[0] % (r * r) != 0)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "self: %" PRId64 " channels are no multiple of upscale_factor squared, "
                        "%" PRId64,
                        n[0], r * r);
    const int64_t parts[] = {n[0] / (r * r), r, r, n[1], n[2]};
    return regrouped(&w, a->self, parts, order, (const int64_t[]){parts[0], n[1] * r, n[2] * r},
                     &a->result);
}

static tn_status pixel_unshuffle(tn_call *call, struct tn_pixel_unshuffle_args *a)
{
    static const int order[] = {0, 2, 4, 1, 3};
    work w = work_on(call);
    int64_t r = a->downscale_factor;
    TN_TRY(check_pixels(call, a->self, r, "downscale_factor"));
    const int64_t *n = a->self->sizes + a->self->ndim - 3;
    if (n[1] % r != 0 || n[2] % r != 0)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "self: %" PRId64 " x %" PRId64 " pixels cannot be divided into squares of "
                        "%" PRId64,
                        n[1], n[2], r);
    const int64_t parts[] = {n[0], n[1] / r, r, n[2] / r, r};
    return regrouped(&w, a->self, parts, order, (const int64_t[]){n[0] * r * r, n[1] / r, n[2] / r},
                     &a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(pixel_shuffle, IMPLICIT, pixel_shuffle),
    TN_KERNEL(pixel_unshuffle, IMPLICIT, pixel_unshuffle),
};
const composite_kernels composite_pixels = {kernels, TN_COUNT(kernels)};

/* replace.c - what gradients have to say before a tensor is given other memory (set_, resize_).
 *
 * Such a call is a write that no gradient can follow. One that would be recorded is refused at once;
 * one in TN_NO_GRAD may swap the elements of a tensor that requires a gradient, but not its shape,
 * for which its node has been made. Whoever saved the tensor before sees that it was moved
 * (saved.c). */
#include "core/autograd/autograd_impl.h"

static bool has_shape(const tn_tensor *t, tn_ints sizes)
{
    bool same = t->ndim == sizes.len;
    for (int64_t d = 0; same && d < sizes.len; d++)
        same = t->sizes[d] == sizes.data[d];
    return same;
}

static TN_COLD tn_status refuse(tn_call *call, const tn_tensor *t, tn_ints sizes, const char *what)
{
    char from[TN__SHAPE_CHARS], to[TN__SHAPE_CHARS];
    return tn__fail(call, TN_ERR_AUTOGRAD,
                    "a tensor of shape %s would be modified in place to have other memory, of "
                    "shape %s, but %s",
                    tn__shape_text(from, t->ndim, t->sizes),
                    tn__shape_text(to, sizes.len, sizes.data), what);
}

tn_status tn__may_replace(tn_call *call, const tn_tensor *t, const tn_tensor *of, tn_ints sizes)
{
    const tn__record *r = tn__record_of(t);
    bool requires_grad = tn__requires_grad(t);
    if (requires_grad && t == of)
        return refuse(call, t, sizes,
                      "it requires a gradient, which its elements would no longer be those of; "
                      "resize a detached copy");
    if (requires_grad && tn__recording())
        return refuse(call, t, sizes,
                      "it requires a gradient, which does not flow through that; detach it, or do "
                      "so in TN_NO_GRAD");
    if (t != of && tn__requires_grad(of) && tn__recording())
        return refuse(call, t, sizes,
                      "that of a tensor that requires a gradient, which would not flow; detach "
                      "that first");
    if (requires_grad && !has_shape(t, sizes))
        return refuse(call, t, sizes, "it requires a gradient, of the shape that it has now");
    if (r && r->grad && !has_shape(t, sizes))
        return refuse(call, t, sizes, "it has a gradient of its present shape; clear that first");
    return TN_OK;
}

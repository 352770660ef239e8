/* buffers.c - the gradients that a node is given: each brought to its output's shape, dtype and
 * device, and added up.
 *
 * A gradient may be anybody's: the caller's, another node's, a hook's. It is added to in place only
 * when the buffer's reference is the last one to the tensor and to its memory. */
#include "core/autograd/pass.h"

bool tn__grad_is_ours(const tn_tensor *grad)
{
    const tn__tensor *t = tn__impl(grad);
    const tn__storage *s = t->storage;
    return atomic_load_explicit(&t->refs, memory_order_acquire) == 1 && !t->base &&
           atomic_load_explicit(&s->refs, memory_order_acquire) == 1 &&
           (!s->release || s->owner == s) && /* no memory of a program's own */
           grad->flags & TN_TENSOR_DENSE && !(grad->flags & TN_TENSOR_INFERENCE);
}

static tn_status sum(const tn__walk *w, tn_tensor **held, tn_tensor *grad)
{
    if (!w->options.create_graph && tn__grad_is_ours(*held))
        return tn__op_add_into(*held, grad);
    if (!w->options.create_graph && tn__grad_is_ours(grad)) {
        TN__TRY(tn__op_add_into(grad, *held));
        tn__tensor_retain(grad);
        tn__tensor_release(*held);
        *held = grad;
        return TN_OK;
    }
    tn_tensor *total;
    TN__TRY(tn__op_add(*held, grad, &total));
    tn__tensor_release(*held);
    *held = total;
    return TN_OK;
}

tn_status tn__buffer_sum(tn__walk *w, tn__step *s, uint32_t nr, tn_tensor *grad)
{
    tn_status status = sum(w, &s->grads[nr], grad);
    tn__tensor_release(grad);
    return status;
}

/* ---- bringing home --------------------------------------------------------------------------- */
static const char *giver_text(char *buf, size_t cap, const tn__node *giver)
{
    if (!giver)
        snprintf(buf, cap, "backward was given");
    else if (giver->file)
        snprintf(buf, cap, "%s (recorded at %s:%d) gave", giver->name, giver->file, giver->line);
    else
        snprintf(buf, cap, "%s gave", giver->name);
    return buf;
}

static TN_COLD tn_status wrong_device(const tn__node *giver, const tn__node *n,
                                      const tn__outlook *o, const tn_tensor *grad)
{
    char who[256], got[32], expected[32];
    return tn__fail(NULL, TN_ERR_DEVICE,
                    "%s a gradient on device %s for a tensor on device %s, an output of %s",
                    giver_text(who, sizeof who, giver), tn__device_text(got, grad->device),
                    tn__device_text(expected, o->device), n->name);
}

static TN_COLD tn_status wrong_shape(const tn__node *giver, const tn__node *n, const tn__outlook *o,
                                     const tn_tensor *grad)
{
    char who[256], got[TN__SHAPE_CHARS], expected[TN__SHAPE_CHARS];
    return tn__fail(NULL, TN_ERR_AUTOGRAD,
                    "%s a gradient of shape %s, which does not sum to the shape %s of the tensor "
                    "that it is for, an output of %s",
                    giver_text(who, sizeof who, giver),
                    tn__shape_text(got, grad->ndim, grad->sizes),
                    tn__shape_text(expected, o->ndim, tn__outlook_sizes(o)), n->name);
}

/* Whether a tensor of the outlook's sizes broadcasts to the gradient's. */
static bool sums_to(const tn_tensor *grad, const tn__outlook *o)
{
    int extra = grad->ndim - o->ndim;
    const int64_t *sizes = tn__outlook_sizes(o);
    for (int d = 0; extra >= 0 && d < o->ndim; d++)
        if (sizes[d] != 1 && sizes[d] != grad->sizes[extra + d])
            return false;
    return extra >= 0;
}

static bool same_sizes(const tn_tensor *grad, const tn__outlook *o)
{
    const int64_t *sizes = tn__outlook_sizes(o);
    for (int d = 0; grad->ndim == o->ndim && d < o->ndim; d++)
        if (sizes[d] != grad->sizes[d])
            return false;
    return grad->ndim == o->ndim;
}

static void replace(tn_tensor **grad, tn_tensor *by)
{
    tn__tensor_release(*grad);
    *grad = by;
}

tn_status tn__bring_home_slow(const tn__node *giver, const tn__node *n, uint32_t nr,
                              tn_tensor **grad)
{
    const tn__outlook *o = &n->outlooks[nr];
    tn_tensor *home;
    if (!tn__same_device_as((*grad)->device, o->device))
        return wrong_device(giver, n, o, *grad);
    if (!sums_to(*grad, o))
        return wrong_shape(giver, n, o, *grad);
    if (!same_sizes(*grad, o)) {
        TN__TRY(tn__op_sum_to(*grad, o->ndim, tn__outlook_sizes(o), &home));
        replace(grad, home);
    }
    if ((*grad)->dtype != o->dtype) {
        TN__TRY(tn__op_to_dtype(*grad, o->dtype, &home));
        replace(grad, home);
    }
    return TN_OK;
}

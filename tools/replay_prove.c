/* replay_prove.c - a recorded gradient differs from ours: who is right?
 *
 * The call is made again with every floating tensor in double precision, and its derivative is
 * checked against differences of its own values (tenon/gradcheck.h). Only when that holds is the
 * gradient in double taken for the truth: ours must be near it, and the recorded one must not. */
#include "replay_impl.h"

#include <stdlib.h>
#include <string.h>

#include <tenon/gradcheck.h>

typedef struct proof {
    const replay_proof_case *of;
    char *frame;
    tn_tensor **slots[REPLAY_GRADS], *wide[REPLAY_GRADS], *held[REPLAY_GRADS];
    tn_tensor *inputs[REPLAY_GRADS];
    int n_wide, n_inputs;
    int places[REPLAY_GRADS]; /* of the inputs among wide */
} proof;

static tn_dtype wider(tn_dtype d)
{
    return TN_DTYPE_BIT(d) & TN_DTYPES_COMPLEX    ? TN_C128
           : TN_DTYPE_BIT(d) & TN_DTYPES_FLOATING ? TN_F64
                                                  : TN_DTYPE_NONE;
}

/* A row-major copy in double precision. */
static tn_tensor *widen(const tn_tensor *t, tn_dtype dtype)
{
    tn_tensor *out;
    replay_array a;
    replay_array_of(t, &a);
    if (tn_tensor_new(t->ndim, t->sizes, dtype, t->device, &out) != TN_OK)
        return NULL;
    for (int64_t i = 0; i < a.numel; i++) {
        double v[2];
        replay_number(&a, i, v);
        memcpy((double *)out->data + i * (dtype == TN_C128 ? 2 : 1), v,
               dtype == TN_C128 ? sizeof v : sizeof v[0]);
    }
    return out;
}

/* Puts a wider tensor into the frame in place of each floating one. */
static bool widen_slot(proof *p, tn_tensor **slot)
{
    tn_dtype dtype = *slot ? wider((*slot)->dtype) : TN_DTYPE_NONE;
    if (dtype == TN_DTYPE_NONE || (*slot)->flags & TN_TENSOR_WRAPPED_NUMBER)
        return true;
    if (p->n_wide == REPLAY_GRADS || !(p->wide[p->n_wide] = widen(*slot, dtype)))
        return false;
    for (size_t i = 0; i < p->of->n_wanted; i++)
        if (p->of->wanted[i] == *slot)
            p->inputs[p->n_inputs] = p->wide[p->n_wide], p->places[p->n_inputs++] = p->n_wide;
    p->held[p->n_wide] = *slot;
    p->slots[p->n_wide] = slot;
    *slot = p->wide[p->n_wide++];
    return true;
}

static bool widen_frame(proof *p)
{
    const replay_args *a = &p->of->args;
    for (int k = 0; k < a->n; k++) {
        char *at = p->frame + a->fields[k].offset;
        if (a->fields[k].kind == TN_FIELD_TENSOR && !widen_slot(p, (tn_tensor **)at))
            return false;
        const tn_tensors *list = (const tn_tensors *)at;
        for (int64_t i = 0; a->fields[k].kind == TN_FIELD_TENSORS && i < list->len; i++)
            if (!widen_slot(p, &list->data[i]))
                return false;
    }
    for (int i = 0; i < p->n_inputs; i++)
        if (tn_set_requires_grad(p->inputs[i], true) != TN_OK)
            return false;
    return p->n_inputs == (int)p->of->n_wanted;
}

static void narrow_frame(proof *p)
{
    for (int i = p->n_wide; i-- > 0;) {
        *p->slots[i] = p->held[i];
        tn_release(p->wide[i]);
    }
}

/* The call as gradcheck wants it. */
static tn_status function(void *data, tn_tensors inputs, tn_tensors outputs)
{
    proof *p = data;
    tn_tensor *found[REPLAY_GRADS];
    for (int i = 0; i < p->n_inputs; i++)
        *p->slots[p->places[i]] = inputs.data[i];
    tn_status status = tn_op_call(p->of->op, p->frame);
    int n = status == TN_OK ? replay_flat_results(p->of->results, p->of->n_results, p->frame, found,
                                                  REPLAY_GRADS)
                            : 0;
    for (int k = 0; k < n && k < outputs.len; k++) {
        if (found[k])
            tn_retain(found[k]);
        outputs.data[k] = found[k];
    }
    if (status == TN_OK)
        tn_op_frame_release(p->of->op, p->frame);
    for (int i = 0; i < p->n_inputs; i++)
        *p->slots[p->places[i]] = p->inputs[i];
    return status;
}

/* The gradients in double, for the recorded cotangents. */
static bool exact_gradients(proof *p, tn_tensor **grads)
{
    tn_tensor *outputs[REPLAY_GRADS] = {NULL}, *fed[REPLAY_GRADS], *cotangents[REPLAY_GRADS];
    static const tn_backward_options options = {.allow_unused = true};
    int n = 0;
    bool ok = function(p, (tn_tensors){p->inputs, p->n_inputs},
                       (tn_tensors){outputs, REPLAY_GRADS}) == TN_OK;
    for (int k = 0; ok && k < p->of->n_fed; k++) {
        tn_tensor *output = outputs[p->of->fed[k]];
        cotangents[n] = output ? widen(p->of->cotangents[k], output->dtype) : NULL;
        ok = cotangents[n] != NULL;
        fed[n] = output;
        n += ok;
    }
    ok = ok && tn_grad_of((tn_tensors){fed, n}, &(tn_tensors){cotangents, n},
                          (tn_tensors){p->inputs, p->n_inputs}, &options, grads) == TN_OK;
    for (int k = 0; k < n; k++)
        tn_release(cotangents[k]);
    for (int k = 0; k < REPLAY_GRADS; k++)
        tn_release(outputs[k]);
    return ok;
}

static bool decides(const tn_tensor *exact, const replay_array *got, const replay_array *want,
                    replay_tolerance t)
{
    replay_array truth;
    replay_array_of(exact, &truth);
    if (truth.numel != got->numel || want->numel != got->numel)
        return false;
    for (int64_t i = 0; i < got->numel; i++) {
        double ours[2], recorded[2], right[2];
        replay_number(got, i, ours);
        replay_number(want, i, recorded);
        replay_number(&truth, i, right);
        if (!replay_near(ours, recorded, t) &&
            (!replay_near(ours, right, t) || replay_near(recorded, right, t)))
            return false;
    }
    return true;
}

bool replay_gradient_proved(const replay_proof_case *of, size_t i, const replay_array *got,
                            const replay_array *want, replay_tolerance t)
{
    proof p = {.of = of, .frame = (char *)(uintptr_t)of->args.frame};
    tn_tensor *grads[REPLAY_GRADS] = {NULL};
    tn_op_frame_release(of->op, p.frame);
    bool proved = widen_frame(&p) &&
                  tn_gradcheck(function, &p, (tn_tensors){p.inputs, p.n_inputs}, of->n_outputs,
                               NULL, NULL) == TN_OK &&
                  exact_gradients(&p, grads);
    int at = -1;
    for (int k = 0; proved && k < p.n_inputs; k++)
        if (p.held[p.places[k]] == of->wanted[i])
            at = k;
    proved = proved && at >= 0 && grads[at] && decides(grads[at], got, want, t);
    for (int k = 0; k < REPLAY_GRADS; k++)
        tn_release(grads[k]);
    narrow_frame(&p);
    return proved;
}

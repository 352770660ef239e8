/* save.c - the call that fails, as a replay file (`tenon replay`).
 *
 * Which call a failure or a crash lies in is known only afterwards: so every call of the case is
 * written before it is made, each over the one before, until one is blamed or the process dies.
 * Only a failed case's second run does this (run.c). What is written is the frame itself, and the
 * reference's results beside it. */
#include "opinfo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/replay_write.h"

static struct {
    const char *path; /* NULL: nothing is saved */
    const oi_case *c;
    int sample; /* whose call the file holds; -1: no file */
} saving;

static json_t *result(replay_writer *w, const oi_array *want, tn_dtype d)
{
    oi_array a = oi_array_cast(want, d);
    size_t size = (size_t)oi_size_of(d);
    unsigned char *data = oi_alloc((size_t)a.numel * size);
    int64_t strides[OI_DIMS], next = 1;
    for (int k = a.ndim - 1; k >= 0; k--) {
        strides[k] = next;
        next *= a.sizes[k];
    }
    for (int64_t i = 0; i < a.numel; i++)
        oi_store(data + (size_t)i * size, d, a.v[i]);
    return replay_tensor_json(w, d, a.ndim, a.sizes, strides, data, (size_t)a.numel * size);
}

/* ---- the case -------------------------------------------------------------------------------- */
/* The dtype of result k: of the tensor it is written to, if it is. */
static tn_dtype dtype_of_result(const oi_call *call, int k, tn_dtype otherwise)
{
    int n_results, n_args;
    const tn_field *f = tn_op_fields(call->op, &n_results, &n_args) + n_results;
    for (int i = 0; i < n_args; i++)
        if (f[i].kind == TN_FIELD_TENSOR && f[i].flags & (TN_FIELD_WRITTEN | TN_FIELD_OUT) &&
            k-- == 0)
            return (*(tn_tensor *const *)((char *)call->frame + f[i].offset))->dtype;
    return otherwise;
}

/* The limit in last places as a relative and an absolute tolerance. A limit of half a place allows
 * the rounded reference alone, unless larger terms made an element. */
static void add_tolerance(replay_writer *to, const oi_case *c, const oi_array *want, int n)
{
    double rtol = 0, atol = 0;
    for (int k = 0; k < n; k++) {
        tn_dtype d = want[k].dtype, part = oi_real_of(d);
        double limit = oi_is_integral(d) ? 0 : oi_tolerance(c->row->tolerance, d);
        if (limit > 0.5) {
            rtol = fmax(rtol, (limit + 0.5) * (double)oi_ulp(1, part));
            atol = fmax(atol, (limit + 0.5) * (double)oi_ulp(0, part));
        }
        for (int64_t i = 0; limit > 0 && want[k].mag && i < want[k].numel; i++) {
            oi_real mag = want[k].mag[i], size = hypotl(want[k].v[i].re, want[k].v[i].im);
            if (isfinite(mag) && mag > size)
                atol = fmax(atol, (limit + 0.5) * (double)oi_ulp(mag, part));
        }
    }
    if (rtol > 0 || atol > 0) {
        replay_add(to, "rtol", json_real(rtol));
        replay_add(to, "atol", json_real(atol));
    }
}

/* False: there is nothing to compare with. */
static bool add_expected(replay_writer *w, const oi_call *call)
{
    int n_results, n_args;
    const tn_field *f = tn_op_fields(call->op, &n_results, &n_args);
    if (call->refused) {
        replay_add(w, "raises", json_true());
        return true;
    }
    oi_array want[OI_RESULTS];
    int n = saving.c->row->reference(saving.c->row, call->sample, want);
    bool is_list = n_results == 1 && f[0].kind == TN_FIELD_TENSORS;
    if (n <= 0 || (n != n_results && !is_list))
        return false;
    json_t *returns = json_array();
    for (int k = 0; k < n; k++)
        json_array_append_new(returns,
                              result(w, &want[k], dtype_of_result(call, k, want[k].dtype)));
    replay_add(w, "returns", is_list ? json_pack("[o]", returns) : returns);
    if (saving.c->row->flags & OI_META_ONLY)
        replay_add(w, "compare", json_string("meta"));
    add_tolerance(w, saving.c, want, n);
    return true;
}

static int same_storage(const tn_tensor *a, const tn_tensor *b)
{
    return tn_tensor_same_storage(a, b);
}

static bool write_call(const oi_call *call)
{
    replay_writer w = {.access = {tn_tensor_offset, tn_tensor_storage_bytes, same_storage}};
    int n_results, n_args;
    const tn_field *f = tn_op_fields(call->op, &n_results, &n_args);
    replay_begin(&w, 0, tn_op_schema(call->op));
    replay_add_arguments(&w, f + n_results, n_args, call->frame);
    bool ok = add_expected(&w, call);
    ok = replay_end(&w, ok) && replay_save(&w, saving.path, "tenon opinfo", NULL);
    replay_writer_free(&w);
    return ok;
}

/* ---- the file -------------------------------------------------------------------------------- */
void oi_save_to(const char *path)
{
    saving.path = path;
    saving.sample = -1;
}

void oi_save_case(const oi_case *c)
{
    saving.c = c;
}

static void forget(void)
{
    if (saving.sample >= 0)
        remove(saving.path);
    saving.sample = -1;
}

void oi_save_call(const oi_call *call)
{
    char why[OI_TEXT];
    oi_call here = *call;
    if (!saving.path || !saving.c)
        return;
    forget();
    /* On meta there are no values: the same call on the host has them. */
    bool twin = saving.c->target->device.type != TN_CPU;
    if (twin && !oi_call_make(&here, call->op, call->sample, (tn_device){TN_CPU, -1}, NULL, why))
        return;
    here.refused = call->refused;
    if (write_call(&here))
        saving.sample = call->sample->number;
    if (twin)
        oi_call_free(&here);
}

void oi_save_blamed(const oi_sample *s)
{
    if (!saving.path)
        return;
    if (!s || s->number != saving.sample)
        forget();
    saving.path = NULL;
}

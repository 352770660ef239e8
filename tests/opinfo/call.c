/* call.c - a sample becomes a frame over guarded memory, the call is made, and its results are
 * read back. The frame is walked through tenon/op.h, so that a plugin's operator is called like
 * any other. */
#include "opinfo.h"

#include <string.h>

bool oi_is_unsupported(tn_status s)
{
    return s == TN_ERR_UNSUPPORTED || s == TN_ERR_NO_KERNEL || s == TN_ERR_DTYPE;
}

static tn_tensor *buffer(oi_call *c, const tn_field *f, const oi_tensor *t, tn_device device,
                         char *why)
{
    oi_buffer *b = &c->buffers[c->n_buffers];
    c->fields[c->n_buffers++] = f;
    return oi_buffer_make(b, t, t->host ? (tn_device){TN_CPU, -1} : device, why) ? b->tensor : NULL;
}

static bool fill_tensors(oi_call *c, const tn_field *f, const oi_arg *a, tn_device device,
                         tn_tensors *to, char *why)
{
    to->data = oi_alloc((size_t)(a->n + 1) * sizeof *to->data);
    to->len = a->n;
    for (int64_t k = 0; k < a->n; k++)
        if (!a->tensors[k].absent && !(to->data[k] = buffer(c, f, &a->tensors[k], device, why)))
            return false;
    return true;
}

static bool fill(oi_call *c, const tn_field *f, const oi_arg *a, tn_device device, char *why)
{
    void *at = (char *)c->frame + f->offset;
    int64_t first = a->ints[0];
    if (a->raw) {
        memcpy(at, a->raw, f->size);
        return true;
    }
    switch (f->kind) {
    case TN_FIELD_TENSOR:
        *(tn_tensor **)at = NULL;
        return a->tensors->absent ||
               (*(tn_tensor **)at = buffer(c, f, a->tensors, device, why)) != NULL;
    case TN_FIELD_TENSORS:
        return fill_tensors(c, f, a, device, at, why);
    case TN_FIELD_INT:
        *(int64_t *)at = first;
        break;
    case TN_FIELD_OPT_INT:
        *(tn_opt_int *)at = (tn_opt_int){first, a->n > 0};
        break;
    case TN_FIELD_INTS:
        *(tn_ints *)at = (tn_ints){a->ints, a->n};
        break;
    case TN_FIELD_FLOAT:
        *(double *)at = a->scalar.v.f;
        break;
    case TN_FIELD_BOOL:
        *(bool *)at = first != 0;
        break;
    case TN_FIELD_OPT_BOOL:
        *(tn_opt_bool *)at = (tn_opt_bool)first;
        break;
    case TN_FIELD_SCALAR:
        *(tn_scalar *)at = a->scalar;
        break;
    case TN_FIELD_DTYPE:
        *(tn_dtype *)at = (tn_dtype)first;
        break;
    case TN_FIELD_MEMORY_FORMAT:
        *(tn_memory_format *)at = (tn_memory_format)first;
        break;
    case TN_FIELD_DEVICE:
        *(tn_device *)at = device;
        break;
    case TN_FIELD_STR:
        *(const char **)at = a->text;
        break;
    default:
        snprintf(why, OI_TEXT, "the harness cannot fill %s, a %s", f->name, f->type);
        return false;
    }
    return true;
}

static bool has_tensors(const tn_field *args, int n)
{
    for (int k = 0; k < n; k++)
        if (args[k].kind == TN_FIELD_TENSOR || args[k].kind == TN_FIELD_TENSORS)
            return true;
    return false;
}

bool oi_call_make(oi_call *c, const tn_op *op, const oi_sample *s, tn_device device,
                  const oi_tensor *out, char *why)
{
    int n_results, n_args;
    memset(c, 0, sizeof *c);
    c->op = op;
    c->sample = s;
    c->frame = oi_alloc(tn_op_frame_size(op));
    tn_op_frame_init(op, c->frame);
    const tn_field *args = tn_op_fields(op, &n_results, &n_args) + n_results;
    bool of_device = !has_tensors(args, n_args);
    for (int k = 0; k < n_args; k++) {
        const oi_arg *a = oi_find(s, args[k].name);
        oi_arg given = {.name = args[k].name, .tensors = (oi_tensor *)out};
        if (args[k].flags & TN_FIELD_OUT && out) {
            out++;
            a = &given;
        } else if (args[k].kind == TN_FIELD_DEVICE && of_device) {
            a = &given;
        }
        if (a && !fill(c, &args[k], a, device, why)) {
            oi_call_free(c);
            return false;
        }
    }
    return true;
}

static void collect(oi_call *c)
{
    int n_results, n_args;
    const tn_field *f = tn_op_fields(c->op, &n_results, &n_args);
    c->n_results = 0;
    for (int k = 0; k < n_results; k++) {
        void *at = (char *)c->frame + f[k].offset;
        if (f[k].kind == TN_FIELD_TENSOR && c->n_results < OI_RESULTS)
            c->results[c->n_results++] = *(tn_tensor **)at;
        if (f[k].kind != TN_FIELD_TENSORS)
            continue;
        const tn_tensors *list = at;
        for (int64_t i = 0; i < list->len && c->n_results < OI_RESULTS; i++)
            c->results[c->n_results++] = list->data[i];
    }
}

void oi_call_run(oi_call *c)
{
    tn_op_frame_release(c->op, c->frame);
    oi_save_call(c);
    tn_error_clear();
    c->status = tn_op_call(c->op, c->frame);
    const tn_error *e = tn_error_last();
    snprintf(c->message, sizeof c->message, "%s",
             c->status != TN_OK && e->message ? e->message : "");
    snprintf(c->plugin, sizeof c->plugin, "%s", c->status != TN_OK && e->plugin ? e->plugin : "");
    collect(c);
}

void oi_call_free(oi_call *c)
{
    if (c->frame && c->status == TN_OK)
        tn_op_frame_release(c->op, c->frame);
    for (int k = 0; k < c->n_buffers; k++)
        oi_buffer_free(&c->buffers[k]);
    c->n_buffers = 0;
    c->frame = NULL;
}

bool oi_call_intact(const oi_call *c, char *why)
{
    char what[OI_TEXT];
    for (int k = 0; k < c->n_buffers; k++) {
        bool written = c->fields[k]->flags & (TN_FIELD_WRITTEN | TN_FIELD_OUT);
        if (oi_buffer_intact(&c->buffers[k], !written || c->status != TN_OK, what))
            continue;
        snprintf(why, OI_TEXT, "%s: %.300s", c->fields[k]->name, what);
        return false;
    }
    return true;
}

/* ---- results
 * --------------------------------------------------------------------------------------- */
static tn_tensor *bring_here(tn_tensor *t, char *why)
{
    const tn_op *op = tn_op_find("aten::_to_copy");
    uint64_t frame[64];
    int n_results, n_args;
    if (!op || tn_op_frame_size(op) > sizeof frame) {
        snprintf(why, OI_TEXT, "no _to_copy to read the device's results");
        return NULL;
    }
    tn_op_frame_init(op, frame);
    const tn_field *f = tn_op_fields(op, &n_results, &n_args);
    for (int k = 0; k < n_args; k++) {
        const tn_field *arg = &f[n_results + k];
        if (k == 0)
            memcpy((char *)frame + arg->offset, &t, sizeof t);
        if (arg->kind == TN_FIELD_DEVICE)
            *(tn_device *)((char *)frame + arg->offset) = (tn_device){TN_CPU, -1};
    }
    if (tn_op_call(op, frame) != TN_OK) {
        snprintf(why, OI_TEXT, "%s", tn_error_last()->message);
        return NULL;
    }
    return *(tn_tensor **)((char *)frame + f[0].offset);
}

bool oi_read(tn_tensor *t, oi_array *out, char *why)
{
    if (t->ndim > OI_DIMS) {
        snprintf(why, OI_TEXT, "a result of %d dimensions", t->ndim);
        return false;
    }
    tn_tensor *here = NULL;
    *out = (oi_array){.dtype = t->dtype, .ndim = t->ndim, .numel = t->numel};
    memcpy(out->sizes, t->sizes, (size_t)t->ndim * sizeof *t->sizes);
    if (oi_numel(t->ndim, t->sizes) != t->numel) {
        snprintf(why, OI_TEXT, "numel is %lld for shape %s", (long long)t->numel,
                 oi_shape_text(t->ndim, t->sizes));
        return false;
    }
    if (t->device.type == TN_META)
        return true;
    if (t->device.type != TN_CPU && !(here = bring_here(t, why)))
        return false;
    const tn_tensor *from = here ? here : t;
    out->v = oi_alloc((size_t)t->numel * sizeof *out->v);
    for (int64_t i = 0; i < t->numel; i++) {
        int64_t coords[OI_DIMS], offset = 0;
        oi_coords(out, i, coords);
        for (int d = 0; d < t->ndim; d++)
            offset += coords[d] * from->strides[d];
        out->v[i] = oi_load((const char *)from->data + offset * oi_size_of(t->dtype), t->dtype);
    }
    tn_release(here);
    return true;
}

/* ---- forms: found through the schemas, as a reader would
 * ------------------------------------------- */
static size_t base_length(const char *name)
{
    const char *ns = strstr(name, "::");
    const char *dot = strchr(ns ? ns : name, '.');
    return dot ? (size_t)(dot - name) : strlen(name);
}

/* Are the first n arguments of both the same, but for what is written? */
static bool same_arguments(const tn_op *a, const tn_op *b, int n)
{
    int ra, rb, na, nb;
    const tn_field *x = tn_op_fields(a, &ra, &na), *y = tn_op_fields(b, &rb, &nb);
    for (int k = 0; k < n; k++)
        if (strcmp(x[ra + k].name, y[rb + k].name) != 0 || x[ra + k].kind != y[rb + k].kind)
            return false;
    return true;
}

static bool is_out_form(const tn_op *op, const tn_op *of)
{
    int r, n, ro, no;
    tn_op_fields(of, &r, &n);
    const tn_field *f = tn_op_fields(op, &ro, &no);
    if (ro != r || no != n + r || !same_arguments(of, op, n))
        return false;
    for (int k = n; k < no; k++)
        if (!(f[ro + k].flags & TN_FIELD_OUT))
            return false;
    return true;
}

const tn_op *oi_form_out(const tn_op *op)
{
    const char *name = tn_op_name(op);
    size_t base = base_length(name);
    const tn_op *x;
    for (size_t i = 0; (x = tn_op_at(i)); i++)
        if (base_length(tn_op_name(x)) == base && memcmp(tn_op_name(x), name, base) == 0 &&
            x != op && is_out_form(x, op))
            return x;
    return NULL;
}

const tn_op *oi_form_inplace(const tn_op *op)
{
    const char *name = tn_op_name(op);
    size_t base = base_length(name);
    const tn_op *x;
    for (size_t i = 0; (x = tn_op_at(i)); i++) {
        const char *other = tn_op_name(x);
        if (base_length(other) != base + 1 || memcmp(other, name, base) != 0 || other[base] != '_')
            continue;
        int r, n, rx, nx;
        tn_op_fields(op, &r, &n);
        const tn_field *f = tn_op_fields(x, &rx, &nx);
        if (nx == n && n > 0 && rx == 1 && r == 1 && same_arguments(op, x, n) &&
            f[rx].flags & TN_FIELD_WRITTEN)
            return x;
    }
    return NULL;
}

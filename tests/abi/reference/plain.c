/* plain.c - a plugin of border revision 1, reference: plain kernels, values of every kind in a
 * frame, scratch memory, errors, conversion, threads.
 *
 *     abiref::plain(Tensor x, float s) -> Tensor
 *     abiref::kinds(..) -> Tensor    what it was given, as numbers */
#include <tenon/plugin.h>

#define TN_SCHEMA_plain "abiref::plain(Tensor x, float s) -> Tensor"
struct tn_plain_args {
    tn_frame frame;
    tn_tensor *result, *x;
    double s;
};

typedef struct work {
    const float *in;
    float *out;
    float s;
} work;

static void scale(void *arg, int64_t begin, int64_t end)
{
    const work *w = arg;
    for (int64_t i = begin; i < end; i++)
        w->out[i] = w->in[i] * w->s;
}

static tn_status plain(tn_call *call, struct tn_plain_args *a)
{
    tn_tensor *x = a->x;
    if (x->ndim != 1 || !(x->flags & TN_TENSOR_CONTIGUOUS))
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "x: expected a row of numbers, got %d dimensions of %s", x->ndim,
                        tn->dtype_name(x->dtype));
    float *scratch = tn->scratch(call, (size_t)x->numel * sizeof *scratch);
    if (!scratch)
        return TN_ERR_MEMORY;
    TN_TRY(tn->convert(call, scratch, TN_F32, sizeof(float), x->data, x->dtype,
                       (int64_t)tn->dtype_size(x->dtype), x->numel));
    TN_TRY(tn->tensor_new(call, 1, x->sizes, TN_F32, x->device, &a->result));
    work w = {scratch, a->result->data, (float)a->s};
    return tn->parallel_for(call, x->numel, 1 << 10, scale, &w);
}

#define TN_SCHEMA_kinds                                                                            \
    "abiref::kinds(Tensor? x, Tensor[] xs, int i, int? oi, int[] is, float f, float? of, "         \
    "float[]? "                                                                                    \
    "fs, bool b, bool? ob, Scalar s, ScalarType? dtype=None, Device? device=None, str? "           \
    "text=None, "                                                                                  \
    "int last=7) -> Tensor"
struct tn_kinds_args {
    tn_frame frame;
    tn_tensor *result, *x;
    tn_tensors xs;
    int64_t i;
    tn_opt_int oi;
    tn_ints is;
    double f;
    tn_opt_float of;
    tn_floats fs;
    bool b;
    tn_opt_bool ob;
    tn_scalar s;
    tn_dtype dtype;
    tn_device device;
    const char *text;
    int64_t last;
};

static tn_status kinds(tn_call *call, struct tn_kinds_args *a)
{
    const double seen[] = {a->x ? (double)a->x->numel : -1,
                           (double)a->xs.len,
                           (double)a->i,
                           a->oi.has ? (double)a->oi.value : -1,
                           a->is.len ? (double)a->is.data[a->is.len - 1] : -1,
                           a->f,
                           a->of.has ? a->of.value : -1,
                           (double)a->fs.len,
                           a->b,
                           a->ob,
                           a->s.kind == TN_SCALAR_FLOAT ? a->s.v.f : (double)a->s.v.i,
                           a->dtype,
                           a->device.type,
                           a->text ? (double)a->text[0] : -1,
                           (double)a->last};
    const int64_t n = TN_COUNT(seen);
    TN_TRY(tn->tensor_new(call, 1, &n, TN_F64, (tn_device){TN_CPU, 0}, &a->result));
    for (int64_t i = 0; i < n; i++)
        ((double *)a->result->data)[i] = seen[i];
    return TN_OK;
}

static const tn_op_decl ops[] = {{.schema = TN_SCHEMA_plain}, {.schema = TN_SCHEMA_kinds}};
static const tn_kernel_decl kernels[] = {TN_KERNEL(plain, "CPU", plain),
                                         TN_KERNEL(kinds, "CPU", kinds)};

static tn_status start(tn_registry *r)
{
    TN_TRY(tn->register_ops(r, ops, TN_COUNT(ops)));
    return tn->register_kernels(r, kernels, TN_COUNT(kernels));
}

TN_PLUGIN("abiref_plain", "1.0.0", start, NULL);

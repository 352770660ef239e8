/* bench_op.c - `tenon bench op NAME`: what one operator costs, by the number of elements.
 *
 * Arguments are made up from the schema: tensors of one dimension, full of ones; numbers are 1; what
 * has a default keeps it. The frame is filled once and called again and again, so a difference of
 * two rows is the operator's own. */
#include "bench_impl.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tenon/op.h>
#include <tenon/runtime.h>
#include <tenon/threads.h>

static const char usage[] =
    "usage: tenon bench op NAME [NAME ...] [--plugin P.so] [--dtype T[,T]] [--numel N[,N]]\n"
    "                      [--threads N] [--format text|json]\n"
    "\n"
    "Calls each operator on cpu tensors of so many elements (1,1000,1000000 unless told\n"
    "otherwise): nanoseconds per call, the least of many batches, and bytes of all tensors per\n"
    "nanosecond. Names: add.Tensor, myops::scale_shift, myops::scale_shift.out.\n"
    "\n"
    "Exit status: 0 measured; 1 a call failed; 2 wrong use, or an operator whose arguments\n"
    "cannot be made up.\n";

enum { BATCH_NS = 200000, BATCHES = 20 };

typedef struct subject {
    const tn_op *op;
    tn_dtype dtype;
    int64_t numel;
    void *frame;
    double bytes; /* of all tensors, results too */
} subject;

/* ---- arguments ------------------------------------------------------------------------------- */
static tn_status ones(const subject *s, tn_tensor **out)
{
    double *host = malloc((size_t)s->numel * sizeof *host);
    if (!host)
        return TN_ERR_MEMORY;
    for (int64_t i = 0; i < s->numel; i++)
        host[i] = 1;
    tn_tensor *wide = NULL, *self = NULL;
    const tn_op *copy = tn_op_find("copy_");
    tn_status status = tn_tensor_from_data(host, TN_F64, 1, &s->numel, &wide);
    if (status == TN_OK)
        status = tn_tensor_new(1, &s->numel, s->dtype, (tn_device){TN_CPU, 0}, &self);
    free(host);
    if (status == TN_OK) {
        struct {
            tn_frame frame;
            tn_tensor *result, *self, *src;
            bool non_blocking;
        } f = {.frame = {sizeof f, 0}, .self = self, .src = wide};
        status = tn_op_call(copy, &f);
        tn_release(status == TN_OK ? f.result : NULL);
    }
    tn_release(wide);
    if (status != TN_OK)
        tn_release(self);
    else
        *out = self;
    return status;
}

/* NULL: made; else what cannot be. */
static const char *make_argument(subject *s, const tn_field *f, tn_status *status)
{
    void *at = (char *)s->frame + f->offset;
    bool needed = !(f->flags & (TN_FIELD_DEFAULTED | TN_FIELD_OPTIONAL));
    if (f->kind == TN_FIELD_TENSOR && needed)
        *status = ones(s, at);
    else if (f->kind == TN_FIELD_SCALAR && needed)
        *(tn_scalar *)at = tn_scalar_int(1);
    else if (f->kind == TN_FIELD_FLOAT && needed)
        *(double *)at = 1;
    else if (needed)
        return f->name;
    return NULL;
}

static const struct {
    const char *name;
    int bytes;
} dtypes[TN_DTYPE_COUNT] = {
    [TN_BOOL] = {"bool", 1}, [TN_U8] = {"u8", 1},   [TN_I8] = {"i8", 1},   [TN_I16] = {"i16", 2},
    [TN_I32] = {"i32", 4},   [TN_I64] = {"i64", 8}, [TN_F16] = {"f16", 2}, [TN_BF16] = {"bf16", 2},
    [TN_F32] = {"f32", 4},   [TN_F64] = {"f64", 8}, [TN_C64] = {"c64", 8}, [TN_C128] = {"c128", 16},
};

static const tn_tensor *tensor_at(const subject *s, const tn_field *f)
{
    return f->kind == TN_FIELD_TENSOR ? *(tn_tensor **)((char *)s->frame + f->offset) : NULL;
}

/* Of every tensor once: an in-place result is self, an out= one is out. */
static double count_bytes(const subject *s, const tn_field *f, int n)
{
    double bytes = 0;
    for (int i = 0; i < n; i++) {
        const tn_tensor *t = tensor_at(s, &f[i]);
        bool seen = !t;
        for (int k = 0; k < i && !seen; k++)
            seen = tensor_at(s, &f[k]) == t;
        if (!seen)
            bytes += (double)t->numel * dtypes[t->dtype].bytes;
    }
    return bytes;
}

static void release(subject *s)
{
    int n_results, n_args;
    const tn_field *f = tn_op_fields(s->op, &n_results, &n_args);
    for (int i = n_results; s->frame && i < n_results + n_args; i++)
        if (f[i].kind == TN_FIELD_TENSOR)
            tn_release(*(tn_tensor **)((char *)s->frame + f[i].offset));
    free(s->frame);
    s->frame = NULL;
}

static tn_status call(const subject *s)
{
    tn_status status = tn_op_call(s->op, s->frame);
    if (status == TN_OK)
        tn_op_frame_release(s->op, s->frame);
    return status;
}

/* Fills the frame and calls once, which shows the sizes of the results. */
static int prepare(subject *s)
{
    int n_results, n_args;
    const tn_field *f = tn_op_fields(s->op, &n_results, &n_args);
    tn_status status = TN_OK;
    const char *cannot = NULL;
    s->frame = calloc(1, tn_op_frame_size(s->op));
    if (!s->frame)
        return tool_fail("out of memory");
    tn_op_frame_init(s->op, s->frame);
    for (int i = n_results; !cannot && status == TN_OK && i < n_results + n_args; i++)
        cannot = make_argument(s, &f[i], &status);
    if (cannot)
        return tool_fail("%s: argument '%s' cannot be made up", tn_op_name(s->op), cannot);
    if (status == TN_OK)
        status = tn_op_call(s->op, s->frame);
    if (status != TN_OK) {
        tool_fail("%s: %s", tn_op_name(s->op), tn_error_last()->message);
        return TOOL_FAILED;
    }
    s->bytes = count_bytes(s, f, n_results + n_args);
    tn_op_frame_release(s->op, s->frame);
    return TOOL_OK;
}

/* ---- time ------------------------------------------------------------------------------------ */
static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double batch(const subject *s, int64_t n)
{
    double start = now_ns();
    for (int64_t i = 0; i < n; i++)
        if (call(s) != TN_OK)
            return -1;
    return (now_ns() - start) / (double)n;
}

static double measure(const subject *s)
{
    double least = batch(s, 3);
    for (int i = 0; least >= 0 && i < BATCHES; i++) {
        double each = batch(s, least > 0 ? (int64_t)(BATCH_NS / least) + 1 : 1000);
        least = each < 0 || each < least ? each : least;
    }
    return least;
}

static int run(subject *s, tool_format format)
{
    int status = prepare(s);
    double ns = status == TOOL_OK ? measure(s) : -1;
    release(s);
    if (status != TOOL_OK)
        return status;
    if (format == TOOL_JSON)
        tool_json_row(json_pack("{s:s, s:s, s:s, s:I, s:f, s:f}", "kind", "bench", "op",
                                tn_op_name(s->op), "dtype", dtypes[s->dtype].name, "numel",
                                (json_int_t)s->numel, "ns", ns, "bytes_per_ns", s->bytes / ns));
    else
        printf("%-40s %-6s %10lld %12.1f %8.2f\n", tn_op_name(s->op), dtypes[s->dtype].name,
               (long long)s->numel, ns, s->bytes / ns);
    return ns < 0 ? TOOL_FAILED : TOOL_OK;
}

/* ---- the command ----------------------------------------------------------------------------- */
/* The next item of a list with commas; false at its end. */
static bool next(const char **list, char *item, size_t size)
{
    size_t n = strcspn(*list, ",");
    if (!**list || n >= size)
        return false;
    memcpy(item, *list, n);
    item[n] = '\0';
    *list += n + ((*list)[n] == ',');
    return true;
}

static int dtype_of(const char *text)
{
    for (int i = 0; i < TN_DTYPE_COUNT; i++)
        if (strcmp(dtypes[i].name, text) == 0)
            return i;
    return -1;
}

static int run_all(const tn_op *op, const char *names, const char *numels, tool_format format)
{
    char dtype[8], number[24];
    int status = TOOL_OK;
    while (status == TOOL_OK && next(&names, dtype, sizeof dtype)) {
        const char *rest = numels;
        if (dtype_of(dtype) < 0)
            return tool_fail("unknown dtype '%s'; write f32 or i64", dtype);
        while (status == TOOL_OK && next(&rest, number, sizeof number)) {
            char *end;
            subject s = {.op = op, .dtype = dtype_of(dtype), .numel = strtoll(number, &end, 10)};
            if (*end || s.numel < 1 || s.numel > INT64_C(1) << 30)
                return tool_fail("--numel: '%s' is no number of elements up to 2^30", number);
            status = run(&s, format);
        }
    }
    return status;
}

int bench_op(int argc, char **argv)
{
    const char *plugin = NULL, *names = "f32", *numels = "1,1000,1000000", *threads = "1";
    const char *format_name = "text";
    const tool_option options[] = {{"--plugin", &plugin, NULL},      {"--dtype", &names, NULL},
                                   {"--numel", &numels, NULL},       {"--threads", &threads, NULL},
                                   {"--format", &format_name, NULL}, {0}};
    int n = tool_options(argc, argv, options, usage);
    if (n < 0)
        return tool_status(n);
    tool_format format = tool_format_parse(format_name, "text|json");
    if (format == TOOL_FORMAT_BAD)
        return TOOL_USAGE;
    if (n == 0)
        return tool_fail("write `tenon bench op NAME`; --help says more");
    if (tn_set_num_threads(atoi(threads)) != TN_OK || tn_plugins_load_default() != TN_OK ||
        (plugin && tn_plugin_load(plugin, NULL) != TN_OK))
        return tool_fail("%s", tn_error_last()->message);
    if (format == TOOL_TEXT)
        printf("%-40s %-6s %10s %12s %8s\n", "operator", "dtype", "elements", "ns", "bytes/ns");
    int status = TOOL_OK;
    for (int i = 1; i <= n && status == TOOL_OK; i++) {
        const tn_op *op = tn_op_find(argv[i]);
        status = op ? run_all(op, names, numels, format)
                    : tool_fail("there is no operator '%s'", argv[i]);
    }
    return status;
}

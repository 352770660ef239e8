/* The promise: a plugin that was built for a released border revision runs in this host.
 *
 * One set of plugins is built from reference/ as it stands today, the others are the objects kept in
 * objects/REVISION-MACHINE/ (README.md). Each set runs in a process of its own, because all of them
 * bring the same operators. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <tenon/autograd.h>
#include <tenon/op.h>
#include <tenon/runtime.h>
#include <tenon/tensor.h>

enum { MAX_SETS = 65, PATH_CHARS = 1024 };

typedef struct set {
    char directory[PATH_CHARS]; /* "": built today */
} set;

static const char *from_environment(const char *name, const char *otherwise)
{
    return getenv(name) && *getenv(name) ? getenv(name) : otherwise;
}

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *format, ...)
{
    char command[4 * PATH_CHARS];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    cr_assert_eq(system(command), 0, "failed: %s", command);
}

/* ---- the sets -------------------------------------------------------------------------------- */
static int find_sets(set sets[MAX_SETS])
{
    char objects[PATH_CHARS / 2];
    struct utsname machine;
    int n = 1;
    memset(sets, 0, MAX_SETS * sizeof *sets);
    uname(&machine);
    snprintf(objects, sizeof objects, "%s/tests/abi/objects",
             from_environment("TENON_SOURCE", "."));
    DIR *d = opendir(objects);
    for (struct dirent *e; d && (e = readdir(d)) && n < MAX_SETS;) {
        const char *dash = strchr(e->d_name, '-');
        if (dash && strcmp(dash + 1, machine.machine) == 0)
            snprintf(sets[n++].directory, PATH_CHARS, "%s/%s", objects, e->d_name);
    }
    if (d)
        closedir(d);
    return n;
}

static char made[PATH_CHARS];

/* False: the set is from a time before there was such a plugin. */
static bool load(const set *s, const char *name)
{
    char path[2 * PATH_CHARS];
    snprintf(path, sizeof path, "%s/%s.so", *s->directory ? s->directory : made, name);
    if (*s->directory && access(path, F_OK) != 0)
        return false;
    cr_assert_eq(tn_plugin_load(path, NULL), TN_OK, "%s", tn_error_last()->message);
    return true;
}

static void begin(const set *s)
{
    const char *build = from_environment("TENON_BUILD", "build"),
               *tree = from_environment("TENON_SOURCE", ".");
    snprintf(made, sizeof made, "%s/tenon-abi-XXXXXX", from_environment("TMPDIR", "/tmp"));
    cr_assert_not_null(mkdtemp(made));
    setenv("XDG_CACHE_HOME", made, 1);
    setenv("TENON_ALLOW_WRITABLE", "1", 1); /* a checkout may be group-writable */
    if (!*s->directory)
        shell("'%s/tests/abi/build' '%s' '%s'", tree, build, made);
    shell(
        "cc -std=gnu11 -shared -fPIC -fvisibility=hidden -I'%s/generated/include' -I'%s/include' "
        "-Wl,--version-script='%s/cmake/tenon_plugin.map' '%s/tests/abi/today.c' -o '%s/today.so'",
        build, tree, tree, tree, made);
    cr_assert_eq(tn_plugins_load_default(), TN_OK);
}

static void end(void)
{
    shell("rm -rf '%s'", made);
}

/* ---- calls ----------------------------------------------------------------------------------- */
static tn_tensor *row(const double *x, int64_t n, tn_device device)
{
    tn_tensor *t = NULL;
    cr_assert_eq(tn_tensor_new(1, &n, TN_F64, device, &t), TN_OK, "%s", tn_error_last()->message);
    memcpy(t->data, x, (size_t)n * sizeof *x);
    return t;
}

static const tn_device cpu = {TN_CPU, 0};

static const tn_op *op(const char *name)
{
    const tn_op *o = tn_op_find(name);
    cr_assert_not_null(o, "%s is not there", name);
    return o;
}

static void call(const char *name, void *frame)
{
    cr_assert_eq(tn_op_call(op(name), frame), TN_OK, "%s: %s", name, tn_error_last()->message);
}

typedef struct one_tensor {
    tn_frame frame;
    tn_tensor *result, *x;
} one_tensor;

static tn_tensor *call_one(const char *name, tn_tensor *x)
{
    one_tensor a = {{sizeof a, 0}, NULL, x};
    call(name, &a);
    return a.result;
}

static void check_kinds(void)
{
    static const int64_t is[] = {4, 5, 6};
    static const double fs[] = {1, 2},
                        want[] = {2, 1, 11, -1, 6, 0.5, -1, 2, 1, -1, 1.5, TN_F32, TN_CPU, 'A', 7};
    struct {
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
    } a;
    cr_assert_eq(tn_op_frame_size(op("abiref::kinds")), sizeof a);
    tn_op_frame_init(op("abiref::kinds"), &a);
    tn_tensor *x = row((double[]){1, 2}, 2, cpu);
    a.x = x;
    a.xs = (tn_tensors){&x, 1};
    a.i = 11;
    a.is = (tn_ints){is, 3};
    a.f = 0.5;
    a.fs = (tn_floats){fs, 2};
    a.b = true;
    a.s.kind = TN_SCALAR_FLOAT;
    a.s.v.f = 1.5;
    a.dtype = TN_F32;
    a.device = cpu;
    a.text = "A";
    call("abiref::kinds", &a);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        cr_assert_eq(((double *)a.result->data)[i], want[i], "value %zu: %g, not %g", i,
                     ((double *)a.result->data)[i], want[i]);
    tn_release(a.result);
    tn_release(x);
}

static void check_plain(const set *s)
{
    struct {
        tn_frame frame;
        tn_tensor *result, *x;
        double s;
    } a = {.frame = {sizeof a, 0}, .s = 3};
    if (!load(s, "plain"))
        return;
    a.x = row((double[]){1, 2, 4}, 3, cpu);
    call("abiref::plain", &a);
    cr_assert_eq(a.result->dtype, TN_F32);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(((float *)a.result->data)[i], 3 << i);
    tn_release(a.result);
    a.result = NULL;
    tn_tensor *x = a.x;
    cr_assert_eq(tn_tensor_new(2, (int64_t[]){2, 2}, TN_F64, cpu, &a.x), TN_OK);
    cr_assert_eq(tn_op_call(op("abiref::plain"), &a), TN_ERR_ARGUMENT);
    cr_assert_str_eq(tn_error_last()->message,
                     "x: expected a row of numbers, got 2 dimensions of float64");
    cr_assert(strstr(tn_error_last()->plugin, "abiref_plain 1.0.0"));
    tn_release(a.x);
    tn_release(x);
    check_kinds();
}

static void check_pointwise(const set *s)
{
    struct {
        tn_frame frame;
        tn_tensor *result, *self;
        tn_scalar a, b;
        tn_tensor *out;
    } f = {.frame = {sizeof f - sizeof f.out, 0}};
    if (!load(s, "pointwise"))
        return;
    f.self = row((double[]){1, 2, 3, 4}, 4, cpu);
    f.a.kind = f.b.kind = TN_SCALAR_INT;
    f.a.v.i = 2;
    f.b.v.i = 1;
    call("abiref::axpb", &f);
    cr_assert_eq(((double *)f.result->data)[3], 9);
    f.out = f.result;
    f.frame.size = sizeof f;
    f.result = NULL;
    f.a.v.i = 3;
    call("abiref::axpb.out", &f);
    cr_assert_eq(((double *)f.out->data)[3], 13);
    tn_release(f.result); /* the caller's reference of an out= result, which is `out` itself */
    f.frame.size = sizeof f - sizeof f.out;
    f.result = NULL;
    call("abiref::axpb_", &f);
    cr_assert_eq(((double *)f.self->data)[3], 13);
    tn_release(f.result);
    tn_tensor *square = NULL;
    const double x[] = {1, 2, 3, 4, 5, 6};
    cr_assert_eq(tn_tensor_new(2, (int64_t[]){2, 3}, TN_F64, cpu, &square), TN_OK);
    memcpy(square->data, x, sizeof x);
    tn_tensor *sums = call_one("abiref::rows", square);
    cr_assert_eq(((double *)sums->data)[0], 6);
    cr_assert_eq(((double *)sums->data)[1], 15);
    tn_release(sums);
    tn_release(square);
    tn_release(f.out);
    tn_release(f.self);
}

static void check_device(const set *s)
{
    tn_device device = {0, 1};
    if (!load(s, "device"))
        return;
    for (device.type = 0; device.type < 8; device.type++) {
        tn_tensor *probe = NULL;
        if (device.type == TN_CPU || device.type == TN_CUDA || device.type == TN_META)
            continue;
        if (tn_tensor_new(1, (int64_t[]){1}, TN_F64, device, &probe) == TN_OK) {
            tn_release(probe);
            break;
        }
    }
    tn_tensor *x = row((double[]){7, 7, 7}, 3, device), *y = call_one("abiref::iota", x);
    cr_assert_eq(y->device.type, device.type);
    cr_assert_eq(((double *)y->data)[2], 2);
    tn_release(y);
    tn_release(x);
}

static void check_calls(const set *s)
{
    if (!load(s, "calls"))
        return;
    tn_tensor *x = row((double[]){1, 2}, 2, cpu), *y = call_one("abiref::twice", x);
    cr_assert_eq(((double *)y->data)[1], 4);
    tn_release(y);
    y = call_one("abiref::ranked", x);
    cr_assert_eq(*(double *)y->data, 1);
    tn_release(y);
    tn_release(x);
}

static void check_older(const set *s)
{
    struct {
        tn_frame frame;
        tn_tensor *result, *x;
        double s;
    } a = {.frame = {sizeof a, 0}, .s = 2};
    char path[2 * PATH_CHARS];
    snprintf(path, sizeof path, "%s/today.so", made);
    cr_assert_eq(tn_plugin_load(path, NULL), TN_OK, "%s", tn_error_last()->message);
    if (!load(s, "older"))
        return;
    a.x = row((double[]){1}, 1, cpu);
    call("abiref::grown", &a);
    cr_assert_eq(*(double *)a.result->data, 100);
    tn_release(a.result);
    a.result = NULL;
    a.s = 3;
    cr_assert_eq(tn_op_call(op("abiref::grown"), &a), TN_ERR_UNSUPPORTED);
    cr_assert(
        strstr(tn_error_last()->message, "compiled against 'abiref::grown(Tensor x) -> Tensor'"),
        "%s", tn_error_last()->message);
    tn_release(a.x);
}

static void check_gradient(const set *s)
{
    if (!load(s, "gradient"))
        return;
    tn_tensor *x = row((double[]){2}, 1, cpu);
    cr_assert_eq(tn_set_requires_grad(x, true), TN_OK);
    tn_tensor *y = call_one("abiref::cube", x);
    cr_assert_eq(*(double *)y->data, 8);
    cr_assert_eq(tn_backward_from(y), TN_OK, "%s", tn_error_last()->message);
    cr_assert_eq(*(double *)tn_grad(x)->data, 12);
    tn_release(y);
    tn_release(x);
}

ParameterizedTestParameters(reference, a_set_runs_here)
{
    static set sets[MAX_SETS];
    int n = find_sets(sets);
    if (n == 1)
        printf("skipped: no objects of a released border revision in tests/abi/objects\n");
    return cr_make_param_array(set, sets, (size_t)n);
}

ParameterizedTest(set *s, reference, a_set_runs_here, .timeout = 120)
{
    begin(s);
    check_plain(s);
    check_pointwise(s);
    check_device(s);
    check_calls(s);
    check_older(s);
    check_gradient(s);
    end();
}

/* Every released description is still described: nothing of it is gone, moved or retyped. */
Test(reference, the_border_only_grew, .timeout = 60)
{
    const char *build = from_environment("TENON_BUILD", "build"),
               *tree = from_environment("TENON_SOURCE", ".");
    int found = 0;
    for (int revision = 1; revision < MAX_SETS; revision++) {
        char locked[PATH_CHARS];
        snprintf(locked, sizeof locked, "%s/abi/locked/%d.yaml", tree, revision);
        if (access(locked, R_OK) != 0)
            continue;
        found++;
        shell("'%s/bin/tenon' abi diff '%s' '%s/abi/border.yaml'", build, locked, tree);
    }
    if (!found)
        printf("skipped: no border revision is locked in abi/locked\n");
}

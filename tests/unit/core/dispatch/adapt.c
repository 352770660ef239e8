/* Frames of different ages: kernels of an older schema, and callers whose frame ends early. */
#include "registry_test.h"

TestSuite(adapt, .timeout = 60);

#define NOW                                                                                        \
    "rt::h(Tensor x, int n=3, *, str mode=\"sum\", int[2] pad=[0, 1], Scalar alpha=1, float? "     \
    "eps=None, bool? fast=None, "                                                                  \
    "int? axis=None, Tensor? mask=None) -> Tensor"

struct h_args {
    tn_frame frame;
    tn_tensor *result, *x;
    int64_t n;
    const char *mode;
    tn_ints pad;
    tn_scalar alpha;
    tn_opt_float eps;
    tn_opt_bool fast;
    tn_opt_int axis;
    tn_tensor *mask;
};

/* What kernels of different ages knew. */
struct h_first {
    tn_frame frame;
    tn_tensor *result, *x;
};
struct h_second {
    tn_frame frame;
    tn_tensor *result, *x;
    int64_t n;
};

static tn__plugin now, older;
static int64_t seen_n;

static tn_status answer_x(tn_call *call, void *frame)
{
    struct h_first *a = frame;
    cr_assert_eq(a->frame.size, sizeof *a);
    cr_assert_not_null(call->op);
    tn_retain(a->x);
    a->result = a->x;
    return TN_OK;
}

static tn_status see_n(tn_call *call, void *frame)
{
    struct h_second *a = frame;
    seen_n = a->n;
    tn_retain(a->x);
    a->result = a->x;
    return a->n == 99 ? tn__fail(call, TN_ERR_ARGUMENT, "n is 99") : TN_OK;
}

static tn_status see_whole(tn_call *call, void *frame)
{
    struct h_args *a = frame;
    (void)call;
    cr_assert_eq(a->frame.size, sizeof *a);
    cr_assert_str_eq(a->mode, "sum");
    cr_assert_eq(a->pad.len, 2);
    cr_assert(!a->eps.has && a->fast == -1 && !a->axis.has && !a->mask);
    seen_n = a->n;
    tn_retain(a->x);
    a->result = a->x;
    return TN_OK;
}

static const tn_op *with_kernel(const char *schema, tn_kernel_fn fn, uint32_t size)
{
    now = test_plugin("now"), older = test_plugin("older");
    const tn_op_decl op = {.schema = NOW};
    const tn_kernel_decl k = {.schema = schema, .key = "CPU", .fn = fn, .frame_size = size};
    cr_assert_eq(register_all(&now, &op, 1, NULL, 0), TN_OK, "%s", tn_error_last()->message);
    cr_assert_eq(register_all(&older, NULL, 0, &k, 1), TN_OK, "%s", tn_error_last()->message);
    const tn_op *found = tn_op_find("rt::h");
    cr_assert_eq(tn_op_frame_size(found), sizeof(struct h_args));
    return found;
}

static void begin_frame(const tn_op *op, struct h_args *a)
{
    tn_op_frame_init(op, a);
    a->x = test_tensor((tn_device){TN_CPU, 0});
}

static void serves(const tn_op *op, struct h_args *a)
{
    cr_assert_eq(tn_op_call(op, a), TN_OK, "%s", tn_error_last()->message);
    cr_assert_eq(a->result, a->x);
    tn_op_frame_release(op, a);
}

static void refuses(const tn_op *op, struct h_args *a, const char *name)
{
    cr_assert_eq(tn_op_call(op, a), TN_ERR_UNSUPPORTED, "%s", name);
    HAS(name);
    HAS("rt::h(Tensor x) -> Tensor");
    cr_assert_str_eq(tn_error_last()->plugin, "older");
    cr_assert_null(a->result);
}

Test(adapt, an_older_kernel_serves_defaults_by_value_and_nothing_else)
{
    const tn_op *op = with_kernel("rt::h(Tensor x) -> Tensor", answer_x, sizeof(struct h_first));
    struct h_args fresh, a;
    begin_frame(op, &fresh);
    serves(op, &fresh);
    a = fresh;
    a.mode = (char[]){"sum"}; /* the same values at other addresses */
    a.pad = TN_INTS(0, 1);
    memset(&a.alpha, 0x55, sizeof a.alpha); /* what the value does not use is not looked at */
    a.alpha.kind = TN_SCALAR_INT;
    a.alpha.v.i = 1;
    a.eps = (tn_opt_float){7, 0};
    serves(op, &a);
    a = fresh, a.n = 4, refuses(op, &a, "'n'");
    a = fresh, a.mode = "mean", refuses(op, &a, "'mode'");
    a = fresh, a.pad = TN_INTS(0, 2), refuses(op, &a, "'pad'");
    a = fresh, a.pad = TN_INTS(0), refuses(op, &a, "'pad'");
    a = fresh, a.alpha.v.i = 2, refuses(op, &a, "'alpha'");
    a = fresh, a.eps = (tn_opt_float){1e-5, 1}, refuses(op, &a, "'eps'");
    a = fresh, a.fast = 0, refuses(op, &a, "'fast'");
    a = fresh, a.axis = (tn_opt_int){0, 1}, refuses(op, &a, "'axis'");
    a = fresh, a.mask = a.x, refuses(op, &a, "'mask'");
    tn_release(fresh.x);
}

Test(adapt, what_an_older_kernel_knows_reaches_it)
{
    const tn_op *op =
        with_kernel("rt::h(Tensor x, int n=1) -> Tensor", see_n, sizeof(struct h_second));
    struct h_args a;
    begin_frame(op, &a);
    serves(op, &a);
    cr_assert_eq(seen_n, 3, "today's default, not the one of its time");
    a.n = -8;
    serves(op, &a);
    cr_assert_eq(seen_n, -8);
    a.n = 99;
    tn_tensor *x = a.x;
    cr_assert_eq(tn_op_call(op, &a), TN_ERR_ARGUMENT);
    cr_assert_null(a.result);
    tn_release(x); /* the reference that the failing kernel left behind */
    tn_release(x);
}

Test(adapt, kernels_that_would_misread_are_refused)
{
    static const char *const schemas[] = {
        "rt::h(Tensor x, Tensor mask) -> Tensor", "rt::h(Tensor x, int mode) -> Tensor",
        "rt::h(Tensor x, int gone) -> Tensor",    "rt::h(Tensor(a!) x) -> Tensor(a!)",
        "rt::h(Tensor x) -> (Tensor, Tensor)",    "rt::h() -> Tensor",
        "rt::h(Tensor x, bool fast) -> Tensor"};
    with_kernel("rt::h(Tensor x) -> Tensor", answer_x, sizeof(struct h_first));
    tn__plugin p = test_plugin("another");
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
        const tn_kernel_decl k = {.schema = schemas[i], .key = "Meta", .fn = answer_x};
        cr_assert_eq(register_all(&p, NULL, 0, &k, 1), TN_ERR_PLUGIN, "%s", schemas[i]);
        HAS(schemas[i]);
        HAS(NOW);
    }
    const tn_kernel_decl k = {
        .schema = "rt::h(Tensor x) -> Tensor", .key = "Meta", .fn = answer_x, .frame_size = 8};
    cr_assert_eq(register_all(&p, NULL, 0, &k, 1), TN_ERR_PLUGIN);
    HAS("frame");
}

Test(adapt, an_older_frame_is_completed_with_defaults)
{
    const tn_op *op = with_kernel(NOW, see_whole, sizeof(struct h_args));
    struct h_first first = {.frame = {sizeof first, 0}};
    first.x = test_tensor((tn_device){TN_CPU, 0});
    cr_assert_eq(tn_op_call(op, &first), TN_OK, "%s", tn_error_last()->message);
    cr_assert_eq(first.result, first.x);
    cr_assert_eq(seen_n, 3);
    cr_assert_eq(first.frame.size, sizeof first);
    tn_release(first.result);
    struct h_second second = {.frame = {sizeof second, 0}, .x = first.x, .n = 12};
    cr_assert_eq(tn_op_call(op, &second), TN_OK);
    cr_assert_eq(seen_n, 12);
    tn_release(second.result);
    second.x = NULL;
    second.result = NULL;
    cr_assert_eq(tn_op_call(op, &second), TN_ERR_ARGUMENT);
    HAS("x is missing");
    tn_release(first.x);
}

Test(adapt, a_frame_of_no_age_is_refused)
{
    const tn_op *op = with_kernel(NOW, see_whole, sizeof(struct h_args));
    struct h_args a;
    begin_frame(op, &a);
    static const uint32_t sizes[] = {0, 1, 8, 15, 20, 28, 36, 44};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        a.frame.size = sizes[i];
        cr_assert_eq(tn_op_call(op, &a), TN_ERR_ARGUMENT, "%u", sizes[i]);
        HAS("size");
    }
    tn_release(a.x);
}

/* ---- a structured operator whose kernel is older --------------------------------------------- */
struct s_args {
    tn_frame frame;
    tn_tensor *result, *self;
};

static tn_status shape_like_self(tn_call *call, const void *frame, tn_result *r)
{
    const struct s_args *a = frame;
    (void)call;
    r->ndim = a->self->ndim;
    memcpy(r->sizes, a->self->sizes, (size_t)r->ndim * sizeof *r->sizes);
    r->dtype = a->self->dtype;
    r->device = a->self->device;
    return TN_OK;
}

static tn_status negate(tn_call *call, void *frame)
{
    struct s_args *a = frame;
    (void)call;
    for (int64_t i = 0; i < a->self->numel; i++)
        ((float *)a->result->data)[i] = -((const float *)a->self->data)[i];
    return TN_OK;
}

Test(adapt, one_older_kernel_serves_all_forms)
{
    const tn_op_decl op = {
        .schema = "rt::s(Tensor self, int k=0) -> Tensor",
        .inplace = "rt::s_(Tensor(a!) self, int k=0) -> Tensor(a!)",
        .out = "rt::s.out(Tensor self, int k=0, *, Tensor(a!) out) -> Tensor(a!)",
        .shape = shape_like_self};
    const tn_kernel_decl k = {.schema = "rt::s(Tensor self) -> Tensor",
                              .key = "CPU",
                              .fn = negate,
                              .frame_size = sizeof(struct s_args)};
    tn__plugin p = test_plugin("older");
    cr_assert_eq(register_all(&p, &op, 1, &k, 1), TN_OK, "%s", tn_error_last()->message);
    float values[] = {1, -2, 3};
    tn_tensor *x = NULL, *out = NULL;
    cr_assert_eq(tn_tensor_from_data(values, TN_F32, 1, (int64_t[]){3}, &x), TN_OK);
    cr_assert_eq(tn_tensor_new(1, (int64_t[]){0}, TN_F32, (tn_device){TN_CPU, 0}, &out), TN_OK);
    struct {
        tn_frame frame;
        tn_tensor *result, *self;
        int64_t k;
        tn_tensor *out;
    } a;
    static const char *const names[] = {"rt::s", "rt::s.out", "rt::s_"};
    for (int i = 0; i < 3; i++) {
        const tn_op *form = tn_op_find(names[i]);
        memset(&a, 0, sizeof a);
        tn_op_frame_init(form, &a);
        a.self = x;
        if (i == 1)
            a.out = out;
        cr_assert_eq(tn_op_call(form, &a), TN_OK, "%s: %s", names[i], tn_error_last()->message);
        cr_assert_eq(((const float *)a.result->data)[1], 2, "%s", names[i]);
        cr_assert(i != 1 || a.result == out);
        cr_assert(i != 2 || a.result == x);
        tn_op_frame_release(form, &a);
        a.k = 1;
        cr_assert_eq(tn_op_call(form, &a), TN_ERR_UNSUPPORTED);
        HAS("'k'");
    }
    tn_release(x);
    tn_release(out);
}

/* A wrapping kernel goes on below itself with the frame of its own time: below, not again from the
 * top. */
static int wrapped;

static tn_status wrap(tn_call *call, void *frame)
{
    cr_assert_lt(wrapped, 1, "the wrapper was entered again");
    wrapped++;
    return tn__api.op_redispatch(call->op, call->keys & ~TN__KEY(TN__BIT_TRACER), frame);
}

Test(adapt, an_older_wrapper_goes_on_below_itself)
{
    now = test_plugin("now"), older = test_plugin("older");
    const tn_op_decl op = {.schema = NOW};
    const tn_kernel_decl k[] = {
        {.schema = NOW, .key = "CPU", .fn = see_whole, .frame_size = sizeof(struct h_args)},
        {.schema = "rt::h(Tensor x) -> Tensor",
         .key = "Tracer",
         .fn = wrap,
         .frame_size = sizeof(struct h_first)},
    };
    cr_assert_eq(register_all(&now, &op, 1, k, 2), TN_OK, "%s", tn_error_last()->message);
    struct h_args a;
    tn_op_frame_init(tn_op_find("rt::h"), &a);
    a.x = test_tensor((tn_device){TN_CPU, 0});
    a.x->keys |= TN__KEY(TN__BIT_TRACER);
    wrapped = 0, seen_n = 0;
    cr_assert_eq(tn_op_call(tn_op_find("rt::h"), &a), TN_OK, "%s", tn_error_last()->message);
    cr_expect_eq(wrapped, 1);
    cr_expect_eq(seen_n, 3);
    tn_release(a.result);
    tn_release(a.x);
    tn__registry_remove(&now);
}

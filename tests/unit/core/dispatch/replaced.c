/* The kernel that another one has replaced by its rank, called by it: plain and structured operators,
 * every form, older schemas, fallbacks; and what there is to say when there is none. */
#include "registry_test.h"

TestSuite(replaced, .timeout = 60);

static tn__plugin low, mid, high;

static void begin(void)
{
    low = test_plugin("low 1 (/low.so)");
    mid = test_plugin("mid 1 (/mid.so)");
    high = test_plugin("high 1 (/high.so)");
    tn__runtime_init();
}

/* Calls what it has replaced, and counts in *data, which must be its own again afterwards. */
static tn_status around(tn_call *call, void *frame)
{
    const void *mine = call->data, *me = call->kernel;
    tn_status status = tn__api.call_replaced(call, frame);
    cr_assert(call->data == mine && call->kernel == me);
    ++*(int *)(uintptr_t)call->data;
    return status;
}

static tn_status fails(tn_call *call, void *frame)
{
    struct f_args *a = frame;
    tn_retain(a->x); /* left behind, as a bad kernel does */
    a->result = a->x;
    tn_release(a->x);
    return tn__api.fail(call, TN_ERR_UNSUPPORTED, "not today");
}

static tn_kernel_decl kernel(const char *schema, const char *key, tn_kernel_fn fn, int *count,
                             int rank)
{
    return (tn_kernel_decl){.schema = schema, .key = key, .fn = fn, .data = count, .rank = rank};
}

static void add(tn__plugin *p, tn_kernel_decl k)
{
    cr_assert_eq(register_all(p, NULL, 0, &k, 1), TN_OK, "%s", tn_error_last()->message);
}

static const tn_op_decl f_op = {.schema = F_SCHEMA};

/* ---- plain ------------------------------------------------------------------------------------ */
Test(replaced, down_the_ranks, .init = begin)
{
    int counts[3] = {0};
    tn_kernel_decl k = f_kernel("CPU", &counts[0], 0);
    cr_assert_eq(register_all(&low, &f_op, 1, &k, 1), TN_OK);
    add(&high, kernel(F_SCHEMA, "CPU", around, &counts[2], 20));
    const tn_op *op = tn_op_find("rt::f");
    cr_assert_eq(call_f(op), TN_OK, "%s", tn_error_last()->message);
    cr_assert(counts[0] == 1 && counts[1] == 0 && counts[2] == 1);
    add(&mid, kernel(F_SCHEMA, "CPU", around, &counts[1], 10));
    cr_assert_eq(call_f(op), TN_OK);
    cr_assert(counts[0] == 2 && counts[1] == 1 && counts[2] == 2);
    tn__registry_remove(&mid);
    cr_assert_eq(call_f(op), TN_OK);
    cr_assert(counts[0] == 3 && counts[1] == 1 && counts[2] == 3, "past the one that has gone");
    tn__registry_remove(&low);
}

Test(replaced, none, .init = begin)
{
    int count = 0;
    tn_kernel_decl k = kernel(F_SCHEMA, "CPU", around, &count, 5);
    cr_assert_eq(register_all(&high, &f_op, 1, &k, 1), TN_OK);
    cr_assert_eq(call_f(tn_op_find("rt::f")), TN_ERR_NO_KERNEL);
    HAS("this kernel has replaced none, rt::f has no other one of a lower rank for CPU");
    cr_assert_str_eq(tn_error_last()->plugin, "high 1 (/high.so)");
    add(&low, f_kernel("CPU", &count, 0));
    cr_assert_eq(call_f(tn_op_find("rt::f")), TN_OK);
    tn__registry_remove(&low);
    cr_assert_eq(call_f(tn_op_find("rt::f")), TN_ERR_NO_KERNEL);
}

Test(replaced, a_leaf_calls_no_other, .init = begin)
{
    int count = 0;
    tn_kernel_decl k[] = {f_kernel("CPU", &count, 0), kernel(F_SCHEMA, "CPU", around, &count, 5)};
    k[1].flags = TN_KERNEL_LEAF;
    cr_assert_eq(register_all(&high, &f_op, 1, k, 2), TN_OK);
    cr_assert_eq(call_f(tn_op_find("rt::f")), TN_ERR_PLUGIN);
    HAS("promised TN_KERNEL_LEAF");
}

Test(replaced, a_leaf_is_called, .init = begin)
{
    int count = 0, outer = 0;
    tn_kernel_decl k[] = {f_kernel("CPU", &count, 0), kernel(F_SCHEMA, "CPU", around, &outer, 5)};
    k[0].flags = TN_KERNEL_LEAF;
    cr_assert_eq(register_all(&high, &f_op, 1, k, 2), TN_OK);
    cr_assert_eq(call_f(tn_op_find("rt::f")), TN_OK, "%s", tn_error_last()->message);
    cr_assert(count == 1 && outer == 1);
}

static tn_status rescues(tn_call *call, void *frame)
{
    struct f_args *a = frame;
    cr_assert_eq(tn__api.call_replaced(call, frame), TN_ERR_UNSUPPORTED);
    cr_assert_str_eq(tn_error_last()->plugin, "low 1 (/low.so)");
    cr_assert_null(a->result, "what a failed kernel leaves is not seen");
    tn_retain(a->x);
    a->result = a->x;
    return TN_OK;
}

Test(replaced, one_that_fails, .init = begin)
{
    tn_kernel_decl k = kernel(F_SCHEMA, "CPU", fails, NULL, 0);
    cr_assert_eq(register_all(&low, &f_op, 1, &k, 1), TN_OK);
    add(&high, kernel(F_SCHEMA, "CPU", rescues, NULL, 1));
    cr_assert_eq(call_f(tn_op_find("rt::f")), TN_OK, "%s", tn_error_last()->message);
}

Test(replaced, fallbacks_and_other_keys, .init = begin)
{
    int counts[4] = {0};
    cr_assert_eq(register_all(&low, &f_op, 1, NULL, 0), TN_OK);
    add(&low, kernel("*", "CPU", count_call, &counts[0], 0));
    add(&high, kernel("*", "CPU", around, &counts[1], 1));
    add(&low, kernel(F_SCHEMA, "Tracer", tn__kernel_fall_through, &counts[2], 0));
    add(&high, kernel(F_SCHEMA, "Tracer", around, &counts[3], 1));
    const tn_op *op = tn_op_find("rt::f");
    cr_assert_eq(call_f(op), TN_OK, "%s", tn_error_last()->message);
    cr_assert(counts[0] == 1 && counts[1] == 1);
    tn_key_include("Tracer", true);
    cr_assert_eq(call_f(op), TN_OK, "%s", tn_error_last()->message);
    tn_key_include("Tracer", false);
    cr_assert(counts[0] == 2 && counts[1] == 2 && counts[3] == 1);
    tn__registry_remove(&low);
    cr_assert_neq(call_f(op), TN_OK);
}

Test(replaced, one_that_falls_through, .init = begin)
{
    int counts[2] = {0};
    tn_kernel_decl k[] = {f_kernel("CPU", &counts[0], 0), kernel(F_SCHEMA, "Tracer", NULL, NULL, 0),
                          kernel(F_SCHEMA, "Tracer", around, &counts[1], 1)};
    cr_assert_eq(register_all(&low, &f_op, 1, k, 3), TN_OK);
    tn_key_include("Tracer", true);
    cr_assert_eq(call_f(tn_op_find("rt::f")), TN_OK, "%s", tn_error_last()->message);
    tn_key_include("Tracer", false);
    cr_assert(counts[0] == 1 && counts[1] == 1);
}

/* ---- structured: results and iterator are there already ---------------------------------------- */
struct twice_args {
    tn_frame frame;
    tn_tensor *result, *self, *out;
};
static const tn_op_decl twice_op = {
    .schema = "rt::twice(Tensor self) -> Tensor",
    .inplace = "rt::twice_(Tensor(a!) self) -> Tensor(a!)",
    .out = "rt::twice.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    .pointwise = TN_POINTWISE};

static tn_status twice(tn_call *call, void *frame)
{
    struct twice_args *a = frame;
    cr_assert(call->iter && call->iter->operands[0] == a->result);
    *(float *)a->result->data = 2 * *(const float *)a->self->data;
    return TN_OK;
}

/* One more than the replaced kernel says, in the result that it was given. */
static tn_status one_more(tn_call *call, void *frame)
{
    struct twice_args *a = frame;
    tn_tensor *result = a->result;
    tn_iter *iter = call->iter;
    tn_status status = tn__api.call_replaced(call, frame);
    cr_assert(a->result == result && call->iter == iter);
    if (status == TN_OK)
        *(float *)a->result->data += 1;
    return status;
}

static float twice_of(const char *name, float x, bool out)
{
    const tn_op *op = tn_op_find(name);
    struct twice_args a = {.frame = {tn_op_frame_size(op), 0}};
    cr_assert_eq(tn_tensor_from_data(&x, TN_F32, 0, NULL, &a.self), TN_OK);
    if (out)
        a.out = test_tensor((tn_device){TN_CPU, 0});
    uint32_t before = tn_tensor_version(out ? a.out : a.self);
    cr_assert_eq(tn_op_call(op, &a), TN_OK, "%s: %s", name, tn_error_last()->message);
    float y = *(const float *)a.result->data;
    if (a.result == a.self || a.result == a.out)
        cr_assert_eq(tn_tensor_version(a.result), before + 1, "one call is one write");
    tn_release(a.result);
    tn_release(a.self);
    tn_release(a.out);
    return y;
}

Test(replaced, structured_in_every_form, .init = begin)
{
    tn_kernel_decl k = kernel(twice_op.schema, "CPU", twice, NULL, 0);
    cr_assert_eq(register_all(&low, &twice_op, 1, &k, 1), TN_OK, "%s", tn_error_last()->message);
    add(&mid, kernel(twice_op.schema, "CPU", one_more, NULL, 1));
    add(&high, kernel(twice_op.schema, "CPU", one_more, NULL, 2));
    cr_assert_eq(twice_of("rt::twice", 5, false), 12);
    cr_assert_eq(twice_of("rt::twice_", 5, false), 12);
    cr_assert_eq(twice_of("rt::twice.out", 5, true), 12);
    tn__registry_remove(&mid);
    cr_assert_eq(twice_of("rt::twice.out", 5, true), 11);
}

/* A kernel of one form alone stands before that form. */
Test(replaced, a_form_of_its_own, .init = begin)
{
    tn_kernel_decl k = kernel(twice_op.schema, "CPU", twice, NULL, 0);
    cr_assert_eq(register_all(&low, &twice_op, 1, &k, 1), TN_OK);
    tn_kernel_decl wrong = kernel(twice_op.inplace, "CPU", one_more, NULL, 1);
    tn_status status = register_all(&mid, NULL, 0, &wrong, 1);
    if (status == TN_OK)
        cr_assert_eq(twice_of("rt::twice", 5, false), 10);
    else
        HAS("rt::twice");
}

/* ---- writes, and ages --------------------------------------------------------------------------- */
struct put_args {
    tn_frame frame;
    tn_tensor *result, *self;
    double by;
};
#define PUT "rt::put_(Tensor(a!) self, float by=1.0) -> Tensor(a!)"
#define PUT_THEN "rt::put_(Tensor(a!) self) -> Tensor(a!)"

static tn_status put(tn_call *call, void *frame)
{
    struct put_args *a = frame;
    (void)call;
    *(float *)a->self->data += (float)a->by;
    tn_retain(a->self);
    a->result = a->self;
    return TN_OK;
}

static float put_into(float x)
{
    struct put_args a = {.frame = {sizeof a, 0}, .by = 1};
    cr_assert_eq(tn_tensor_from_data(&x, TN_F32, 0, NULL, &a.self), TN_OK);
    cr_assert_eq(tn_op_call(tn_op_find("rt::put_"), &a), TN_OK, "%s", tn_error_last()->message);
    cr_assert_eq(tn_tensor_version(a.self), 1, "one call is one write");
    float y = *(const float *)a.self->data;
    tn_release(a.result);
    tn_release(a.self);
    return y;
}

Test(replaced, a_plain_kernel_that_writes, .init = begin)
{
    static const tn_op_decl op = {.schema = PUT};
    int count = 0;
    tn_kernel_decl k = kernel(PUT, "CPU", put, NULL, 0);
    cr_assert_eq(register_all(&low, &op, 1, &k, 1), TN_OK, "%s", tn_error_last()->message);
    add(&high, kernel(PUT, "CPU", around, &count, 1));
    cr_assert_eq(put_into(3), 4);
    cr_assert_eq(count, 1);
}

/* One that was compiled when the operator had no `by`: it goes on to one that reads it. */
Test(replaced, from_an_older_schema_and_to_one, .init = begin)
{
    static const tn_op_decl op = {.schema = PUT};
    int counts[2] = {0};
    tn_kernel_decl k = kernel(PUT, "CPU", put, NULL, 0);
    cr_assert_eq(register_all(&low, &op, 1, &k, 1), TN_OK);
    add(&mid, kernel(PUT_THEN, "CPU", around, &counts[0], 1));
    cr_assert_eq(put_into(3), 4);
    add(&high, kernel(PUT_THEN, "CPU", around, &counts[1], 2));
    cr_assert_eq(put_into(3), 4);
    cr_assert(counts[0] == 2 && counts[1] == 1);
}

/* leaf.c - kernels that promised TN_KERNEL_LEAF: served as any other, and held to what they
 * promised. Also an operator that writes two tensors and returns them in the other order (case
 * BB-sch-04, its eager half). */
#include "registry_test.h"

static tn_status answer_x(tn_call *call, void *frame)
{
    struct f_args *a = frame;
    (void)call;
    tn_retain(a->x);
    a->result = a->x;
    return TN_OK;
}

static tn_status no_status(tn_call *call, void *frame)
{
    (void)call, (void)frame;
    return 77;
}

static tn_status fail_with_a_result(tn_call *call, void *frame)
{
    struct f_args *a = frame;
    a->result = a->x; /* not retained: it must not reach the caller */
    return tn__fail(call, TN_ERR_ARGUMENT, "x is refused");
}

static tn_status take_scratch(tn_call *call, void *frame)
{
    (void)frame;
    return tn__scratch(call, 64) ? TN_OK : TN_ERR_PLUGIN;
}

static const tn_op *leaf(tn__plugin *p, tn_kernel_fn fn)
{
    tn_op_decl op = {.schema = F_SCHEMA};
    tn_kernel_decl k = {.schema = F_SCHEMA,
                        .key = "CPU",
                        .fn = fn,
                        .frame_size = sizeof(struct f_args),
                        .flags = TN_KERNEL_LEAF};
    cr_assert_eq(register_all(p, &op, 1, &k, 1), TN_OK, "%s", tn_error_last()->message);
    return tn_op_find("rt::f");
}

Test(leaf, is_called_as_any_other)
{
    tn__plugin p = test_plugin("p");
    cr_assert_eq(call_f(leaf(&p, answer_x)), TN_OK, "%s", tn_error_last()->message);
    tn__registry_remove(&p);
}

Test(leaf, what_is_no_status_is_an_error)
{
    tn__plugin p = test_plugin("p");
    cr_assert_eq(call_f(leaf(&p, no_status)), TN_ERR_PLUGIN);
    cr_expect(strstr(tn_error_last()->message, "77"), "%s", tn_error_last()->message);
    tn__registry_remove(&p);
}

Test(leaf, a_failed_one_leaves_no_result)
{
    tn__plugin p = test_plugin("p");
    const tn_op *op = leaf(&p, fail_with_a_result);
    struct f_args a = {.frame = {sizeof a, 0}, .x = test_tensor((tn_device){TN_CPU, 0})};
    cr_assert_eq(tn_op_call_at(op, &a, "here.c", 12), TN_ERR_ARGUMENT);
    cr_expect_null(a.result);
    cr_expect_str_eq(tn_error_last()->op, "rt::f");
    cr_expect_str_eq(tn_error_last()->file, "here.c");
    tn_release(a.x);
    tn__registry_remove(&p);
}

Test(leaf, takes_no_scratch)
{
    tn__plugin p = test_plugin("p");
    cr_assert_eq(call_f(leaf(&p, take_scratch)), TN_ERR_PLUGIN);
    cr_expect(strstr(tn_error_last()->message, "scratch"), "%s", tn_error_last()->message);
    tn__registry_remove(&p);
}

/* ---- BB-sch-04 ------------------------------------------------------------------------------- */
struct swap_add_args {
    tn_frame frame;
    tn_tensor *result0, *result1, *x, *y, *z;
};

static tn_status swap_add(tn_call *call, void *frame)
{
    struct swap_add_args *a = frame;
    (void)call;
    *(float *)a->x->data += *(const float *)a->z->data;
    *(float *)a->y->data *= *(const float *)a->z->data;
    tn_retain(a->result0 = a->y);
    tn_retain(a->result1 = a->x);
    return TN_OK;
}

Test(leaf, BB_sch_04)
{
    static const char schema[] =
        "rt::swap_add_(Tensor(a!) x, Tensor(b!) y, Tensor z) -> (Tensor(b!), Tensor(a!))";
    tn__plugin p = test_plugin("p");
    tn_op_decl op = {.schema = schema};
    tn_kernel_decl k = {
        .schema = schema, .key = "CPU", .fn = swap_add, .frame_size = sizeof(struct swap_add_args)};
    cr_assert_eq(register_all(&p, &op, 1, &k, 1), TN_OK, "%s", tn_error_last()->message);
    struct swap_add_args a = {.frame = {sizeof a, 0}};
    const float one = 1, ten = 10, three = 3;
    tn_tensor_from_data(&one, TN_F32, 0, NULL, &a.x);
    tn_tensor_from_data(&ten, TN_F32, 0, NULL, &a.y);
    tn_tensor_from_data(&three, TN_F32, 0, NULL, &a.z);
    cr_assert_eq(tn_op_call(tn_op_find("rt::swap_add_"), &a), TN_OK, "%s",
                 tn_error_last()->message);
    cr_expect_eq(*(float *)a.x->data, 4);
    cr_expect_eq(*(float *)a.y->data, 30);
    cr_expect(tn_tensor_same_storage(a.result0, a.y));
    cr_expect(tn_tensor_same_storage(a.result1, a.x));
    tn_tensor *made[] = {a.result0, a.result1, a.x, a.y, a.z};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        tn_release(made[i]);
    tn__registry_remove(&p);
}

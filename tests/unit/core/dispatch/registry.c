/* The registry: a transaction appears whole or not at all, conflicts name both sides, and what a
 * plugin registered can be taken back and brought again. */
#include "registry_test.h"

#include "core/base/base.h"

TestSuite(registry, .timeout = 60);

static tn__plugin one, two;
static int calls_one, calls_two;

static const tn_op_decl f_op = {.schema = F_SCHEMA};

static void begin(void)
{
    one = test_plugin("one 1 (/one.so)");
    two = test_plugin("two 1 (/two.so)");
    tn__runtime_init();
}

static size_t operators(void)
{
    size_t n = 0;
    while (tn_op_at(n))
        n++;
    return n;
}

static void registers(tn__plugin *p, const tn_op_decl *ops, size_t n_ops,
                      const tn_kernel_decl *kernels, size_t n)
{
    cr_assert_eq(register_all(p, ops, n_ops, kernels, n), TN_OK, "%s", tn_error_last()->message);
}

static const char *server(const tn_op *op, const char *key)
{
    return tn_op_server(op, key, NULL);
}

enum { N_OPS = 5, N_KERNELS = 6 };

static void fill(tn_op_decl ops[N_OPS], tn_kernel_decl kernels[N_KERNELS])
{
    static const char *const schemas[N_OPS] = {
        "rt::a(Tensor x) -> Tensor", "rt::b(Tensor x) -> Tensor", "rt::c(Tensor x) -> Tensor",
        "rt::d(Tensor x) -> Tensor", "rt::e(Tensor x) -> Tensor"};
    static const char *const keys[N_KERNELS] = {
        "CPU", "Meta", "CompositeImplicitAutograd", "AutogradCPU", "Autograd", "CPU"};
    for (int i = 0; i < N_OPS; i++)
        ops[i] = (tn_op_decl){.schema = schemas[i]};
    for (int i = 0; i < N_KERNELS; i++) {
        kernels[i] = f_kernel(keys[i], &calls_two, 1);
        if (i < N_OPS)
            kernels[i].schema = schemas[i];
    }
}

Test(registry, a_failure_at_any_registration_leaves_nothing, .init = begin)
{
    tn_op_decl ops[N_OPS];
    tn_kernel_decl kernels[N_KERNELS], f_one = f_kernel("CPU", &calls_one, 0);
    registers(&one, &f_op, 1, &f_one, 1);
    size_t before = operators();
    for (int bad = 0; bad < N_OPS + N_KERNELS; bad++) {
        fill(ops, kernels);
        if (bad < N_OPS)
            ops[bad].schema = "rt::broken(Tensor x -> Tensor";
        else
            kernels[bad - N_OPS].key = "NoSuchKey";
        tn__memory_stats start, end;
        tn__memory_get(&start);
        cr_assert_neq(register_all(&two, ops, N_OPS, kernels, N_KERNELS), TN_OK, "%d", bad);
        HAS(bad < N_OPS ? "rt::broken" : "NoSuchKey");
        tn__memory_get(&end);
        cr_assert_eq(start.live_allocations, end.live_allocations, "%d leaks", bad);
        cr_assert_eq(operators(), before, "%d", bad);
        cr_assert_null(tn_op_find("rt::a"));
        cr_assert_str_eq(server(tn_op_find("rt::f"), "CPU"), one.name);
        size_t n_ops, n_kernels;
        tn__registry_counts(&two, &n_ops, &n_kernels);
        cr_assert_eq(n_ops + n_kernels, 0, "%d", bad);
    }
    fill(ops, kernels);
    registers(&two, ops, N_OPS, kernels, N_KERNELS);
    cr_assert_eq(operators(), before + N_OPS);
    cr_assert_str_eq(server(tn_op_find("rt::f"), "CPU"), two.name);
}

Test(registry, every_allocation_may_fail, .init = begin)
{
    tn_op_decl ops[N_OPS];
    tn_kernel_decl kernels[N_KERNELS], f_one = f_kernel("CPU", &calls_one, 0);
    registers(&one, &f_op, 1, &f_one, 1);
    size_t before = operators();
    fill(ops, kernels);
    int n = 1;
    for (;; n++) {
        tn__memory_stats start, end;
        tn__memory_get(&start);
        tn__alloc_fail_at(n);
        tn_status status = register_all(&two, ops, N_OPS, kernels, N_KERNELS);
        tn__alloc_fail_at(0);
        if (status == TN_OK)
            break;
        cr_assert_eq(status, TN_ERR_MEMORY, "%d: %s", n, tn_error_last()->message);
        tn__memory_get(&end);
        cr_assert_eq(start.live_allocations, end.live_allocations, "%d", n);
        cr_assert_eq(operators(), before);
    }
    cr_assert_gt(n, N_OPS + N_KERNELS);
    cr_assert_eq(operators(), before + N_OPS);
}

Test(registry, conflicts_name_both_plugins, .init = begin)
{
    tn_kernel_decl f_one = f_kernel("CPU", &calls_one, 0), f_two = f_kernel("CPU", &calls_two, 0);
    registers(&one, &f_op, 1, &f_one, 1);
    cr_assert_eq(register_all(&two, &f_op, 1, NULL, 0), TN_ERR_PLUGIN);
    HAS(one.text);
    HAS(two.text);
    cr_assert_eq(register_all(&two, NULL, 0, &f_two, 1), TN_ERR_PLUGIN);
    HAS(one.text);
    HAS(two.text);
    HAS("rank");
    const tn_kernel_decl twice[] = {f_kernel("Meta", &calls_two, 3),
                                    f_kernel("Meta", &calls_two, 3)};
    cr_assert_eq(register_all(&two, NULL, 0, twice, 2), TN_ERR_PLUGIN);
    HAS(two.text);
    const tn_op_decl again[] = {{.schema = "rt::g(Tensor x) -> Tensor"},
                                {.schema = "rt::g(Tensor y) -> Tensor"}};
    cr_assert_eq(register_all(&two, again, 2, NULL, 0), TN_ERR_PLUGIN);
    HAS("rt::g");
    cr_assert_null(tn_op_find("rt::g"));
}

Test(registry, the_highest_rank_serves_and_removal_restores, .init = begin)
{
    tn_kernel_decl f_one = f_kernel("CPU", &calls_one, 0), f_two = f_kernel("CPU", &calls_two, 5);
    registers(&one, &f_op, 1, &f_one, 1);
    registers(&two, NULL, 0, &f_two, 1);
    const tn_op *op = tn_op_find("rt::f");
    cr_assert_eq(call_f(op), TN_OK);
    cr_assert_eq(calls_two, 1);
    cr_assert(strstr(two.finding.reason, "replaces that of one"), "%s", two.finding.reason);
    tn__registry_remove(&two);
    cr_assert_eq(call_f(op), TN_OK);
    cr_assert_eq(calls_one, 1);
    f_two.rank = -1;
    registers(&two, NULL, 0, &f_two, 1);
    cr_assert_eq(call_f(op), TN_OK);
    cr_assert_eq(calls_one, 2);
    tn__registry_remove(&one);
    cr_assert_eq(call_f(op), TN_ERR_NO_KERNEL);
    registers(&one, &f_op, 1, NULL, 0); /* its operator is back, and two's kernel with it */
    cr_assert_eq(call_f(op), TN_OK);
    cr_assert_eq(calls_two, 2);
}

Test(registry, what_cannot_be_registered_says_why, .init = begin)
{
    tn_kernel_decl k = f_kernel("CPU", &calls_one, 0);
    cr_assert_eq(register_all(&one, NULL, 0, &k, 1), TN_ERR_PLUGIN);
    HAS("rt::f");
    HAS("no such operator");
    k.key = "Gpu";
    cr_assert_eq(register_all(&one, &f_op, 1, &k, 1), TN_ERR_PLUGIN);
    HAS("'Gpu'");
    k.key = NULL;
    cr_assert_eq(register_all(&one, &f_op, 1, &k, 1), TN_ERR_PLUGIN);
    k = f_kernel("CompositeImplicitAutograd", &calls_one, 0);
    k.fn = NULL;
    cr_assert_eq(register_all(&one, &f_op, 1, &k, 1), TN_ERR_PLUGIN);
    HAS("CompositeImplicitAutograd");
    k = f_kernel("CPU", &calls_one, 0);
    k.frame_size += 8;
    cr_assert_eq(register_all(&one, &f_op, 1, &k, 1), TN_ERR_PLUGIN);
    HAS("frame");
    k = f_kernel("Autograd", &calls_one, 0);
    k.schema = "*";
    cr_assert_eq(register_all(&one, &f_op, 1, &k, 1), TN_ERR_PLUGIN);
    HAS("alias");
    k.schema = NULL;
    cr_assert_eq(register_all(&one, &f_op, 1, &k, 1), TN_ERR_PLUGIN);
    cr_assert_eq(register_all(&one, &(tn_op_decl){.schema = NULL}, 1, NULL, 0), TN_ERR_PLUGIN);
    cr_assert_null(tn_op_find("rt::f"));
}

Test(registry, an_unloaded_operator_says_so_and_comes_back, .init = begin)
{
    tn_kernel_decl k = f_kernel("CPU", &calls_one, 0);
    registers(&one, &f_op, 1, &k, 1);
    const tn_op *old = tn_op_find("rt::f");
    tn__registry_remove(&one);
    cr_assert_eq(call_f(old), TN_ERR_NO_KERNEL);
    HAS("rt::f is not registered");
    cr_assert_str_eq(tn_error_last()->op, "rt::f");
    registers(&one, &f_op, 1, &k, 1);
    cr_assert_eq(tn_op_find("rt::f"), old);
    cr_assert_eq(call_f(old), TN_OK);
    tn__registry_remove(&one);
    const tn_op_decl other = {
        .schema = "rt::f(Tensor x, int n) -> Tensor"}; /* another operator of that name */
    registers(&two, &other, 1, NULL, 0);
    cr_assert_neq(tn_op_find("rt::f"), old);
    cr_assert_eq(call_f(old), TN_ERR_NO_KERNEL);
    HAS("not registered");
}

Test(registry, one_transaction_cannot_bring_back_an_operator_twice, .init = begin)
{
    registers(&one, &f_op, 1, NULL, 0);
    tn__registry_remove(&one);
    const tn_op_decl same[] = {f_op, f_op},
                     other[] = {f_op, {.schema = "rt::f(Tensor y) -> Tensor"}};
    cr_assert_eq(register_all(&two, same, 2, NULL, 0), TN_ERR_PLUGIN);
    HAS("already registered by two");
    cr_assert_eq(register_all(&two, other, 2, NULL, 0), TN_ERR_PLUGIN);
    cr_assert(!tn_op_find("rt::f")->defined);
    registers(&one, &f_op, 1, NULL, 0);
}

/* ---- fallbacks and fallthrough --------------------------------------------------------------- */
Test(registry, a_fallback_serves_what_has_no_kernel, .init = begin)
{
    tn_kernel_decl k = f_kernel("Meta", &calls_one, 0), all = f_kernel("CPU", &calls_two, 0);
    all.schema = "*";
    registers(&one, &f_op, 1, &k, 1);
    const tn_op *op = tn_op_find("rt::f");
    const char *how = NULL;
    cr_assert_eq(call_f(op), TN_ERR_NO_KERNEL);
    registers(&two, NULL, 0, &all, 1);
    cr_assert_str_eq(tn_op_server(op, "CPU", &how), two.name);
    cr_assert_str_eq(how, "fallback");
    cr_assert_eq(call_f(op), TN_OK);
    cr_assert_eq(calls_two, 1);
    k.key = "CPU";
    registers(&one, NULL, 0, &k, 1); /* a kernel of the operator's own goes before it */
    cr_assert_eq(call_f(op), TN_OK);
    cr_assert_eq(calls_one, 1);
    tn__registry_remove(&two);
    tn__registry_remove(&one);
    registers(&one, &f_op, 1, NULL, 0);
    cr_assert_eq(call_f(op), TN_ERR_NO_KERNEL);
}

Test(registry, falling_through_ends_in_an_error_not_in_a_loop, .init = begin)
{
    static const char *const keys[] = {"CPU", "Undefined", "Meta", "BackendSelect"};
    tn_kernel_decl kernels[4];
    for (int i = 0; i < 4; i++) {
        kernels[i] = f_kernel(keys[i], &calls_one, 0);
        kernels[i].fn = NULL;
    }
    registers(&one, &f_op, 1, kernels, 4);
    cr_assert_eq(call_f(tn_op_find("rt::f")), TN_ERR_NO_KERNEL);
    HAS("rt::f");
}

Test(registry, functionalities_are_passed_in_order, .init = begin)
{
    tn_kernel_decl kernels[] = {f_kernel("CPU", &calls_one, 0),
                                f_kernel("AutogradCPU", &calls_two, 0),
                                f_kernel("AutogradMeta", &calls_two, 0)};
    kernels[2].fn = NULL;
    registers(&one, &f_op, 1, kernels, 3);
    const tn_op *op = tn_op_find("rt::f");
    tn__keys_tls.include = TN__KEY(TN__BIT_AUTOGRAD);
    cr_assert_eq(call_f(op), TN_OK);
    cr_assert_eq(calls_two, 1);
    tn__keys_tls.exclude = TN__KEY(TN__BIT_AUTOGRAD);
    cr_assert_eq(call_f(op), TN_OK);
    cr_assert_eq(calls_one, 1);
    tn__keys_tls.exclude = 0;
    tn__registry_remove(&one);
    /* Falls through for the CPU, not for other backends: the bit stays, the call goes on. */
    kernels[1].fn = NULL;
    kernels[2].fn = count_call;
    registers(&one, &f_op, 1, kernels, 3);
    cr_assert_eq(call_f(op), TN_OK);
    cr_assert_eq(calls_one, 2);
    tn__keys_tls.include = 0;
}

/* ---- imports --------------------------------------------------------------------------------- */
static tn_status import_one(tn__plugin *p, const char *schema, const tn_op **handle)
{
    tn_registry r;
    tn__registry_begin(&r, p);
    tn__registry_imports(&r, &schema, handle, 1);
    return tn__registry_commit(&r);
}

Test(registry, imports_are_compared_with_what_is_there, .init = begin)
{
    static const char now[] = "rt::g(Tensor x, int n=3, *, bool fast=False) -> Tensor";
    static const char *const fit[] = {now, "rt::g(Tensor x) -> Tensor",
                                      "rt::g(Tensor x, int n) -> Tensor",
                                      "rt::g(Tensor x, int n=4) -> Tensor"};
    static const char *const wrong[] = {
        "rt::g(Tensor y) -> Tensor",
        "rt::g(Tensor x, float n=3.0) -> Tensor",
        "rt::g(Tensor x) -> (Tensor, Tensor)",
        "rt::g(Tensor(a!) x) -> Tensor(a!)",
        "rt::g() -> Tensor",
        "rt::g(Tensor x, *, bool fast=False) -> Tensor",
        "rt::g(Tensor x, int n, *, bool fast=False, int more=0) -> Tensor"};
    const tn_op_decl op = {.schema = now};
    const tn_op *handle = NULL;
    registers(&one, &op, 1, NULL, 0);
    for (size_t i = 0; i < sizeof fit / sizeof *fit; i++) {
        cr_assert_eq(import_one(&two, fit[i], &handle), TN_OK, "%s", tn_error_last()->message);
        cr_assert_eq(handle, tn_op_find("rt::g"));
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cr_assert_eq(import_one(&two, wrong[i], &handle), TN_ERR_PLUGIN, "%s", wrong[i]);
        HAS(wrong[i]);
        HAS(now);
    }
    cr_assert_eq(import_one(&two, "rt::g(Tensor x", &handle), TN_ERR_SCHEMA);
    cr_assert_eq(import_one(&two, "rt::nothing() -> Tensor", &handle), TN_ERR_PLUGIN);
    HAS("two");
    tn__registry_remove(&one);
    cr_assert_eq(import_one(&two, now, &handle), TN_ERR_PLUGIN);
    HAS("rt::g");
}

/* ---- structured operators that come back ----------------------------------------------------- */
static tn_status shape_of_x(tn_call *call, const void *frame, tn_result *r)
{
    const struct f_args *a = frame;
    (void)call;
    *r = (tn_result){.ndim = 0, .dtype = a->x->dtype, .device = a->x->device};
    return TN_OK;
}

static tn_status write_five(tn_call *call, void *frame)
{
    struct f_args *a = frame;
    (void)call;
    *(float *)a->result->data = 5;
    return TN_OK;
}

Test(registry, a_structured_operator_comes_back_in_all_its_forms, .init = begin)
{
    const tn_op_decl op = {.schema = "rt::s(Tensor self) -> Tensor",
                           .inplace = "rt::s_(Tensor(a!) self) -> Tensor(a!)",
                           .out = "rt::s.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
                           .shape = shape_of_x};
    const tn_kernel_decl k = {.schema = "rt::s(Tensor self) -> Tensor",
                              .key = "CPU",
                              .fn = write_five,
                              .frame_size = sizeof(struct f_args)};
    for (int round = 0; round < 3; round++) {
        registers(&one, &op, 1, &k, 1);
        cr_assert_eq(call_f(tn_op_find("rt::s")), TN_OK, "%s", tn_error_last()->message);
        cr_assert_eq(call_f(tn_op_find("rt::s_")), TN_OK);
        size_t n_ops, n_kernels;
        tn__registry_counts(&one, &n_ops, &n_kernels);
        cr_assert(n_ops == 3 && n_kernels == 3);
        tn__registry_remove(&one);
        cr_assert_eq(call_f(tn_op_find("rt::s_")), TN_ERR_NO_KERNEL);
        HAS("rt::s_ is not registered");
    }
}

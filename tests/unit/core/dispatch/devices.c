/* Device types that plugins bring: with a transaction, or not at all; names and keys that are
 * taken. */
#include "registry_test.h"

TestSuite(devices, .timeout = 60);

static tn__plugin one, two;
static int calls;

static void begin(void)
{
    one = test_plugin("one 1 (/one.so)");
    two = test_plugin("two 1 (/two.so)");
    tn__runtime_init();
}

static tn_status no_memory(tn_device device, size_t bytes, void **out)
{
    (void)device, (void)bytes, (void)out;
    return TN_ERR_UNSUPPORTED;
}

static void free_none(tn_device device, void *data, size_t bytes)
{
    (void)device, (void)data, (void)bytes;
}

static tn_status add_device(tn__plugin *p, const tn_device_decl *d, bool fail)
{
    tn_registry r;
    int16_t type = -1;
    tn__registry_begin(&r, p);
    tn__registry_device(&r, d, &type);
    tn_kernel_decl k = f_kernel("NoSuchKey", &calls, 0);
    if (fail)
        tn__registry_kernels(&r, &k, 1);
    return tn__registry_commit(&r);
}

Test(devices, a_device_type_of_a_failed_transaction_is_gone, .init = begin)
{
    char names[16][16], keys[16][16];
    tn_device device;
    for (int i = 0; i < 16; i++) { /* more than there are types */
        snprintf(names[i], sizeof names[i], "npu%d", i);
        snprintf(keys[i], sizeof keys[i], "NPU%d", i);
        tn_device_decl d = {
            .name = names[i], .key = keys[i], .alloc = no_memory, .free = free_none};
        cr_assert_eq(add_device(&one, &d, true), TN_ERR_PLUGIN);
        HAS("NoSuchKey");
        cr_assert_neq(tn__device_parse(names[i], &device), TN_OK);
        cr_assert_lt(tn__key_parse(keys[i]), 0);
    }
    static const tn_device_decl npu = {
        .name = "npu", .key = "NPU", .alloc = no_memory, .free = free_none};
    cr_assert_eq(add_device(&one, &npu, false), TN_OK, "%s", tn_error_last()->message);
    cr_assert_eq(tn__device_parse("npu:1", &device), TN_OK);
    cr_assert_eq(add_device(&two, &npu, false), TN_ERR_PLUGIN);
    tn__registry_remove(&one);
    cr_assert_eq(add_device(&one, &npu, true), TN_ERR_PLUGIN);
    cr_assert_eq(tn__device_parse("npu:1", &device), TN_OK,
                 "tensors of the type may be left: its name stays");
    cr_assert_eq(add_device(&two, &npu, false), TN_OK);
}

Test(devices, a_device_type_cannot_take_a_key_that_exists, .init = begin)
{
    static const char *const keys[] = {"CPU",       "Meta", "Autograd", "AutogradCPU",
                                       "Undefined", "",     NULL};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        tn_device_decl d = {.name = "xpu", .key = keys[i], .alloc = no_memory, .free = free_none};
        cr_assert_eq(add_device(&one, &d, false), TN_ERR_PLUGIN, "%s", keys[i] ? keys[i] : "NULL");
    }
    static const char *const names[] = {"cpu", "meta", "", "a:b", NULL};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tn_device_decl d = {.name = names[i], .key = "XPU", .alloc = no_memory, .free = free_none};
        cr_assert_eq(add_device(&one, &d, false), TN_ERR_PLUGIN);
    }
    tn_device device;
    cr_assert_neq(tn__device_parse("xpu", &device), TN_OK);
}

/* registry_test.h - plugins without a file: what the dispatcher's tests register, in transactions
 * of their own. */
#ifndef TN_TESTS_REGISTRY_TEST_H
#define TN_TESTS_REGISTRY_TEST_H

#include <criterion/criterion.h>
#include <string.h>

#include <tenon/op.h>
#include <tenon/tensor.h>

#include "core/dispatch/registry.h"
#include "core/plugin/plugin.h"

/* The frame of "rt::f(Tensor x) -> Tensor". */
struct f_args {
    tn_frame frame;
    tn_tensor *result, *x;
};
#define F_SCHEMA "rt::f(Tensor x) -> Tensor"

static inline tn__plugin test_plugin(const char *name)
{
    return (tn__plugin){.name = name, .version = "1", .text = (char *)name};
}

/* A kernel that answers x itself and counts its calls in *data. */
static inline tn_status count_call(tn_call *call, void *frame)
{
    struct f_args *a = frame;
    ++*(int *)(uintptr_t)call->data;
    tn_retain(a->x);
    a->result = a->x;
    return TN_OK;
}

static inline tn_kernel_decl f_kernel(const char *key, int *counter, int rank)
{
    return (tn_kernel_decl){.schema = F_SCHEMA,
                            .key = key,
                            .fn = count_call,
                            .data = counter,
                            .frame_size = sizeof(struct f_args),
                            .rank = rank};
}

static inline tn_status register_all(tn__plugin *p, const tn_op_decl *ops, size_t n_ops,
                                     const tn_kernel_decl *kernels, size_t n)
{
    tn_registry r;
    tn__runtime_init();
    tn__registry_begin(&r, p);
    tn__registry_ops(&r, ops, n_ops);
    tn__registry_kernels(&r, kernels, n);
    return tn__registry_commit(&r);
}

static inline tn_tensor *test_tensor(tn_device device)
{
    tn_tensor *t = NULL;
    cr_assert_eq(tn_tensor_new(0, NULL, TN_F32, device, &t), TN_OK, "%s", tn_error_last()->message);
    return t;
}

/* Calls an operator of F_SCHEMA's shape with a scalar tensor of that device type. */
static inline tn_status call_f_on(const tn_op *op, int type)
{
    struct f_args a = {.frame = {sizeof a, 0}};
    a.x = test_tensor((tn_device){(int16_t)type, 0});
    tn_status status = tn_op_call(op, &a);
    tn_release(a.result);
    tn_release(a.x);
    return status;
}

static inline tn_status call_f(const tn_op *op)
{
    return call_f_on(op, TN_CPU);
}

#define HAS(text)                                                                                  \
    cr_assert(strstr(tn_error_last()->message, text), "'%s' is not in: %s", text,                  \
              tn_error_last()->message)

#endif

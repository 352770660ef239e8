/* Lists of views. Their results are read through frames, as any generic caller does. */
#include "composite_test.h"

TestSuite(split, .init = composite_begin, .fini = composite_end, .timeout = 30);

/* Calls `name`, checks the list's sizes along dimension `dim` and drops it. */
static void expect_parts(const char *name, void *frame, const tn_tensors *list, int dim,
                         tn_ints parts)
{
    const tn_op *op = tn_op_find(name);
    cr_assert_eq(tn_op_call(op, frame), TN_OK, "%s", tn_error_last()->message);
    cr_assert_eq(list->len, parts.len, "expected %d parts, got %d", (int)parts.len, (int)list->len);
    for (int64_t i = 0; i < parts.len; i++)
        cr_assert_eq(list->data[i]->sizes[dim], parts.data[i]);
    tn_op_frame_release(op, frame);
}

static void expect_failure(const char *name, void *frame, tn_status status, const char *words)
{
    cr_assert_eq(tn_op_call(tn_op_find(name), frame), status, "%s", tn_error_last()->message);
    expect_error(NULL, status, words);
}

static void split(tn_tensor *self, int64_t size, tn_ints parts)
{
    struct tn_split_Tensor_args f = {TN_FRAME(split_Tensor), .self = self, .split_size = size,
                                     .dim = 0};
    expect_parts("split.Tensor", &f, &f.result, 0, parts);
}

Test(split, by_size)
{
    split(counting(TN_INTS(5, 2)), 2, TN_INTS(2, 2, 1));
    split(counting(TN_INTS(5, 2)), INT64_MAX, TN_INTS(5));
    split(counting(TN_INTS(0, 2)), 0, TN_INTS(0));
    split(counting(TN_INTS(0, 2)), 3, TN_INTS(0));
}

Test(split, by_size_refuses)
{
    tn_tensor *x = counting(TN_INTS(0, 2));
    struct tn_split_Tensor_args f = {TN_FRAME(split_Tensor), .self = x, .split_size = 1, .dim = 7};
    expect_failure("split.Tensor", &f, TN_ERR_INDEX, "dim 7 is out of range [-2, 1]");
    f.dim = 1;
    f.split_size = 0;
    expect_failure("split.Tensor", &f, TN_ERR_ARGUMENT, "split_size");
    f.split_size = -1;
    expect_failure("split.Tensor", &f, TN_ERR_ARGUMENT, "split_size");
    f.self = tn_scalar_tensor(1);
    expect_failure("split.Tensor", &f, TN_ERR_INDEX, "0 dimensions");
}

Test(split, with_sizes)
{
    struct tn_split_with_sizes_args f = {TN_FRAME(split_with_sizes),
                                         .self = counting(TN_INTS(2, 5)),
                                         .split_sizes = TN_INTS(3, 0, 2), .dim = -1};
    expect_parts("split_with_sizes", &f, &f.result, 1, TN_INTS(3, 0, 2));
    f.split_sizes = TN_INTS(3, 1);
    expect_failure("split_with_sizes", &f, TN_ERR_ARGUMENT, "[3, 1]");
    f.split_sizes = TN_INTS(6, -1);
    expect_failure("split_with_sizes", &f, TN_ERR_ARGUMENT, "negative");
    f.split_sizes = TN_INTS(INT64_MAX, INT64_MAX, 7);
    expect_failure("split_with_sizes", &f, TN_ERR_ARGUMENT, "add up to 5");
}

static void chunk(tn_tensor *self, int64_t chunks, tn_ints parts)
{
    struct tn_chunk_args f = {TN_FRAME(chunk), .self = self, .chunks = chunks, .dim = 0};
    expect_parts("chunk", &f, &f.result, 0, parts);
}

Test(split, in_chunks)
{
    chunk(counting(TN_INTS(7)), 3, TN_INTS(3, 3, 1));
    chunk(counting(TN_INTS(2)), INT64_MAX, TN_INTS(1, 1));
    chunk(counting(TN_INTS(0)), 2, TN_INTS(0, 0));
    struct tn_chunk_args f = {TN_FRAME(chunk), .self = counting(TN_INTS(2)), .chunks = 0, .dim = 0};
    expect_failure("chunk", &f, TN_ERR_ARGUMENT, "chunks");
    f.self = counting(TN_INTS(0));
    f.chunks = INT64_MAX;
    expect_failure("chunk", &f, TN_ERR_OVERFLOW, "overflow");
}

Test(split, unbind)
{
    struct tn_unbind_int_args f = {TN_FRAME(unbind_int), .self = counting(TN_INTS(2, 3)), .dim = 1};
    const tn_op *op = tn_op_find("unbind.int");
    cr_assert_eq(tn_op_call(op, &f), TN_OK);
    cr_assert_eq(f.result.len, 3);
    expect_elements(f.result.data[2], TN_INTS(2), LIST(2, 5));
    tn_op_frame_release(op, &f);
    f.self = tn_scalar_tensor(1);
    f.dim = 0;
    expect_failure("unbind.int", &f, TN_ERR_INDEX, "0 dimensions");
}

/* A view of 2^61 + 1 elements costs nothing; a list of as many is refused, not cut to what 64 bits
 * hold. */
Test(split, a_list_too_long_is_an_error)
{
    tn_tensor *wide = tn_expand(counting(TN_INTS(1)), TN_INTS((INT64_C(1) << 61) + 1));
    struct tn_unbind_int_args f = {TN_FRAME(unbind_int), .self = wide, .dim = 0};
    expect_failure("unbind.int", &f, TN_ERR_MEMORY, "memory");
}

Test(split, broadcast_tensors)
{
    struct tn_broadcast_tensors_args f = {
        TN_FRAME(broadcast_tensors),
        .tensors = TN_TENSORS(counting(TN_INTS(3, 1)), counting(TN_INTS(2)), tn_scalar_tensor(1))};
    expect_parts("broadcast_tensors", &f, &f.result, 1, TN_INTS(2, 2, 2));
    f.tensors = TN_TENSORS(counting(TN_INTS(5, 4)), counting(TN_INTS(5)));
    expect_failure("broadcast_tensors", &f, TN_ERR_ARGUMENT, "[5, 4]");
    f.tensors = TN_TENSORS(NULL);
    expect_failure("broadcast_tensors", &f, TN_ERR_ARGUMENT, "tensors[0] is missing");
    f.tensors = (tn_tensors){NULL, 0};
    expect_parts("broadcast_tensors", &f, &f.result, 0, (tn_ints){NULL, 0});
}

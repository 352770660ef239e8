/* wide.c - two ways to f32. Where every operand is of the computation's own half dtype, the
 * iterator converts it to f32 instead. Where one is not, it must become that half dtype first (a
 * bf16 remainder of an f16 number is computed from the number rounded to bf16): the iterator does
 * that, and the loop below widens what it is given. */
#include "wide.h"

enum { BLOCK = 256 };

typedef struct widened {
    tn_loop_fn loop;
    const void *params;
    tn_dtype dtype; /* of what is given */
    int32_t n_operands;
} widened;

static void widen(char *const *data, const int64_t *strides, int64_t n, const void *params)
{
    const widened *w = params;
    float blocks[TN_MAX_OPERANDS][BLOCK];
    char *lanes[TN_MAX_OPERANDS];
    int64_t steps[TN_MAX_OPERANDS];
    for (int k = 0; k < w->n_operands; k++) {
        lanes[k] = (char *)blocks[k];
        steps[k] = sizeof(float);
    }
    for (int64_t begin = 0; begin < n; begin += BLOCK) {
        int64_t count = n - begin < BLOCK ? n - begin : BLOCK;
        for (int k = 1; k < w->n_operands; k++)
            tn->convert(NULL, lanes[k], TN_F32, steps[k], data[k] + begin * strides[k], w->dtype,
                        strides[k], count);
        w->loop(lanes, steps, count, w->params);
        tn->convert(NULL, data[0] + begin * strides[0], w->dtype, strides[0], lanes[0], TN_F32,
                    steps[0], count);
    }
}

static bool all_of_dtype(const tn_iter *it)
{
    for (int k = it->n_out; k < it->n_operands; k++)
        if (it->dtypes[k] != it->dtype)
            return false;
    return true;
}

tn_status cpu_iter_run_wide(tn_call *call, tn_iter *it, const tn_loop_fn *loops, const void *params)
{
    tn_loop_fn loop = loops[cpu_wide(it->dtype)];
    if (!loop)
        return tn->fail(call, TN_ERR_UNSUPPORTED, "not defined for %s", tn->dtype_name(it->dtype));
    if (cpu_wide(it->dtype) == it->dtype)
        return tn->iter_run(call, it, loop, params);
    if (!all_of_dtype(it)) {
        const widened w = {loop, params, it->dtype, it->n_operands};
        return tn->iter_run(call, it, widen, &w);
    }
    it->dtype = TN_F32;
    it->out_dtype = TN_F32;
    it->cast = (1 << it->n_operands) - 1;
    return tn->iter_run(call, it, loop, params);
}

/* blocks.c - see blocks.h. What is row-major is computed where it lies, as many blocks as there are;
 * the rest, block by block, through buffers on the stack. */
#include "blocks.h"

#include <stdbool.h>
#include <string.h>

#include "vector_math.h"

enum { INPUTS = 3, WIDEST = 8 }; /* bytes of a double */

static void copy_element(char *to, const char *from, size_t size)
{
    if (size == 4)
        memcpy(to, from, 4);
    else if (size == 8)
        memcpy(to, from, 8);
    else
        memcpy(to, from, size);
}

/* The first fills what is missing: a value that the caller has computed anyway raises nothing new. */
static void gather(char *block, const char *from, int64_t stride, size_t size, int64_t n)
{
    for (int64_t i = 0; i < CPU_LANES; i++)
        copy_element(block + i * size, from + (i < n ? i : 0) * stride, size);
}

static void scatter(char *to, int64_t stride, const char *block, size_t size, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        copy_element(to + i * stride, block + i * size, size);
}

static bool is_row_major(const int64_t *strides, int inputs, size_t out_size, size_t size)
{
    bool alike = strides[0] == (int64_t)out_size;
    for (int k = 1; k <= inputs; k++)
        alike &= strides[k] == (int64_t)size;
    return alike;
}

void cpu_in_blocks(cpu_block_fn *fn, int inputs, size_t out_size, size_t size, char *const *data,
                   const int64_t *strides, int64_t n, const tn_number *numbers)
{
    _Alignas(64) char buffers[1 + INPUTS][CPU_LANES * WIDEST];
    char *const block[] = {buffers[0], buffers[1], buffers[2], buffers[3]};
    int64_t done = 0;
    if (is_row_major(strides, inputs, out_size, size)) {
        char *at[1 + INPUTS];
        for (; done + CPU_LANES <= n; done += CPU_LANES) {
            for (int k = 0; k <= inputs; k++)
                at[k] = data[k] + done * strides[k];
            fn(at, numbers);
        }
    }
    for (; done < n; done += CPU_LANES) {
        const int64_t part = n - done < CPU_LANES ? n - done : CPU_LANES;
        for (int k = 1; k <= inputs; k++)
            if (strides[k] != 0 || done == 0)
                gather(block[k], data[k] + done * strides[k], strides[k], size, part);
        fn(block, numbers);
        scatter(data[0] + done * strides[0], strides[0], block[0], out_size, part);
    }
}

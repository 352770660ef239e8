/* tables.c - see tables.h. */
#include "tables.h"

#include <string.h>

tn_tensor *work_table(work *w, tn_dtype dtype, tn_ints sizes, const void *data, tn_device device)
{
    const tn_device host = {TN_CPU, 0};
    tn_tensor *table = NULL;
    if (w->status == TN_OK)
        w->status = tn->tensor_new(w->call, sizes.len, sizes.data, dtype, host, &table);
    if (!work_hold(w, table))
        return NULL;
    if (table->numel)
        memcpy(table->data, data, (size_t)table->numel * tn->dtype_size(dtype));
    if (device.type == TN_CPU)
        return table;
    struct tn__to_copy_args f = {TN_FRAME(_to_copy),
                                 .self = table,
                                 .dtype = TN_DTYPE_NONE,
                                 .layout = TN_LAYOUT_NONE,
                                 .device = device,
                                 .pin_memory = -1,
                                 .memory_format = TN_FORMAT_NONE};
    return work_call(w, OP__TO_COPY, &f, &f.result);
}

tn_tensor *work_picked(work *w, tn_tensor *self, int64_t dim, const int64_t *numbers, int64_t n)
{
    if (!self)
        return NULL;
    tn_tensor *table = work_table(w, TN_I64, (tn_ints){&n, 1}, numbers, self->device);
    return work_index_select(w, self, dim, table);
}

/* tables.h - small tensors whose elements a shape decides: which elements go into a window, or stand in
 * a border. They are written on the host and copied to where they are used. */
#ifndef COMPOSITE_TABLES_H
#define COMPOSITE_TABLES_H

#include "work.h"

/* A copy of the elements at `data`, row-major. NULL after a failure. */
tn_tensor *work_table(work *w, tn_dtype dtype, tn_ints sizes, const void *data, tn_device device);
/* Elements of dimension `dim` by number, n of them. */
tn_tensor *work_picked(work *w, tn_tensor *self, int64_t dim, const int64_t *numbers, int64_t n);

#endif

#include "rows_impl.h"
const oi_rows oi_rows_index = {NULL, 0};

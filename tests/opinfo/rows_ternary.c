#include "rows_impl.h"
const oi_rows oi_rows_ternary = {NULL, 0};

/* rows_impl.h - short words for the tables of rows. */
#ifndef TENON_OPINFO_ROWS_IMPL_H
#define TENON_OPINFO_ROWS_IMPL_H

#include "opinfo.h"

#define BOOL TN_DTYPE_BIT(TN_BOOL)
#define INT TN_DTYPES_INTEGRAL
#define FLOAT TN_DTYPES_FLOATING
#define COMPLEX TN_DTYPES_COMPLEX
#define REAL (BOOL | INT | FLOAT)
#define ALL TN_DTYPES_ALL
#define ROWS(list) {list, sizeof list / sizeof *list}

#endif

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
#define ROWS(list)                                                                                 \
    {                                                                                              \
        list, sizeof list / sizeof *list                                                           \
    }

/* CMPLXL, which clang's libc headers lack: exact parts, infinities and all. */
static inline _Complex long double oi_complex_of(oi_real re, oi_real im)
{
    union {
        oi_real parts[2];
        _Complex long double z;
    } u = {{re, im}};
    return u.z;
}

/* view_samples.c, for the rows of rows_view.c */
void oi_view_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed);
void oi_narrow_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed);
void oi_broadcast_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed);
void oi_view_dtype_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed);

#endif

/* generic.h - rows made from a plugin's schema, for operators that nobody wrote a row for. */
#ifndef TENON_OPINFO_GENERIC_H
#define TENON_OPINFO_GENERIC_H

#include "opinfo.h"

/* A row for the operator, or NULL when its arguments cannot be made up (then it is NOT-RUN). yaml:
 * the plugin's schema file, or NULL; with it a `pointwise` operator is checked against an
 * evaluation of its expression. */
const oi_row *oi_generic_row(const tn_op *op, const char *yaml);
/* An in-place or out= form of another operator. */
bool oi_generic_is_form(const tn_op *op);

#endif

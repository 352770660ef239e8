/* defaults.h - default values of arguments in C. `at` is where the value lies, in a frame of
 * defaults. */
#ifndef TN_CODEGEN_DEFAULTS_H
#define TN_CODEGEN_DEFAULTS_H

#include <stdio.h>

#include "layout.h"

/* An initialiser in an expression call, where the user may write an option behind it that replaces
 * no more than the first member: a Scalar's default is real, therefore (ops.c). */
void cg_default_initialise(FILE *to, const tn_field *f, const void *at);

/* An initialiser in a frame that is filled by hand: exactly the value. */
void cg_default_in_frame(FILE *to, const tn_field *f, const void *at);

/* An argument of a call. NULL: no memory. */
const char *cg_default_argument(tn__arena *a, const tn_field *f, const void *at);

#endif

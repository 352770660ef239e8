/* border.h - abi/border.yaml in; tenon/border.h and its page out. */
#ifndef TN_CODEGEN_BORDER_H
#define TN_CODEGEN_BORDER_H

#include "emit.h"

/* Makes include/tenon/border.h and docs/border.md below out->outdir from the description in the
 * file of that name. Every error of the description is reported to d; with one, nothing is written.
 */
bool cg_border(cg_diag *d, cg_out *out, const char *description);

#endif

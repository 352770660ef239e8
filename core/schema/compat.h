/* compat.h - may a schema change like this? Two schemas in; verdicts and reasons in words out.
 *
 * Backward (bc): what was written against OLD - C and Python calls, positional or by keyword, and
 * stored programs - runs with NEW. Forward (fc): what is written against NEW, but leaves new
 * defaulted arguments alone, runs with OLD. Two sets of rules: PyTorch's, holes included, and ours,
 * which say no wherever PyTorch's do and where they should (docs/schema-compat.md lists each
 * difference). */
#ifndef TN_CORE_SCHEMA_COMPAT_H
#define TN_CORE_SCHEMA_COMPAT_H

#include "schema.h"

typedef enum tn__compat_rules {
    TN__COMPAT_TENON,
    TN__COMPAT_PYTORCH,
} tn__compat_rules;

typedef enum tn__verdict {
    TN__VERDICT_NO,
    TN__VERDICT_YES,
    TN__VERDICT_ERROR, /* only by PyTorch's rules: its own check crashes on this pair */
} tn__verdict;

typedef struct tn__compat_side {
    tn__verdict verdict;
    char argument[64]; /* the argument or return it is about; "" when it is the operator as a whole
                        */
    char reason[400];  /* one sentence without a final stop; "" for yes */
} tn__compat_side;

typedef struct tn__compat {
    tn__compat_side bc, fc;
    tn__compat_side
        frame; /* does the call frame only grow at its end? A note: a kernel or a C caller that was
                  compiled against OLD must be rebuilt when it does not. By our rules only. */
} tn__compat;

void tn__schema_compat(const tn__schema *old, const tn__schema *now, tn__compat_rules rules,
                       tn__compat *out);
const char *tn__verdict_name(tn__verdict v); /* "yes", "no", "error" */

#endif

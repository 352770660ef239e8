/* layout.h - from a schema to its call frame: the type, offset and size of every field.
 *
 * The generator writes `struct tn_NAME_args` from this and asserts every offset; the registry
 * computes the same at run time for an operator that a plugin defines. So there is one rule: a
 * tn_frame header, the results, the arguments in schema order, each at its natural alignment. */
#ifndef TN_CORE_SCHEMA_LAYOUT_H
#define TN_CORE_SCHEMA_LAYOUT_H

#include <tenon/op.h>

#include "core/schema/schema.h"

typedef struct tn__layout {
    const tn__schema *schema;
    int n_results, n_args;
    tn_field *fields; /* results, then arguments */
    uint32_t size;    /* of the whole frame */
    const unsigned char
        *defaults; /* a frame with the absent value or the default in every argument */
    bool callable; /* false: some field is TN_FIELD_UNSUPPORTED */
} tn__layout;

/* NULL when memory ran out. Lives in the arena. */
const tn__layout *tn__layout_new(tn__arena *a, const tn__schema *s);
/* The C type of a field in a frame: "tn_tensor *", "tn_opt_int". */
const char *tn__field_c_type(tn_field_kind kind);

#endif

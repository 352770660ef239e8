/* provenance.h - who is in a call: what the error record says of an operator and its plugin. Implemented by
 * the dispatcher, so that the record itself depends on nothing above it. */
#ifndef TN_CORE_PROVENANCE_H
#define TN_CORE_PROVENANCE_H

#include <tenon/border.h>

const char *tn__call_op_name(const tn_call *call);
const char *tn__call_plugin_text(const tn_call *call); /* "" when the core itself serves the call */

#endif

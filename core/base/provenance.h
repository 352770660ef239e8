/* provenance.h - who is in a call: what messages say of an operator and its plugin. Implemented
 * above, by the dispatcher and the plugin loader, so that the record itself depends on nothing. */
#ifndef TN_CORE_PROVENANCE_H
#define TN_CORE_PROVENANCE_H

#include <tenon/border.h>

typedef struct tn__plugin tn__plugin; /* core/plugin/plugin.h has what is in it */

const char *tn__call_op_name(const tn_call *call);
const char *tn__call_plugin_text(const tn_call *call); /* "" when the core itself serves the call */

/* "cpu"; "the core" for NULL. */
const char *tn__plugin_name(const tn__plugin *p);
/* "cpu 1.0.0 (/usr/lib/tenon/plugins/cpu.so)"; "the core" for NULL. */
const char *tn__plugin_text(const tn__plugin *p);
/* Its headers may have flags and dtypes that this core does not know: it ignores them. */
bool tn__plugin_is_newer(const tn__plugin *p);
/* Something about a plugin that is no error, shown by tn_plugin_report and `tenon doctor`: that it
 * replaced another plugin's kernel, and whose. For use inside its registration; remarks that do not
 * fit are dropped. */
void tn__plugin_remark(tn__plugin *p, const char *fmt, ...) TN_PRINTF(2, 3);

#endif

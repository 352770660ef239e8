#include "generic.h"
const oi_row *oi_generic_row(const tn_op *op, const char *yaml) { (void)op, (void)yaml; return NULL; }
bool oi_generic_is_form(const tn_op *op) { (void)op; return false; }

/* scope.h - how expression calls hand over their results. */
#ifndef TN_CORE_SCOPE_H
#define TN_CORE_SCOPE_H

#include <tenon/border.h>

/* Gives t to the innermost scope and passes it through; NULL, with the error kept, when memory ran
 * out. */
tn_tensor *tn__scope_add(tn_tensor *t);

#endif

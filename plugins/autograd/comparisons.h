/* comparisons.h - the derivatives that derivatives.yaml cannot say; autograd.c registers them. */
#ifndef AUTOGRAD_COMPARISONS_H
#define AUTOGRAD_COMPARISONS_H

#include <tenon/plugin.h>

tn_status autograd_register_comparisons(tn_registry *r);

#endif

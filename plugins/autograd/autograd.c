/* autograd.c - the autograd plugin: registers the gradients of Tenon's operators.
 *
 * derivatives.yaml holds the mathematics; the generator makes derivatives.c of it, whose functions
 * call operators and the helpers of this folder. A third party's gradients come in the same way:
 * nothing here knows more of the core than the installed headers say. */
#include "comparisons.h"
#include "derivatives.h"

static tn_status start(tn_registry *r)
{
    TN_TRY(autograd_register(r));
    return autograd_register_comparisons(r);
}

TN_PLUGIN("autograd", "0.1.0", start, NULL);

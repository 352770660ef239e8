/* frozen.c - what of the border cannot grow, though its description would let it: structs that a
 * plugin allocates itself, or walks as arrays, with the size that its compiler knew. docs/abi.md says
 * what else has a length. Nothing here runs. */
#include <tenon/plugin.h>

#define FROZEN(type, size)                                                                         \
    TN_STATIC_ASSERT(sizeof(type) == (size),                                                       \
                     #type " is allocated or walked by plugins: describe another struct")

/* values in frames, and lists of them */
FROZEN(tn_frame, 8);
FROZEN(tn_scalar, 24);
FROZEN(tn_opt_int, 16);
FROZEN(tn_opt_float, 16);
FROZEN(tn_ints, 16);
FROZEN(tn_floats, 16);
FROZEN(tn_bools, 16);
FROZEN(tn_scalars, 16);
FROZEN(tn_tensors, 16);
/* what a kernel makes on its stack, what a shape rule fills, what boxed layers walk */
FROZEN(tn_iter, 4776);
FROZEN(tn_result, 1048);
FROZEN(tn_field, 32);
/* what a derivative's declaration points to; a function's, which comes without a registry */
FROZEN(tn_derivative_field, 24);
FROZEN(tn_function_decl, 32);
/* what every kernel reads */
FROZEN(tn_tensor, 48);

/* Elements of these arrays stand as far apart as in the revision that the plugin targets. Today there
 * is one. Whoever adds the next one and lets one of them grow: stage.c and derivative.c walk them. */
TN_STATIC_ASSERT(TN_BORDER_REVISION == 1,
                 "arrays of declarations are walked by the plugin's revision: see above");
FROZEN(tn_op_decl, 48);
FROZEN(tn_kernel_decl, 64);
FROZEN(tn_derivative_decl, 56);

m4_dnl derivative_facts.m4 - included first by what writes derivatives: every fact of theirs as nothing.
m4_dnl
m4_dnl cg_calls: an operator that derivatives call is cg_op(frame's name, C name, schema, own or built_in, 0, number, results,
m4_dnl bytes), its fields, cg_op_end. cg_n_calls counts them, cg_n_derivatives the others; cg_prefix begins generated names.
m4_dnl
m4_dnl cg_helpers: cg_helper(name, C type of its result) cg_helper_arg(name, C type) cg_helper_end(name, results)
m4_dnl   cg_extra(plus minus times conj or number, C name, C name): what formulas need besides, and what that calls
m4_dnl
m4_dnl cg_derivatives: cg_derivative(id, name, derived or written, backward or empty, forward or empty)
m4_dnl     cg_rule(whose, formula, the same as lines of a comment, gradient or tangent) .. cg_rules_end(id)
m4_dnl     cg_backward(id, args when the frame is used, grad when the first gradient is) .. cg_backward_end(id)
m4_dnl       cg_gradient(bit of the argument, tensor or list, C, declarations of its variables)
m4_dnl       cg_several(results, C, declarations) cg_several_wants(bit, entry) .. cg_several_end()
m4_dnl       cg_missing(bit, why)
m4_dnl     cg_forward(id, args) cg_tangent(result, C, declarations) .. cg_forward_end(id)
m4_dnl     cg_saved(field, flags, value_for, shape_for) ..
m4_dnl   cg_derivative_end(id, node, TN_FORWARD bits)
m4_define(@{cg_no_calls@}, @{m4_define(@{cg_op@}, @{@})m4_define(@{cg_result@}, @{@})m4_define(@{cg_arg@}, @{@})m4_dnl
m4_define(@{cg_op_end@}, @{@})@})m4_dnl
m4_define(@{cg_no_helpers@}, @{m4_define(@{cg_helper@}, @{@})m4_define(@{cg_helper_arg@}, @{@})m4_dnl
m4_define(@{cg_helper_end@}, @{@})m4_define(@{cg_extra@}, @{@})@})m4_dnl
m4_define(@{cg_no_derivatives@}, @{m4_define(@{cg_derivative@}, @{@})m4_define(@{cg_rule@}, @{@})m4_dnl
m4_define(@{cg_rules_end@}, @{@})m4_define(@{cg_backward@}, @{@})m4_define(@{cg_gradient@}, @{@})m4_define(@{cg_missing@}, @{@})m4_dnl
m4_define(@{cg_several@}, @{@})m4_define(@{cg_several_wants@}, @{@})m4_define(@{cg_several_end@}, @{@})m4_dnl
m4_define(@{cg_backward_end@}, @{@})m4_define(@{cg_forward@}, @{@})m4_define(@{cg_tangent@}, @{@})m4_dnl
m4_define(@{cg_forward_end@}, @{@})m4_define(@{cg_saved@}, @{@})m4_define(@{cg_derivative_end@}, @{@})@})m4_dnl

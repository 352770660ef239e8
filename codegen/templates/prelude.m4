m4_divert(-1)
# prelude.m4 - read before the facts and every template: makes m4 safe for C text.
#
# Quotes are @{ and @}, comments are off (C's # and everything else passes through), and everything
# before the template's own m4_divert(0) is discarded. Macros of ours begin with cg_, m4's with m4_.
m4_changequote(`@{', `@}')
m4_changecom()

# Every fact defined as nothing: a template expands cg_none and then defines those that it wants.
m4_define(@{cg_none@}, @{m4_define(@{cg_op@}, @{@})m4_dnl
m4_define(@{cg_result@}, @{@})m4_dnl
m4_define(@{cg_arg@}, @{@})m4_dnl
m4_define(@{cg_op_end@}, @{@})m4_dnl
m4_define(@{cg_shape@}, @{@})m4_dnl
m4_define(@{cg_decl@}, @{@})m4_dnl
m4_define(@{cg_pointwise@}, @{@})m4_dnl
m4_define(@{cg_input@}, @{@})m4_dnl
m4_define(@{cg_number@}, @{@})m4_dnl
m4_define(@{cg_loop@}, @{@})m4_dnl
m4_define(@{cg_pointwise_end@}, @{@})m4_dnl
m4_define(@{cg_page@}, @{@})m4_dnl
m4_define(@{cg_page_end@}, @{@})m4_dnl
@})

# m4_append(name, text): adds text to what a macro expands to; one that is not defined is empty.
m4_define(@{m4_append@}, @{m4_define(@{$1@}, m4_defn(@{$1@})@{$2@})@})

# m4_list(name, text, separator): adds an item to a list that a macro expands to.
m4_define(@{m4_list@}, @{m4_ifelse(m4_defn(@{$1@}), @{@}, @{m4_define(@{$1@}, @{$2@})@}, @{m4_append(@{$1@}, @{$3$2@})@})@})

# m4_upper(text): in capitals.
m4_define(@{m4_upper@}, @{m4_translit(@{$1@}, @{a-z@}, @{A-Z@})@})

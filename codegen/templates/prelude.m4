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

# m4_append(name, text): adds text to what a macro expands to.
m4_define(@{m4_append@}, @{m4_define(@{$1@}, m4_ifdef(@{$1@}, @{m4_defn(@{$1@})@})@{$2@})@})

# m4_list(name, text, separator): adds an item to a list that a macro expands to.
m4_define(@{m4_list@}, @{m4_ifelse(m4_defn(@{$1@}), @{@}, @{m4_define(@{$1@}, @{$2@})@}, @{m4_append(@{$1@}, @{$3$2@})@})@})

# m4_upper(text): in capitals.
m4_define(@{m4_upper@}, @{m4_translit(@{$1@}, @{a-z@}, @{A-Z@})@})

# A list that breaks before m4_fill_width: m4_fill_begin(head), m4_fill(item) as often as there are items,
# m4_fill_end(tail); then m4_filled is head item, item, .. tail. m4_fill_break is what a line breaks with.
m4_define(@{m4_fill_width@}, 100)
m4_define(@{m4_fill_break@}, @{
    @})
m4_define(@{m4_fill_begin@}, @{m4_define(@{m4_filled@}, @{$1@})m4_define(@{m4_fill_at@}, m4_len(@{$1@}))m4_dnl
m4_define(@{m4_fill_last@}, @{@})m4_define(@{m4_fill_gap@}, @{@})@})
m4_define(@{m4_fill_put@}, @{m4_ifelse(m4_eval(m4_fill_at + m4_len(@{$1@}) + 1 > m4_fill_width), 1,
@{m4_append(@{m4_filled@}, m4_defn(@{m4_fill_break@})@{$1@})m4_define(@{m4_fill_at@}, m4_eval(m4_len(@{$1@}) + 4))@},
@{m4_append(@{m4_filled@}, m4_defn(@{m4_fill_gap@})@{$1@})m4_define(@{m4_fill_at@}, m4_eval(m4_fill_at + m4_len(@{$1@}) + 1))@})m4_dnl
m4_define(@{m4_fill_gap@}, @{ @})@})
m4_define(@{m4_fill@}, @{m4_ifelse(m4_defn(@{m4_fill_last@}), @{@}, @{@}, @{m4_fill_put(m4_defn(@{m4_fill_last@})@{,@})@})m4_dnl
m4_define(@{m4_fill_last@}, @{$1@})@})
m4_define(@{m4_fill_end@}, @{m4_ifelse(m4_defn(@{m4_fill_last@}), @{@}, @{m4_append(@{m4_filled@}, @{$1@})@}, @{m4_fill_put(m4_defn(@{m4_fill_last@})@{$1@})@})@})

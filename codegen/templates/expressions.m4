m4_dnl expressions.m4 - the expression macros, of Tenon's own operators and of a plugin's: required arguments by place, the rest
m4_dnl by name; then the plain word, alone or for the operator and its twin. Whoever includes it defines cg_ns, what their
m4_dnl names begin with, cg_enter(schema), expanded before each operator, and cg_begin(id), which begins a frame's initialiser.
#ifndef __cplusplus
#if defined(__clang__)
#pragma clang diagnostic ignored "-Winitializer-overrides"
#pragma clang diagnostic ignored "-Wmissing-braces"
#pragma clang diagnostic ignored "-Wmissing-field-initializers"
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#elif defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverride-init"
#pragma GCC diagnostic ignored "-Woverride-init-side-effects"
#pragma GCC diagnostic ignored "-Wmissing-braces"
#endif
cg_none()m4_dnl
m4_define(@{cg_op@}, @{cg_enter(@{$3@})m4_define(@{cg_single@}, $11)m4_define(@{cg_name@}, @{$2@})m4_define(@{cg_twin@}, @{$9@})m4_dnl
m4_define(@{cg_params@}, @{@})m4_define(@{cg_given@}, @{@})m4_define(@{cg_defaults@}, @{@})m4_define(@{cg_rest@}, @{@})m4_dnl
m4_define(@{cg_va@}, @{@})m4_ifelse(@{$9@}, @{@}, @{@}, @{m4_define(@{cg_twin_arg@}, @{$10@})m4_define(@{cg_twin_kind@}, @{@})m4_dnl
m4_define(@{cg_binds@}, @{@})m4_define(@{cg_numbers@}, @{@})m4_define(@{cg_tensors@}, @{@})@})@})m4_dnl
m4_define(@{cg_arg@}, @{m4_ifelse($6, @{required@},
    @{m4_append(@{cg_params@}, @{@|$1_@})m4_append(@{cg_given@}, @{@|.$1 = @}m4_ifelse($4, @{scalar@}, @{TN_NUM@})@{($1_)@})m4_dnl
m4_ifelse(cg_twin, @{@}, @{@}, @{cg_arg_of_both(@{$1@}, @{$4@})@})@},
    @{m4_define(@{cg_rest@}, @{@|...@})m4_define(@{cg_va@}, @{@|__VA_ARGS__@})m4_append(@{cg_defaults@}, @{@|.$1 = $8@})@})@})m4_dnl
m4_dnl cg_arg_of_both(name, kind): a required argument of an operator that has a twin.
m4_define(@{cg_arg_of_both@}, @{m4_append(@{cg_binds@}, @{ \
        __auto_type tn_given_$1 = ($1_);@})m4_append(@{cg_numbers@}, cg_bound(@{$1@}, @{NUMBER@}))m4_dnl
m4_append(@{cg_tensors@}, cg_bound(@{$1@}, @{TENSOR@}))m4_ifelse($1, cg_twin_arg, @{m4_define(@{cg_twin_kind@}, @{$2@})@})@})m4_dnl
m4_define(@{cg_bound@}, @{m4_ifelse($1, cg_twin_arg, @{@{@|TN_THE_$2(tn_given_$1)@}@}, @{@{@|tn_given_$1@}@})@})m4_dnl
m4_define(@{cg_op_end@}, @{m4_ifelse(cg_single, single, @{
@\8<#define cg_ns@{@}_$1(cg_params@{@}cg_rest)@> \
    @{@}cg_ns@{@}_expr_$1(__FILE__, __LINE__, \
        &(struct cg_ns@{@}_$1_args){ \
@\8<        @|cg_begin(@{$1@})@{@}cg_defaults@{@}cg_given@{@}cg_va})@>
m4_ifelse(cg_name, @{$1@}, @{@}, cg_twin, @{@}, @{#define cg_ns@{@}_@{@}cg_name@{@}(...) cg_ns@{@}_$1(__VA_ARGS__)
@}, @{cg_choice(@{$1@})@})@})@})m4_dnl
m4_dnl cg_choice(id): the plain word of an operator that has a twin. Operands are taken once, so that nested calls do not grow.
m4_define(@{cg_choice@}, @{@\16<#define cg_ns@{@}_@{@}cg_name@{@}(cg_params@{@}cg_rest)@> \
    __extension__({@{@}cg_binds \
        __builtin_choose_expr(TN_IS_NUMBER(tn_given_@{@}cg_twin_arg), \
@\16<            @{@}cg_ns@{@}_@{@}m4_ifelse(cg_twin_kind, @{tensor@}, @{cg_twin@}, @{$1@})@{@}(cg_numbers@{@}cg_va), \@>
@\16<            @{@}cg_ns@{@}_@{@}m4_ifelse(cg_twin_kind, @{tensor@}, @{$1@}, @{cg_twin@})@{@}(cg_tensors@{@}cg_va)); \@>
    })
@})m4_dnl
cg_facts
#endif /* __cplusplus */

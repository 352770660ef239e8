m4_dnl derivative_tables.m4 - the part of a source that is derivatives: handles, a function per operator, the table. After it
m4_dnl cg_register_derivatives is the body of the function that registers them.
m4_define(@{cg_when@}, @{m4_ifelse(@{$1@}, @{@}, @{@}, @{$2@})@})m4_dnl
cg_no_calls()m4_dnl
m4_define(@{cg_op@}, @{    TN_SCHEMA_$1,
@})m4_dnl
m4_ifelse(cg_n_calls, 0, @{@}, @{const tn_op *cg_prefix@{@}_called[cg_prefix@{@}_op_count];

static const char *const imports[cg_prefix@{@}_op_count] = {
cg_calls@{@}};
@})m4_dnl
m4_dnl ---- functions ----
cg_no_derivatives()m4_dnl
m4_define(@{cg_args@}, @{m4_ifelse(@{$2@}, @{@}, @{    (void)args;
@}, @{    const struct tn_$1_args *a = args;
@})@})m4_dnl
m4_define(@{cg_derivative@}, @{m4_define(@{cg_written@}, @{$4$5@})cg_when(@{$4$5@}, @{
/* $2@}m4_ifelse($3, derived, @{@{, derived from its expression@}@}))@{@}@})m4_dnl
m4_define(@{cg_rule@}, @{cg_when(cg_written, @{
 *   $1: $3@})@{@}@})m4_dnl
m4_define(@{cg_rules_end@}, @{cg_when(cg_written, @{ */
@})@})m4_dnl
m4_define(@{cg_backward@}, @{static tn_status $1_backward(tn_grad_call *g, const void *args)
{
cg_args(@{$1@}, @{$2@})cg_when(@{$3@}, @{    tn_tensor *grad = g->in[0];
@})@})m4_dnl
m4_dnl cg_block(condition, declarations, statement)
m4_define(@{cg_block@}, @{    if ($1)@{@}m4_ifelse(@{$2@}, @{@}, @{
@}, @{ {
$2@})        $3
m4_ifelse(@{$2@}, @{@}, @{@}, @{    }
@})@})m4_dnl
m4_define(@{cg_gradient@}, @{cg_block(@{tn_grad_wants(g, $1)@}, @{$4@}, @{tn_grad_give@}m4_ifelse($2, list, _list)@{(g, $1, $3);@})@})m4_dnl
m4_define(@{cg_missing@}, @{    if (tn_grad_wants(g, $1))
        tn_grad_fail(g, TN_ERR_UNSUPPORTED, "$2");
@})m4_dnl
m4_define(@{cg_several@}, @{m4_define(@{cg_n@}, $1)m4_define(@{cg_variables@}, @{$3@})m4_define(@{cg_expr@}, @{$2@})m4_define(@{cg_wants@}, @{@})m4_define(@{cg_gives@}, @{@})@})m4_dnl
m4_define(@{cg_several_wants@}, @{m4_list(@{cg_wants@}, @{tn_grad_wants(g, $1)@}, @{ || @})m4_append(@{cg_gives@}, @{
        tn_grad_give(g, $1, out[$2]);@})@})m4_dnl
m4_define(@{cg_several_end@}, @{    if (cg_wants) {
cg_variables        tn_tensor *out[cg_n] = {NULL};
        cg_expr, out);@{@}cg_gives
    }
@})m4_dnl
m4_define(@{cg_backward_end@}, @{    return g->status;
}
@})m4_dnl
m4_define(@{cg_forward@}, @{m4_ifelse(cg_written, backwardforward, @{
@})static tn_status $1_jvp(tn_grad_call *g, const void *args)
{
cg_args(@{$1@}, @{$2@})@})m4_dnl
m4_define(@{cg_tangent@}, @{cg_block(@{tn_grad_wants(g, $1)@}, @{$3@}, @{tn_tangent_give(g, $1, $2);@})@})m4_dnl
m4_define(@{cg_forward_end@}, m4_defn(@{cg_backward_end@}))m4_dnl
cg_derivatives()m4_dnl
m4_dnl ---- tables ----
cg_no_derivatives()m4_dnl
m4_define(@{cg_flag_words@}, @{m4_ifelse($1, 0, 0, $1, 1, TN_FIELD_DIFFERENTIABLE, @{TN_FIELD_DIFFERENTIABLE | TN_FIELD_NO_FORMULA@})@})m4_dnl
m4_define(@{cg_derivative@}, @{static const tn_derivative_field $1_fields[] = {
@})m4_dnl
m4_define(@{cg_saved@}, @{    {cg_flag_words($2), 0, $3, $4}, /* $1 */
@})m4_dnl
m4_define(@{cg_derivative_end@}, @{};
@})m4_dnl
m4_ifelse(cg_n_derivatives, 0, @{@}, @{
/* What each field of a call is kept for, its value or no more than its shape: bit i, for the
 * gradient of the i-th differentiable argument. */
cg_derivatives@{@}@})m4_dnl
m4_define(@{cg_saved@}, @{@})m4_dnl
m4_define(@{cg_forward_word@}, @{m4_ifelse($1, 1, TN_FORWARD_LINEAR, $1, 2, TN_FORWARD_ELEMENTWISE, 0)@})m4_dnl
m4_define(@{cg_derivative@}, @{m4_define(@{cg_back@}, m4_ifelse(@{$4@}, @{@}, NULL, @{$1_backward@}))m4_dnl
m4_define(@{cg_fore@}, m4_ifelse(@{$5@}, @{@}, NULL, @{$1_jvp@}))@})m4_dnl
m4_define(@{cg_derivative_end@}, @{@5<    {@|TN_SCHEMA_$1@|"$2"@|cg_back@|cg_fore@|$1_fields@|TN_COUNT($1_fields)@|m4_dnl
sizeof(struct tn_$1_args)@|cg_forward_word($3)@|0},@>
@})m4_dnl
m4_ifelse(cg_n_derivatives, 0, @{@}, @{
static const tn_derivative_decl derivatives[] = {
cg_derivatives@{@}};
@})m4_dnl
m4_define(@{cg_register_derivatives@}, @{m4_ifelse(cg_n_calls, 0, @{@}, @{    TN_TRY(tn->import_ops(r, imports, cg_prefix@{@}_called, TN_COUNT(imports)));
@})m4_ifelse(cg_n_derivatives, 0, @{    return TN_OK;
@}, @{    return tn->register_derivatives(r, derivatives, TN_COUNT(derivatives));
@})@})m4_dnl

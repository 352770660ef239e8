m4_dnl derivative_calls.m4 - the part of a header that says what derivatives call: frames of the built-in operators (of a
m4_dnl plugin), handles, wrappers, what the formulas' operators need besides, helpers. cg_prefix names them.
cg_no_calls()m4_dnl
m4_define(@{cg_op@}, @{m4_define(@{cg_here@}, m4_ifelse($4, built_in, 1, 0))m4_ifelse($4, built_in, @{
#define TN_SCHEMA_$1 "$3"
struct tn_$1_args {
    tn_frame frame;
@})@})m4_dnl
m4_define(@{cg_result@}, @{m4_ifelse(cg_here, 1, @{    $2$1;
@})@})m4_dnl
m4_define(@{cg_arg@}, @{m4_ifelse(cg_here, 1, @{    $2$1;
@})@})m4_dnl
m4_define(@{cg_op_end@}, @{m4_ifelse(cg_here, 1, @{};
@})@})m4_dnl
cg_calls()m4_dnl
m4_dnl
cg_no_calls()m4_dnl
m4_define(@{cg_op@}, @{    cg_prefix@{@}_op_$1,
@})m4_dnl
m4_ifelse(cg_n_calls, 0, @{@}, @{
/* Handles of the operators that derivatives call. */
enum {
cg_calls@{@}    cg_prefix@{@}_op_count,
};
extern TN_HIDDEN const tn_op *cg_prefix@{@}_called[cg_prefix@{@}_op_count];

/* ---- operators as derivatives call them ------------------------------------------------------ */
@})m4_dnl
m4_dnl A wrapper: an undefined tensor that the operator requires makes its results undefined.
m4_define(@{cg_op@}, @{m4_define(@{cg_fields@}, @{@})m4_define(@{cg_needs@}, @{@})m4_define(@{cg_params@}, @{@})m4_dnl
m4_define(@{cg_n@}, $7)m4_define(@{cg_at@}, 0)m4_define(@{cg_first@}, @{@})m4_define(@{cg_rest@}, @{@})m4_dnl
m4_define(@{cg_frame@}, @{$1@})m4_define(@{cg_name@}, @{$2@})m4_define(@{cg_kinds@}, @{@})@})m4_dnl
m4_define(@{cg_result@}, @{m4_append(@{cg_kinds@}, @{$4@})m4_ifelse(cg_at, 0, @{m4_define(@{cg_first@}, @{$1@})@},
@{m4_append(@{cg_rest@}, @{
    out[@}cg_at@{] = tn->grad_hold(g, frame.$1);@})@})m4_define(@{cg_at@}, m4_incr(cg_at))@})m4_dnl
m4_define(@{cg_parameter@}, @{m4_ifelse($1, g, @{g_@}, $1, out, @{out_@}, @{$1@})@})m4_dnl
m4_define(@{cg_arg@}, @{m4_append(@{cg_params@}, @{@|$2@}cg_parameter($1))m4_append(@{cg_fields@}, @{
    frame.$1 = cg_parameter($1);@})m4_dnl
m4_ifelse($4@{@}$7, tensoralways, @{m4_list(@{cg_needs@}, @{!cg_parameter($1)@}, @{ || @})@})@})m4_dnl
m4_define(@{cg_check@}, @{m4_ifelse(m4_defn(@{cg_needs@}), @{@}, @{@}, @{
    if (cg_needs@{@})
        return $1;@})@})m4_dnl
m4_define(@{cg_wrapper@}, @{
@<static inline tn_tensor *@{@}cg_name@{@}(@|tn_grad_call *g@{@}cg_params)@>
{
    struct tn_@{@}cg_frame@{@}_args frame;@{@}cg_check(NULL)
    frame.frame.size = sizeof frame;
    frame.frame.reserved = 0;
    frame.cg_first = NULL;@{@}cg_fields
    return tn->grad_call_op(g, cg_prefix@{@}_called[cg_prefix@{@}_op_@{@}cg_frame@{@}], &frame,
                            &frame.cg_first);
}
@})m4_dnl
m4_define(@{cg_wrapper_of_list@}, @{
@<static inline tn_tensors @{@}cg_name@{@}(@|tn_grad_call *g@{@}cg_params)@>
{
    struct tn_@{@}cg_frame@{@}_args frame;
    tn_tensor *none = NULL;
    memset(&frame, 0, sizeof frame);@{@}cg_check(frame.cg_first)
    frame.frame.size = sizeof frame;@{@}cg_fields
    tn->grad_call_op(g, cg_prefix@{@}_called[cg_prefix@{@}_op_@{@}cg_frame@{@}], &frame, &none);
    return tn->grad_hold_list(g, frame.cg_first);
}
@})m4_dnl
m4_define(@{cg_wrapper_of_several@}, @{
@<static inline tn_tensor **@{@}cg_name@{@}(@|tn_grad_call *g@{@}cg_params@|tn_tensor **out)@>
{
    struct tn_@{@}cg_frame@{@}_args frame;@{@}cg_check(out)
    memset(&frame, 0, sizeof frame);
    frame.frame.size = sizeof frame;@{@}cg_fields
    out[0] = tn->grad_call_op(g, cg_prefix@{@}_called[cg_prefix@{@}_op_@{@}cg_frame@{@}], &frame,
                              &frame.cg_first);
    if (!out[0])
        return out;@{@}cg_rest
    return out;
}
@})m4_dnl
m4_define(@{cg_op_end@}, @{m4_ifelse(cg_n@{@}cg_kinds, 1tensor, @{cg_wrapper()@}, cg_n@{@}cg_kinds, 1tensors, @{cg_wrapper_of_list()@},
m4_index(cg_kinds, tensors)@{@}m4_eval(cg_n > 1), -11, @{cg_wrapper_of_several()@})@})m4_dnl
cg_calls()m4_dnl
m4_dnl
m4_dnl What formulas' operators need besides.
m4_define(@{cg_extra_plus@}, @{
/* a + b, one of which may be undefined. */
static inline tn_tensor *grad_plus(tn_grad_call *g, tn_tensor *a, tn_tensor *b)
{
    return !a || !b ? (a ? a : b) : $1(g, a, b, tn_scalar_int(1));
}
@})m4_dnl
m4_define(@{cg_extra_minus@}, @{
/* a - b, one of which may be undefined. */
static inline tn_tensor *grad_minus(tn_grad_call *g, tn_tensor *a, tn_tensor *b)
{
    return !b ? a : !a ? $2(g, b) : $1(g, a, b, tn_scalar_int(1));
}
@})m4_dnl
m4_define(@{cg_extra_times@}, @{
/* a * number. */
static inline tn_tensor *grad_times(tn_grad_call *g, tn_tensor *a, tn_scalar number)
{
    bool is_one = number.kind != TN_SCALAR_COMPLEX && tn_scalar_as_double(&number) == 1;
    return is_one ? a : $1(g, a, number);
}
@})m4_dnl
m4_define(@{cg_extra_conj@}, @{
/* The conjugate; a real tensor is its own. */
static inline tn_tensor *grad_conj(tn_grad_call *g, tn_tensor *a)
{
    if (!tn_is_complex(a))
        return a;
m4_ifelse(@{$1@}, @{@}, @{    tn_grad_fail(g, TN_ERR_UNSUPPORTED, "there is no operator conj for complex gradients");
    return NULL;@}, @{    return $1(g, a);@})
}
@})m4_dnl
m4_define(@{cg_extra_number@}, @{
/* A number as a tensor without dimensions, where `like` is; weak in type promotion. */
static inline tn_tensor *grad_number(tn_grad_call *g, tn_tensor *like, tn_scalar number)
{
    tn_dtype dtype = number.kind == TN_SCALAR_COMPLEX ? TN_C128
                     : number.kind == TN_SCALAR_FLOAT ? TN_F64
                                                      : TN_I64;
    if (!like)
        return NULL;
    tn_tensor *t = $1(g, number, dtype, TN_LAYOUT_NONE, like->device, -1);
    if (t)
        tn->tensor_mark_number(t);
    return t;
}
@})m4_dnl
cg_no_helpers()m4_dnl
m4_define(@{cg_extra@}, @{cg_extra_$1(@{$2@}, @{$3@})@})m4_dnl
cg_helpers()m4_dnl
m4_dnl
cg_no_helpers()m4_dnl
m4_define(@{cg_any_helper@}, @{@})m4_dnl
m4_define(@{cg_helper@}, @{m4_ifelse(cg_any_helper, 1, @{@}, @{
/* ---- helpers: written by hand ---------------------------------------------------------------- */
m4_define(@{cg_any_helper@}, 1)@})@<$2$1(@|tn_grad_call *g@{@}@})m4_dnl
m4_define(@{cg_helper_arg@}, @{@|$2@{@}cg_parameter($1)@{@}@})m4_dnl
m4_define(@{cg_helper_end@}, @{m4_ifelse($2, 1, @{@}, @{@|tn_tensor **out@}));@>
@})m4_dnl
cg_helpers()m4_dnl

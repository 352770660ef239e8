m4_dnl loops.m4 - included by templates that write inner loops: after it, cg_use_dtype(f32) makes cg_facts write the loops of
m4_dnl that dtype. The body of an operator exists once; a thin wrapper calls it with constant strides, which is what lets the
m4_dnl compiler vectorise it.
m4_dnl
m4_dnl cg_dtype_row(dtype, C type of a value, member of tn_number, C type in memory, load, store)
m4_define(@{cg_plain_load@}, @{*(const cg_memory *)($1)@})m4_dnl
m4_define(@{cg_plain_store@}, @{*(cg_memory *)($1) = $2@})m4_dnl
m4_define(@{cg_f16_load@}, @{tn_f32_from_f16(*(const uint16_t *)($1))@})m4_dnl
m4_define(@{cg_f16_store@}, @{*(uint16_t *)($1) = tn_f16_from_f32($2)@})m4_dnl
m4_define(@{cg_bf16_load@}, @{tn_f32_from_bf16(*(const uint16_t *)($1))@})m4_dnl
m4_define(@{cg_bf16_store@}, @{*(uint16_t *)($1) = tn_bf16_from_f32($2)@})m4_dnl
m4_define(@{cg_set_dtype@}, @{m4_define(@{cg_dtype@}, @{$1@})m4_define(@{cg_type@}, @{$2@})m4_define(@{cg_member@}, @{$3@})m4_dnl
m4_define(@{cg_memory@}, @{$4@})m4_define(@{cg_load@}, m4_defn(@{cg_$5_load@}))m4_define(@{cg_store@}, m4_defn(@{cg_$5_store@}))@})m4_dnl
m4_define(@{cg_use_dtype@}, @{m4_ifelse(@{$1@}, bool, @{cg_set_dtype(bool, bool, b, bool, plain)@},
@{$1@}, u8, @{cg_set_dtype(u8, uint8_t, u8, uint8_t, plain)@}, @{$1@}, i8, @{cg_set_dtype(i8, int8_t, i8, int8_t, plain)@},
@{$1@}, i16, @{cg_set_dtype(i16, int16_t, i16, int16_t, plain)@}, @{$1@}, i32, @{cg_set_dtype(i32, int32_t, i32, int32_t, plain)@},
@{$1@}, i64, @{cg_set_dtype(i64, int64_t, i64, int64_t, plain)@}, @{$1@}, f16, @{cg_set_dtype(f16, float, f32, uint16_t, f16)@},
@{$1@}, bf16, @{cg_set_dtype(bf16, float, f32, uint16_t, bf16)@}, @{$1@}, f32, @{cg_set_dtype(f32, float, f32, float, plain)@},
@{$1@}, f64, @{cg_set_dtype(f64, double, f64, double, plain)@}, @{$1@}, c64, @{cg_set_dtype(c64, tn_c64, c64, tn_c64, plain)@},
@{$1@}, c128, @{cg_set_dtype(c128, tn_c128, c128, tn_c128, plain)@})@})m4_dnl
m4_define(@{cg_dtypes@}, @{bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64, c64, c128@})m4_dnl
m4_dnl cg_each_dtype(text): text for every dtype, with cg_dtype and its kin set.
m4_define(@{cg_each_dtype@}, @{cg_each_of(@{$1@}, cg_dtypes)@})m4_dnl
m4_define(@{cg_each_of@}, @{m4_ifelse(@{$2@}, @{@}, @{@}, @{cg_use_dtype(@{$2@})$1@{@}cg_each_of(@{$1@}, m4_shift(m4_shift($@)))@})@})m4_dnl
m4_dnl
m4_dnl ---- the facts ----
m4_define(@{cg_pointwise@}, @{m4_define(@{cg_text@}, @{$2@})m4_define(@{cg_out@}, @{$3@})m4_define(@{cg_params@}, @{@|int64_t s0@})m4_dnl
m4_define(@{cg_pointers@}, @{@})m4_define(@{cg_loads@}, @{@})m4_define(@{cg_constants@}, @{@})m4_define(@{cg_expr@}, @{@})m4_dnl
m4_define(@{cg_actual@}, @{s[0]@})@})m4_dnl
m4_define(@{cg_input@}, @{m4_append(@{cg_params@}, @{@|int64_t s$2@})m4_append(@{cg_actual@}, @{, s[$2]@})m4_dnl
m4_ifelse($3, used, @{m4_append(@{cg_pointers@}, @{
    const char *p$2 = data[$2];@})m4_append(@{cg_loads@}, @{
        const cg_type $4 = cg_load(p$2 + i * s$2);@})@}, @{m4_append(@{cg_pointers@}, @{
    (void)s$2;@})@})@})m4_dnl
m4_define(@{cg_number@}, @{m4_ifelse($3, used, @{m4_append(@{cg_constants@}, @{
    const cg_type $4 = numbers[$2].cg_member;@})@})@})m4_dnl
m4_define(@{cg_loop@}, @{m4_ifelse(@{$2@}, cg_dtype, @{m4_define(@{cg_expr@}, @{$4@})@})@})m4_dnl
m4_define(@{cg_store_result@}, @{m4_ifelse(cg_out, bool, @{*(bool *)(out + i * s0) = cg_expr@}, @{cg_store(out + i * s0, cg_expr)@})@})m4_dnl
m4_define(@{cg_out_size@}, @{m4_ifelse(cg_out, bool, 1, sizeof(cg_memory))@})m4_dnl
m4_dnl cg_case(name, condition, strides): one test of the ladder in a wrapper.
m4_define(@{cg_case@}, @{if ($2)
        $1(data, $3, n, numbers);
    else@})m4_dnl
m4_define(@{cg_cases@}, @{m4_ifelse($2, 1, @{cg_case($1, s[0] == OUT && s[1] == IN, @{OUT, IN@})@},
$2, 2, @{cg_case($1, s[0] == OUT && s[1] == IN && s[2] == IN, @{OUT, IN, IN@})@{ @}m4_dnl
cg_case($1, s[0] == OUT && s[1] == IN && s[2] == 0, @{OUT, IN, 0@})@{ @}m4_dnl
cg_case($1, s[0] == OUT && s[1] == 0 && s[2] == IN, @{OUT, 0, IN@})@},
$2, 3, @{cg_case($1, s[0] == OUT && s[1] == IN && s[2] == IN && s[3] == IN, @{OUT, IN, IN, IN@})@})@})m4_dnl
m4_dnl cg_wrapper(name, inputs): the loop that the tables name.
m4_define(@{cg_wrapper@}, @{static void $1_@{@}cg_dtype@{@}(char *const *data, const int64_t *s, int64_t n, const void *params)
{
    const tn_number *numbers = params;
    enum { OUT = cg_out_size, IN = sizeof(cg_memory) };
    cg_cases($1_@{@}cg_dtype@{@}_at, $2)
        $1_@{@}cg_dtype@{@}_at(data, cg_actual, n, numbers);
}
@})m4_dnl
m4_define(@{cg_pointwise_end@}, @{m4_ifelse(m4_defn(@{cg_expr@}), @{@}, @{@}, @{
/* $1: cg_text */
@<static inline TN_ALWAYS_INLINE void $1_@{@}cg_dtype@{@}_at(@|char *const *data@{@}cg_params@|int64_t n@|const tn_number *numbers)@>
{
    char *out = data[0];@{@}cg_pointers@{@}cg_constants
    (void)numbers;
    TN_VECTORISE
    for (int64_t i = 0; i < n; i++) {@{@}cg_loads
        cg_store_result;
    }
}

cg_wrapper($1, $2)m4_dnl
@})@})m4_dnl

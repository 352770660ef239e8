/* faults.h - the planted faults: what each does, and how the harness must call it. The plugin
 * (faults.c) takes its kernel from this list by the environment variable TENON_FAULT; the test
 * (tests/unit/opinfo/faults.c) walks it. */
#ifndef TENON_OPINFO_FAULTS_H
#define TENON_OPINFO_FAULTS_H

/* FAULT(name, operators, device, dtype, column, states): the run of these operators must have a
 * case of this column ("": any) in one of these states. */
/* clang-format off */
#define FAULTS(FAULT) \
    FAULT(tail, "^relu$", "cpu", "f32", "values", "FAIL MISTRUSTED") /* last elements left out */ \
    FAULT(stale, "^relu$", "cpu", "f32", "values", "FAIL MISTRUSTED") /* writes only once */ \
    FAULT(unwritten, "^relu$", "cpu", "f32", "values", "FAIL MISTRUSTED") /* never writes */ \
    FAULT(rounding, "^mul.Tensor$", "cpu", "f32", "values", "FAIL") /* towards zero */ \
    FAULT(swapped, "^sub.Tensor$", "cpu", "f32", "values", "FAIL") /* other - self */ \
    FAULT(no_alpha, "^add.Tensor$", "cpu", "f32", "values", "FAIL") /* alpha ignored */ \
    FAULT(ignored_stride, "^relu$", "cpu", "f32", "values", "FAIL CRASH") /* as if contiguous */ \
    FAULT(short_stride, "^relu$", "cpu", "f32", "values", "FAIL CRASH") /* a stride in 31 bits */ \
    FAULT(overflow, "^add.Tensor$", "cpu", "i64", "values", "FAIL") /* computed in 32 bits */ \
    FAULT(saturates, "^add.Tensor$", "cpu", "i32", "values", "FAIL") /* does not wrap around */ \
    FAULT(drops_nan, "^relu$", "cpu", "f32", "values", "FAIL") /* NaN becomes 0 */ \
    FAULT(clips_infinity, "^relu$", "cpu", "f32", "values", "FAIL") /* infinity becomes FLT_MAX */ \
    FAULT(lies, "^relu$", "cpu", "f32", "dtypes", "FAIL") /* claims, refuses */ \
    FAULT(undeclared, "^relu$", "cpu", "f32", "dtypes", "UNDECLARED") /* works, does not claim */ \
    FAULT(claims_nothing, "^relu$", "cpu", "f32", "dtypes", "UNSUPPORTED") /* and refuses */ \
    FAULT(unclear, "^relu$", "cpu", "f32", "dtypes", "FAIL") /* refuses in two lines */ \
    FAULT(always_fails, "^relu$", "cpu", "f32", "dtypes", "ERROR") /* every call */ \
    FAULT(bad_status, "^relu$", "cpu", "f32", "dtypes", "ERROR") /* a status that is none */ \
    FAULT(all_nan, "^relu$", "cpu", "f32", "values", "MISTRUSTED") \
    FAULT(all_thousand, "^relu$", "cpu", "f32", "values", "MISTRUSTED") \
    FAULT(all_zero, "^exp$", "cpu", "f32", "values", "MISTRUSTED") \
    FAULT(modified_input, "^relu$", "cpu", "f32", "values", "FAIL") /* input[0] is changed */ \
    FAULT(past_end, "^relu$", "cpu", "f32", "out", "FAIL CRASH") /* one element too many */ \
    FAULT(past_end, "^relu$", "cpu", "f32", "repeat", "FAIL CRASH") /* of what the core made */ \
    FAULT(before_begin, "^relu$", "cpu", "f32", "out", "FAIL CRASH") /* writes in front */ \
    FAULT(in_gaps, "^relu$", "cpu", "f32", "out", "FAIL") /* writes between the elements */ \
    FAULT(inplace_differs, "^relu$", "cpu", "f32", "inplace", "FAIL") \
    FAULT(out_differs, "^relu$", "cpu", "f32", "out", "FAIL") /* adds to what out held */ \
    FAULT(unsteady, "^exp$", "cpu", "f32", "repeat", "FAIL") /* within the limit, but not twice */ \
    FAULT(by_thread, "^exp$", "cpu", "f32", "threads", "FAIL") /* depends on who computes */ \
    FAULT(crash, "^relu$", "cpu", "f32", "dtypes", "CRASH") \
    FAULT(late_crash, "^relu$", "cpu", "f32", "", "CRASH") /* only after other calls */ \
    FAULT(ends_process, "^relu$", "cpu", "f32", "dtypes", "CRASH") /* exit(0) */ \
    FAULT(hang, "^relu$", "cpu", "f32", "dtypes", "TIMEOUT") \
    FAULT(accepts_bad_index, "^gather$", "cpu", "f32", "errors", "FAIL") /* out of range: zeros */ \
    FAULT(leaves_written, "^gather$", "cpu", "f32", "errors", "FAIL") /* input changed */ \
    FAULT(shares_input, "^clone$", "cpu", "f32", "alias", "FAIL") /* not marked */ \
    FAULT(copies_view, "^t$", "cpu", "f32", "alias", "FAIL") /* a marked alias that is a copy */ \
    FAULT(wrong_dtype, "^clone$", "cpu", "f32", "values", "FAIL") \
    FAULT(wrong_shape, "^clone$", "meta", "f32", "meta", "FAIL") /* on meta alone */ \
    FAULT(wrong_strides, "^clone$", "meta", "f32", "meta", "FAIL") \
    FAULT(no_result, "^clone$", "cpu", "f32", "values", "FAIL") /* says it did well */

/* GRADIENT(operator of gradients.yaml, dtype, column, states). */
#define GRADIENT_FAULTS(GRADIENT) \
    GRADIENT(factor, "f64", "grad", "FAIL") /* by 2.00001 instead of 2 */ \
    GRADIENT(sign, "f64", "grad", "FAIL") \
    GRADIENT(no_sum, "f64", "grad", "FAIL") /* where the argument was broadcast */ \
    GRADIENT(stale, "f64", "grad", "FAIL") /* a value saved by an earlier call */ \
    GRADIENT(unguarded, "f64", "grad", "FAIL") /* a value modified after it was saved */ \
    GRADIENT(conjugate, "c128", "grad", "FAIL") /* left out */ \
    GRADIENT(no_second, "f64", "gradgrad", "FAIL") /* a gradient cut off from its graph */ \
    GRADIENT(jvp, "f64", "jvp", "FAIL") /* a factor in forward mode alone */ \
    GRADIENT(none, "f64", "grad", "NO-GRADIENT") /* not implemented, and says so */ \
    GRADIENT(hidden, "f64", "grad", "NO-GRADIENT") /* says that there is nothing to differentiate */

/* DECLARED(fault of declared.c, operator of declared.yaml, device, dtype, column, states). */
#define DECLARED_FAULTS(DECLARED) \
    DECLARED(short_rows, weighted, "cpu", "f32", "values", "FAIL") /* the last of a row left out */ \
    DECLARED(short_rows, weighted, "cpu", "f64", "grad", "FAIL") /* the gradient is of all */ \
    DECLARED(off_by_little, weighted, "cpu", "f32", "values", "FAIL") /* a factor of 1.00001 */ \
    DECLARED(off_by_little, weighted, "cpu", "f64", "values", "FAIL") \
    DECLARED(ignored_strides, weighted, "cpu", "f32", "values", "FAIL CRASH") /* as if contiguous */ \
    DECLARED(no_keepdim, weighted, "cpu", "f32", "values", "FAIL") /* an argument ignored .. */ \
    DECLARED(no_keepdim, weighted, "meta", "f32", "meta", "FAIL") /* .. by the shape rule */ \
    DECLARED(past_end, weighted, "cpu", "f32", "out", "FAIL") /* a byte behind the result */ \
    DECLARED(any_weight, weighted, "cpu", "f32", "errors", "FAIL") /* too long: accepted */ \
    DECLARED(twice_in_place, centred, "cpu", "f32", "inplace", "FAIL") /* in that form alone */ \
    DECLARED(none, forgetful, "cpu", "f64", "grad", "FAIL") /* a wrong formula */ \
    DECLARED(none, forgetful, "cpu", "f64", "jvp", "FAIL") \
    DECLARED(meta_shape, pick, "meta", "f32", "meta", "FAIL") /* one element more on meta */ \
    DECLARED(any_index, pick, "cpu", "f32", "errors", "FAIL") /* out of range: the last one */ \
    DECLARED(no_at, pick, "cpu", "f32", "values", "FAIL") /* an optional argument ignored */ \
    DECLARED(resizes_any, pick, "cpu", "f32", "out", "FAIL") /* a wrong shape is accepted */ \
    DECLARED(resizes_never, pick, "cpu", "f32", "out", "FAIL") /* no elements stay none */ \
    DECLARED(resizes_wrongly, pick, "cpu", "f32", "out", "FAIL") /* to one element too many */ \
    DECLARED(no_scale, scaled, "cpu", "f32", "values", "FAIL") /* an optional tensor ignored */ \
    DECLARED(second_result, totals, "cpu", "f32", "values", "FAIL") /* of two results the second */
/* clang-format on */

#endif

/* words.c - the tables behind words.h. Facts of PyTorch's releases 1.13, 2.4 and 2.9, the union of
 * the three. */
#include "words.h"

#include <stdio.h>
#include <string.h>

#define WORDS(name, ...)                                                                           \
    static const char *const name##_list[] = {__VA_ARGS__};                                        \
    const cg_words cg_##name = {name##_list, sizeof name##_list / sizeof *name##_list}

WORDS(keys, "func", "variants", "dispatch", "structured", "structured_delegate",
      "structured_inherits", "precomputed", "ufunc_inner_loop", "autogen", "tags", "device_check",
      "device_guard", "python_module", "category_override", "cpp_no_default_args",
      "manual_cpp_binding", "manual_kernel_registration", "use_const_ref_for_mutable_tensors",
      "pointwise", "shape", "dtypes", "since", "forms", "out", "reference", "samples");

WORDS(tags, "inplace_view", "view_copy", "dynamic_output_shape", "data_dependent_output",
      "generated", "nondeterministic_seeded", "nondeterministic_bitwise", "needs_exact_strides",
      "needs_contiguous_strides", "needs_fixed_stride_order", "flexible_layout", "core",
      "pointwise", "maybe_aliasing_or_mutating", "pt2_compliant_tag", "cudagraph_unsafe");

WORDS(dispatch_keys, "CPU", "CUDA", "Meta", "CompositeExplicitAutograd",
      "CompositeImplicitAutograd", "CompositeExplicitAutogradNonFunctional",
      "CompositeImplicitAutogradNestedTensor", "MPS", "XPU", "MTIA", "MkldnnCPU", "QuantizedCPU",
      "QuantizedCUDA", "QuantizedMeta", "SparseCPU", "SparseCUDA", "SparseXPU", "SparseMPS",
      "SparseMeta", "SparseCsrCPU", "SparseCsrCUDA", "SparseCsrXPU", "SparseCsrMPS",
      "SparseCsrMeta", "NestedTensorCPU", "NestedTensorCUDA", "NestedTensorXPU", "NestedTensorHPU",
      "NestedTensorMeta", "ZeroTensor");

WORDS(structured_keys, "CPU", "CUDA", "MPS", "XPU", "MTIA");

WORDS(base_types, "Tensor", "int", "SymInt", "float", "bool", "SymBool", "str", "Scalar",
      "ScalarType", "Device", "DeviceIndex", "Layout", "MemoryFormat", "Generator", "Dimname",
      "DimVector", "Storage", "Stream", "QScheme", "ConstQuantizerPtr", "GraphModule");

WORDS(ufunc_keys, "Generic", "ScalarOnly", "CUDAFunctor", "CUDAFunctorOnOther", "CUDAFunctorOnSelf",
      "CPUScalar", "CPUVector");

WORDS(ufunc_dtypes, "All", "AllAndComplex", "Floating", "FloatingAndComplex", "Integral", "Complex",
      "Byte", "Char", "Short", "Int", "Long", "Half", "Float", "Double", "ComplexHalf",
      "ComplexFloat", "ComplexDouble", "Bool", "BFloat16", "Float8_e5m2", "Float8_e5m2fnuz",
      "Float8_e4m3fn", "Float8_e4m3fnuz", "Float8_e8m0fnu");

WORDS(dtype_words, "all", "floating", "complex", "integral", "bool", "u8", "i8", "i16", "i32",
      "i64", "f16", "bf16", "f32", "f64", "c32", "c64", "c128", "u16", "u32", "u64", "f8_e5m2",
      "f8_e4m3fn");

WORDS(python_keywords, "False", "None", "True", "and", "as", "assert", "async", "await", "break",
      "class", "continue", "def", "del", "elif", "else", "except", "finally", "for", "from",
      "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise",
      "return", "try", "while", "with", "yield");

/* PyTorch's own list, and one function of 1.13. */
WORDS(except_keyword, "_has_compatible_shallow_copy_type", "random_.from", "uniform_", "can_cast");

/* The first by PyTorch's own list; the others stand in 1.13, which did not yet look at argument
 * names. */
WORDS(except_seeded, "_cudnn_init_dropout_state", "_cudnn_init_dropout_state.out", "_cudnn_rnn",
      "miopen_rnn", "_lstm_mps", "lstm.input", "lstm.data", "gru.input", "gru.data",
      "rnn_tanh.input", "rnn_tanh.data", "rnn_relu.input", "rnn_relu.data",
      "_scaled_dot_product_attention", "_scaled_dot_product_attention_forward",
      "_scaled_dot_product_attention_math", "_triton_scaled_dot_attention",
      "_flash_scaled_dot_product_attention");

WORDS(except_const_ref, "_conv_depthwise2d.out", "fft_hfft2.out", "fft_ihfft2.out", "fft_hfftn.out",
      "fft_ihfftn.out");

WORDS(except_no_out, "_cummax_helper", "_cummin_helper", "_assert_async", "_assert_async.msg",
      "_assert_tensor_metadata", "_cslt_sparse_mm_search", "_assert_scalar", "_dimI", "_dimV",
      "_has_same_storage_numel", "_linalg_check_errors", "_local_scalar_dense",
      "_nested_tensor_from_mask_left_aligned", "_nnz", "_use_cudnn_ctc_loss",
      "_use_cudnn_ctc_loss.Tensor", "_validate_compressed_sparse_indices", "allclose", "dense_dim",
      "equal", "is_coalesced", "is_pinned", "is_same_size", "is_set_to", "q_per_channel_axis",
      "q_scale", "q_zero_point", "qscheme", "record_stream", "sparse_dim", "sym_constrain_range",
      "sym_constrain_range_for_size", "_nested_tensor_offsets", "_nested_tensor_storage_offsets",
      "_chunk_grad_outputs_efficient_attention", "_fused_sdp_choice", "_print", "_sink_tokens",
      "_nested_get_ragged_idx");

WORDS(except_out_alone, "adaptive_avg_pool3d_backward.grad_input",
      "_slow_conv2d_backward.grad_input");

WORDS(except_inplace, "polygamma_");

bool cg_word_in(cg_words words, const char *word)
{
    for (int i = 0; i < words.n; i++)
        if (words.list[i][0] == word[0] && strcmp(words.list[i], word) == 0)
            return true;
    return false;
}

/* Words of C, Python and NumPy, and what they are here: the first that the list has. */
static const char *other_word(cg_words words, const char *word)
{
    static const char *const others[][2] = {
        {"double", "float"},   {"long", "int"},      {"int64_t", "int"},   {"int32_t", "int"},
        {"size_t", "int"},     {"string", "str"},    {"number", "Scalar"}, {"dtype", "ScalarType"},
        {"half", "f16"},       {"bfloat16", "bf16"}, {"float16", "f16"},   {"float32", "f32"},
        {"float64", "f64"},    {"float", "f32"},     {"double", "f64"},    {"int8", "i8"},
        {"int16", "i16"},      {"int32", "i32"},     {"int64", "i64"},     {"int", "i32"},
        {"long", "i64"},       {"uint8", "u8"},      {"byte", "u8"},       {"complex64", "c64"},
        {"complex128", "c128"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i][0], word) == 0 && cg_word_in(words, others[i][1]))
            return others[i][1];
    return NULL;
}

const char *cg_hint(char *buf, size_t cap, cg_words words, const char *word)
{
    const char *near = other_word(words, word);
    if (!near)
        near = cg_near(word, words.list, words.n);
    if (near) {
        snprintf(buf, cap, "; did you mean '%s'?", near);
        return buf;
    }
    size_t used = (size_t)snprintf(buf, cap, "; write one of ");
    for (int i = 0; i < words.n && used < cap; i++) {
        bool room = used + strlen(words.list[i]) + 8 < cap;
        used += (size_t)snprintf(buf + used, cap - used, "%s%s", i ? ", " : "",
                                 room ? words.list[i] : "...");
        if (!room)
            break;
    }
    return buf;
}

/* ---- dtypes ---------------------------------------------------------------------------------- */

/* By PyTorch's ScalarType number. */
static const char *const dtype_names[] = {
    [0] = "u8",    [1] = "i8",       [2] = "i16",        [3] = "i32",  [4] = "i64",   [5] = "f16",
    [6] = "f32",   [7] = "f64",      [8] = "c32",        [9] = "c64",  [10] = "c128", [11] = "bool",
    [15] = "bf16", [23] = "f8_e5m2", [24] = "f8_e4m3fn", [27] = "u16", [28] = "u32",  [29] = "u64",
};
enum { N_DTYPES = sizeof dtype_names / sizeof *dtype_names };

static const struct {
    const char *name;
    cg_dtypes bits;
} groups[] = {
    {"integral", 0x1f},
    {"floating", 1u << 5 | 1u << 6 | 1u << 7 | 1u << 15},
    {"complex", 1u << 9 | 1u << 10},
    {"all", 0x1f | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 9 | 1u << 10 | 1u << 11 | 1u << 15},
};

cg_dtypes cg_dtypes_parse(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strlen(groups[i].name) == n && memcmp(groups[i].name, name, n) == 0)
            return groups[i].bits;
    for (int i = 0; i < N_DTYPES; i++)
        if (dtype_names[i] && strlen(dtype_names[i]) == n && memcmp(dtype_names[i], name, n) == 0)
            return (cg_dtypes)1 << i;
    return 0;
}

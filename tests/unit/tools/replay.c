/* replay.c - `tenon replay` on files made here: what passes, what fails and how it is said, and
 * broken files. The calls are of operators that will always exist. */
#include <math.h>

#include "replay_file.h"

TestSuite(replay, .init = make_folder, .fini = remove_folder);

#define RELU "'schema':'aten::relu(Tensor self) -> Tensor','args':{'self':" F32_2("s0") "}"
#define ADD_                                                                                       \
    "'schema':'aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> "            \
    "Tensor(a!)',"                                                                                 \
    "'args':{'self':" F32_2("s0") ",'other':" F32_2("s1") ",'alpha':{'int':1}}"

/* relu of {-1, 2}, with these as the recorded result. */
static void write_relu(float first, float second, const char *more)
{
    char cases[1000];
    begin_replay();
    add_floats("0.s0", 2, (float[]){-1, 2});
    add_floats("0.r", 2, (float[]){first, second});
    snprintf(cases, sizeof cases, "{'n':0," RELU ",'returns':[" F32_2("r") "]%s}", more);
    end_replay("f.safetensors", cases);
}

Test(replay, right_result_passes)
{
    write_relu(0, 2, "");
    cr_expect_eq(run_tenon("replay f.safetensors"), 0);
    expect_words("out", "total: 1 passed, 0 failed");
    expect_words("out", "meta: 1 passed");
}

Test(replay, wrong_value_fails_and_names_the_element)
{
    write_relu(0, 3, "");
    cr_expect_eq(run_tenon("replay f.safetensors"), 1);
    expect_words("out", "failed aten::relu case 0: result: element [1]: 3 expected exactly, got 2");
}

Test(replay, tolerance_is_used_and_no_more)
{
    write_relu(0, 2.001F, ",'rtol':0.001,'atol':0.0001");
    cr_expect_eq(run_tenon("replay f.safetensors"), 0);
    write_relu(0, 2.01F, ",'rtol':0.001,'atol':0.0001");
    cr_expect_eq(run_tenon("replay f.safetensors"), 1);
}

Test(replay, infinity_and_nan_are_not_near_numbers)
{
    write_relu(0, INFINITY, ",'rtol':1,'atol':1");
    cr_expect_eq(run_tenon("replay f.safetensors"), 1);
    write_relu(0, NAN, ",'rtol':1,'atol':1");
    cr_expect_eq(run_tenon("replay f.safetensors"), 1);
}

Test(replay, nan_equals_nan)
{
    begin_replay();
    add_floats("0.s0", 2, (float[]){NAN, 2});
    add_floats("0.r", 2, (float[]){NAN, -2});
    end_replay("f.safetensors",
               "{'n':0,'schema':'aten::neg(Tensor self) -> Tensor','args':{'self':" F32_2(
                   "s0") "},'returns':[" F32_2("r") "]}");
    cr_expect_eq(run_tenon("replay f.safetensors"), 0);
}

Test(replay, wrong_dtype_and_shape_fail)
{
    begin_replay();
    add_floats("0.s0", 2, (float[]){1, 2});
    add_longs("0.r", 1, (int64_t[]){1});
    end_replay("f.safetensors", "{'n':0," RELU ",'returns':[" I64_0("r") "]}");
    cr_expect_eq(run_tenon("replay f.safetensors"), 1);
    expect_words("out", "dtype int64 expected, got float32");

    begin_replay();
    add_floats("0.s0", 2, (float[]){1, 2});
    add_floats("0.r", 2, (float[]){1, 2});
    end_replay("f.safetensors", "{'n':0," RELU ",'compare':'meta','returns':[{'tensor':'r','dtype':"
                                "'float32','shape':[2,1],'stride':[1,1],'offset':0}]}");
    cr_expect_eq(run_tenon("replay f.safetensors"), 1);
    expect_words("out", "shape [2, 1] expected, got [2]");
}

Test(replay, compare_meta_ignores_values)
{
    write_relu(7, 7, ",'compare':'meta'");
    cr_expect_eq(run_tenon("replay f.safetensors"), 0);
}

static int run_add_(float first, float second)
{
    char cases[1500];
    begin_replay();
    add_floats("4.s0", 2, (float[]){1, 2});
    add_floats("4.s1", 2, (float[]){10, 20});
    add_floats("4.r", 2, (float[]){11, 22});
    add_floats("4.m", 2, (float[]){first, second});
    snprintf(cases, sizeof cases,
             "{'n':4," ADD_ ",'returns':[" F32_2("r") "],'mutated':{'self':" F32_2("m") "}}");
    end_replay("f.safetensors", cases);
    return run_tenon("replay f.safetensors");
}

Test(replay, mutated_argument_is_compared)
{
    cr_expect_eq(run_add_(11, 22), 0);
    cr_expect_eq(run_add_(11, 2), 1);
    expect_words("out", "case 4: self: element [1]: 2 expected");
}

Test(replay, two_tensors_of_one_storage_share_memory)
{
    begin_replay();
    add_floats("0.s0", 3, (float[]){1, 2, 3});
    add_floats("0.r", 2, (float[]){1, 2});
    end_replay(
        "f.safetensors",
        "{'n':0,'schema':'aten::copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> "
        "Tensor(a!)','args':{'self':{'tensor':'s0','dtype':'float32','shape':[2],'stride':[1],"
        "'offset':1},'src':" F32_2("s0") ",'non_blocking':{'bool':false}},'returns':[],"
                                         "'raises':true}");
    cr_expect_eq(run_tenon("replay f.safetensors"), 0,
                 "a partial overlap is refused, seen by the call");
}

Test(replay, raises_needs_a_failure)
{
    begin_replay();
    add_floats("0.s0", 2, (float[]){1, 2});
    end_replay("f.safetensors", "{'n':0," RELU ",'raises':true}");
    cr_expect_eq(run_tenon("replay f.safetensors"), 1);
    expect_words("out", "the call must fail, and it did not");
}

static int run_argmax(int64_t recorded)
{
    begin_replay();
    add_floats("0.s0", 2, (float[]){5, 5});
    add_longs("0.r", 1, &recorded);
    end_replay(
        "f.safetensors",
        "{'n':0,'schema':'aten::argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor',"
        "'args':{'self':" F32_2("s0") ",'dim':null,'keepdim':{'bool':false}},'returns':[" I64_0(
            "r") "]}");
    return run_tenon("replay f.safetensors");
}

Test(replay, another_index_of_an_equal_value_is_right)
{
    cr_expect_eq(run_argmax(0), 0);
    cr_expect_eq(run_argmax(1), 0);
    cr_expect_eq(run_argmax(2), 1, "outside self");
}

/* {5, 5}, whose recorded indices are {1, 0}. */
static int run_sort(const char *overload, const char *parameter, const char *argument)
{
    char cases[1000];
    begin_replay();
    add_floats("0.s0", 2, (float[]){5, 5});
    add_longs("0.i", 2, (int64_t[]){1, 0});
    snprintf(cases, sizeof cases,
             "{'n':0,'schema':'aten::sort%s(Tensor self, %sint dim=-1, bool descending=False) -> "
             "(Tensor values, Tensor indices)','args':{'self':" F32_2(
                 "s0") "%s,'dim':{'int':-1},'"
                       "descending':{'bool':false}}"
                       ",'returns':[" F32_2("s0") ","
                                                  "{'tensor':'i','"
                                                  "dtype':'int64','"
                                                  "shape':[2],'"
                                                  "stride':[1],'"
                                                  "offset':0}]}",
             overload, parameter, argument);
    end_replay("f.safetensors", cases);
    return run_tenon("replay f.safetensors");
}

Test(replay, a_stable_sort_has_one_order)
{
    cr_expect_eq(run_sort("", "", ""), 0);
    cr_expect_eq(run_sort(".stable", "*, bool? stable, ", ",'stable':{'bool':false}"), 0);
    cr_expect_eq(run_sort(".stable", "*, bool? stable, ", ",'stable':{'bool':true}"), 1);
}

/* The median of {1, 1, 0} is 1; as indices, 1 and a recorded 0 would select equal elements. */
Test(replay, a_value_is_no_index)
{
    begin_replay();
    add_longs("0.s0", 3, (int64_t[]){1, 1, 0});
    add_longs("0.r", 1, (int64_t[]){0});
    end_replay(
        "f.safetensors",
        "{'n':0,'schema':'aten::median(Tensor self) -> Tensor','args':{'self':{'tensor':"
        "'s0','dtype':'int64','shape':[3],'stride':[1],'offset':0}},'returns':[" I64_0("r") "]}");
    cr_expect_eq(run_tenon("replay f.safetensors"), 1);
}

/* The last element of 1 + {2, 3} x {5, 7} recorded as if it had been rounded on the way. */
static int run_addr(float last)
{
    begin_replay();
    add_floats("0.s0", 2, (float[]){1, 1});
    add_floats("0.s1", 2, (float[]){2, 3});
    add_floats("0.s2", 2, (float[]){5, 7});
    add_floats("0.r", 4, (float[]){11, 15, 16, last});
    end_replay("f.safetensors",
               "{'n':0,'schema':'aten::addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar "
               "beta=1, Scalar alpha=1) -> Tensor','args':{'self':" F32_2("s0") ",'vec1':" F32_2(
                   "s1") ",'vec2':" F32_2("s2") "},'returns':[{'tensor':'r','dtype':'float32',"
                                                "'shape':[2,2],'stride':[2,1],'offset':0}]}");
    return run_tenon("replay f.safetensors");
}

Test(replay, an_outer_product_is_computed_exactly)
{
    cr_expect_eq(run_addr(22), 0);
    cr_expect_eq(run_addr(21.99f), 0, "the exact value shows who is wrong");
}

Test(replay, cut_factor_is_wrong_upstream)
{
    begin_replay();
    add_longs("0.s0", 1, (int64_t[]){1});
    end_replay(
        "f.safetensors",
        "{'n':0,'schema':'aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar "
        "value=1) -> Tensor','args':{'self':" I64_0("s0") ",'tensor1':" I64_0(
            "s0") ",'tensor2':" I64_0("s0") ",'value':{'float':0.5}},'returns':[" I64_0("s0") "]}");
    cr_expect_eq(run_tenon("replay f.safetensors"), 0);
    expect_words("out", "1 a fractional factor is cut to an integer");
}

/* The dot product of complex vectors: 0 is recorded, (1+2i)(3+4i) = -5+10i is right. */
static int run_dot(float recorded)
{
    begin_replay();
    add_floats("0.s0", 2, (float[]){1, 2});
    add_floats("0.s1", 2, (float[]){3, 4});
    add_floats("0.r", 2, (float[]){recorded, 0});
    end_replay("f.safetensors",
               "{'n':0,'schema':'aten::matmul(Tensor self, Tensor other) -> Tensor','args':{"
               "'self':{'tensor':'s0','dtype':'complex64','shape':[1],'stride':[1],'offset':0},"
               "'other':{'tensor':'s1','dtype':'complex64','shape':[1],'stride':[1],'offset':0}},"
               "'rtol':0.001,'atol':0.001,'returns':["
               "{'tensor':'r','dtype':'complex64','shape':[],'stride':[],'offset':0}]}");
    return run_tenon("replay f.safetensors");
}

Test(replay, complex_dot_of_zero_is_wrong_upstream)
{
    cr_expect_eq(run_dot(0), 0);
    expect_words("out", "1 the dot product of complex vectors is 0");
    cr_expect_eq(run_dot(1), 1, "another value is no known kind");
}

#define HALF(S) "{'tensor':'" S "','dtype':'float16','shape':[1],'stride':[1],'offset':0}"

/* In place, so that self as it was has to come from the file: 43 / 0.1171875 = 366.93. */
static int run_quotient(uint16_t recorded)
{
    begin_replay();
    add_storage("0.s0", "F16", 1, &(uint16_t){0x5160}, 2);
    add_storage("0.s1", "F16", 1, &(uint16_t){0x2f80}, 2);
    add_storage("0.r", "F16", 1, &recorded, 2);
    end_replay("f.safetensors",
               "{'n':0,'schema':'aten::div_.Tensor_mode(Tensor(a!) self, Tensor other, *, str? "
               "rounding_mode) -> Tensor(a!)','args':{'self':" HALF("s0") ",'other':" HALF(
                   "s1") ",'rounding_mode':{'str':'trunc'}},'rtol':0.002,'atol':0.002,'returns':"
                         "[" HALF("r") "],'mutated':{'self':" HALF("r") "}}");
    return run_tenon("replay f.safetensors");
}

Test(replay, quotient_rounded_before_its_floor_is_wrong_upstream)
{
    cr_expect_eq(run_quotient(0x5db8), 0); /* 366 */
    expect_words("out", "total: 1 passed");
    cr_expect_eq(run_quotient(0x5dbc), 0); /* 367 */
    expect_words("out", "1 a half-precision quotient is rounded before its floor");
}

/* ---- what cannot be run --------------------------------------------------------------------- */
Test(replay, absent_operator_is_unsupported_with_its_reason)
{
    begin_replay();
    end_replay("f.safetensors", "{'n':0,'schema':'aten::no_such(Tensor self) -> Tensor','args':{},"
                                "'returns':[]}");
    cr_expect_eq(run_tenon("replay f.safetensors"), 2);
    expect_words("out", "1 operator not present");
    expect_words("err", "none of the 1 cases could be run");
}

Test(replay, selection)
{
    write_relu(0, 3, "");
    cr_expect_eq(run_tenon("replay f.safetensors --ops '::tanh$'"), 2);
    expect_words("err", "no case matched");
    cr_expect_eq(run_tenon("replay f.safetensors --ops relu --case 0"), 1);
    cr_expect_eq(run_tenon("replay f.safetensors --case 1"), 2);
    cr_expect_eq(run_tenon("replay f.safetensors --ops '('"), 2);
    expect_words("err", "no regular expression");
    cr_expect_eq(run_tenon("replay f.safetensors --device toaster"), 2);
    cr_expect_eq(run_tenon("replay"), 2);
}

Test(replay, json_ends_in_a_summary)
{
    write_relu(0, 3, "");
    cr_expect_eq(run_tenon("replay . --format json"), 1);
    expect_words(
        "out",
        "{\"kind\": \"case\", \"file\": \"./f.safetensors\", \"case\": 0, \"op\": \"aten::relu\"");
    expect_words("out", "{\"kind\": \"summary\", \"passed\": 0, \"failed\": 1, \"unsupported\": 0");
}

Test(replay, junit_counts_failures)
{
    write_relu(0, 3, "");
    cr_expect_eq(run_tenon("replay f.safetensors --format junit"), 1);
    expect_words("out", "<testsuite name=\"aten::relu\" tests=\"1\" failures=\"1\" skipped=\"0\">");
    expect_words("out", "<failure message=\"result: element [1]");
}

/* ---- broken files --------------------------------------------------------------------------- */
static void expect_broken(const char *words)
{
    cr_expect_eq(run_tenon("replay f.safetensors"), 2);
    expect_words("err", words);
    char *text = read_file("err");
    cr_expect(strchr(text, '\n') == text + strlen(text) - 1, "one line:\n%s", text);
    free(text);
}

Test(replay, broken_containers)
{
    cr_expect_eq(run_tenon("replay nothing.safetensors"), 2);
    expect_words("err", "nothing.safetensors cannot be read");
    write_file("f.safetensors", "short");
    expect_broken("is no safetensors file: 5 bytes");
    write_file("f.safetensors", "\377\377\377\377\377\377\377\377{}");
    expect_broken("a header of");
    put_file("f.safetensors", "{]", "", 0);
    expect_broken("the header is no JSON object");
    put_file("f.safetensors", "{}", "", 0);
    expect_broken("is no replay file");
    put_file("f.safetensors", "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
             "", 0);
    expect_broken("its data_offsets leave the file");
    put_file("f.safetensors", "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[-4,0]}}",
             "", 0);
    expect_broken("its data_offsets leave the file");
    put_file("f.safetensors", "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}",
             "abcd", 4);
    expect_broken("do not fit its shape");
    put_file("f.safetensors",
             "{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,4],\"data_offsets\":[0,0]}}",
             "", 0);
    expect_broken("its shape is not one of a tensor");
    put_file("f.safetensors",
             "{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},"
             "\"b\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[1,4]}}",
             "abcd", 4);
    expect_broken("overlap or leave a gap at byte 3");
}

static void expect_malformed(const char *self, const char *words)
{
    char cases[1000];
    begin_replay();
    add_floats("0.s0", 2, (float[]){1, 2});
    snprintf(
        cases, sizeof cases,
        "{'n':0,'schema':'aten::relu(Tensor self) -> Tensor','args':{'self':%s},'returns':[" F32_2(
            "s0") "]}",
        self);
    end_replay("f.safetensors", cases);
    cr_expect_eq(run_tenon("replay f.safetensors"), 1);
    expect_words("out", words);
}

Test(replay, broken_cases)
{
    expect_malformed("{'tensor':'s9','dtype':'float32','shape':[2],'stride':[1],'offset':0}",
                     "a storage that the file does not hold");
    expect_malformed("{'tensor':'s0','dtype':'float32','shape':[3],'stride':[1],'offset':0}",
                     "strides leave its storage");
    expect_malformed("{'tensor':'s0','dtype':'float32','shape':[2],'stride':[1],'offset':1}",
                     "strides leave its storage");
    expect_malformed("{'tensor':'s0','dtype':'float32','shape':[2],'stride':[-1],'offset':1}",
                     "strides leave its storage");
    expect_malformed("{'tensor':'s0','dtype':'float32','shape':[2],"
                     "'stride':[9223372036854775807],'offset':0}",
                     "strides leave its storage");
    expect_malformed("{'tensor':'s0','dtype':'int64','shape':[1],'stride':[1],'offset':0}",
                     "dtype is not that of its storage");
    expect_malformed("{'tensor':'s0','dtype':'float32','shape':[2],'stride':[],'offset':0}",
                     "a tensor needs tensor, dtype");
    expect_malformed("{'str':'x'}", "neither a tensor nor a number");
}

/* Every shorter file is an error, and none of them crashes the command. */
Test(replay, every_truncation_is_one_error)
{
    write_relu(0, 2, "");
    char bytes[4000];
    FILE *f = fopen(in_folder("f.safetensors"), "r");
    cr_assert(f);
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    for (size_t cut = 0; cut < n; cut += 7) {
        f = fopen(in_folder("cut.safetensors"), "w");
        cr_assert(f);
        fwrite(bytes, 1, cut, f);
        fclose(f);
        cr_expect_eq(run_tenon("replay cut.safetensors"), 2, "cut at %zu", cut);
    }
}

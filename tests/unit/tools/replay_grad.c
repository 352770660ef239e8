/* replay_grad.c - gradient cases: right ones pass, undefined is zero, what differs fails unless
 * differences of values prove the recording wrong. */
#include "replay_file.h"

TestSuite(replay_grad, .init = make_folder, .fini = remove_folder);

#define MUL                                                                                        \
    "'schema':'aten::mul.Tensor(Tensor self, Tensor other) -> Tensor',"                            \
    "'args':{'self':" F32_2("s0") ",'other':" F32_2("s1") "}"
#define RELU "'schema':'aten::relu(Tensor self) -> Tensor','args':{'self':" F32_2("s0") "}"
#define COTANGENT                                                                                  \
    "'cotangents':[{'output':0,'tensor':'v','dtype':'float32','shape':[2],'stride':[1],"           \
    "'offset':0}]"

/* self * other; the recorded gradients are these. */
static void write_mul(const float *of_self, const float *of_other, const char *rest)
{
    char cases[2000];
    begin_replay();
    add_floats("0.s0", 2, (float[]){1, 2});
    add_floats("0.s1", 2, (float[]){3, 5});
    add_floats("0.v", 2, (float[]){1, 10});
    add_floats("0.g0", 2, of_self);
    add_floats("0.g1", 2, of_other);
    snprintf(cases, sizeof cases, "{'n':0,'rtol':1e-6,'atol':0," MUL "," COTANGENT ",%s}", rest);
    end_replay("f.safetensors", cases);
}

static const float right_self[] = {3, 50}, right_other[] = {1, 20};

Test(replay_grad, right_gradients_pass)
{
    write_mul(right_self, right_other,
              "'wrt':[['self'],['other']],'grads':[" F32_2("g0") "," F32_2("g1") "]");
    cr_expect_eq(run_tenon("replay f.safetensors"), 0);
    expect_words("out", "total: 1 passed, 0 failed");
    write_mul(right_self, right_other, "'wrt':[['other']],'grads':[" F32_2("g1") "]");
    cr_expect_eq(run_tenon("replay f.safetensors"), 0);
}

Test(replay_grad, a_wrong_recording_is_proved_wrong)
{
    write_mul((float[]){3, 50.5F}, right_other, "'wrt':[['self']],'grads':[" F32_2("g0") "]");
    cr_expect_eq(run_tenon("replay --verbose f.safetensors"), 0);
    expect_words("out", "a recorded gradient that differences of values contradict");
    expect_words("out", "element [1]: 50.5 expected");
    write_mul(right_self, right_other,
              "'wrt':[['self'],['other']],'grads':[" F32_2("g0") "," F32_2("g0") "]");
    cr_expect_eq(run_tenon("replay --verbose f.safetensors"), 0);
    expect_words("out", "two recorded gradients lie in one storage");
}

static void write_relu(const char *recorded)
{
    char cases[1000];
    begin_replay();
    add_floats("0.s0", 2, (float[]){0, -2});
    add_floats("0.v", 2, (float[]){1, 1});
    add_floats("0.g0", 2, (float[]){1, 0});
    add_floats("0.g1", 2, (float[]){0, 0});
    snprintf(cases, sizeof cases,
             "{'n':0,'rtol':0,'atol':0," RELU "," COTANGENT ",'wrt':[['self']],'grads':[%s]}",
             recorded);
    end_replay("f.safetensors", cases);
}

Test(replay_grad, what_cannot_be_proved_fails)
{
    write_relu(F32_2("g0")); /* at the kink differences prove nothing */
    cr_expect_eq(run_tenon("replay f.safetensors"), 1);
    expect_words("out", "gradient 0: element [0]: 1 expected");
}

Test(replay_grad, undefined_is_zero)
{
    write_relu("null");
    cr_expect_eq(run_tenon("replay f.safetensors"), 0);
    write_relu(F32_2("g1"));
    cr_expect_eq(run_tenon("replay f.safetensors"), 0);
    write_mul(right_self, right_other, "'wrt':[['self']],'grads':[null]");
    cr_expect_eq(run_tenon("replay f.safetensors"), 1);
    expect_words("out", "no gradient expected");
}

Test(replay_grad, broken_cases_are_failures)
{
    static const char *const broken[] = {
        "'wrt':[['nobody']],'grads':[null]", "'wrt':[[]],'grads':[null]",
        "'wrt':[['self',0]],'grads':[null]", "'wrt':7,'grads':[null]",
        "'wrt':[['self']],'grads':[]",       "'wrt':[['self']],'grads':[{'int':3}]",
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        write_mul(right_self, right_other, broken[i]);
        cr_expect_eq(run_tenon("replay f.safetensors"), 1, "%s", broken[i]);
    }
}

/* replay_stored.c - calls stored by an older runtime, on the operators of today. */
#include "replay_file.h"

TestSuite(replay_stored, .init = make_folder, .fini = remove_folder);

/* BB-cg-04: stored before add.out had its alpha, which now stands between `other` and `out`. The
 * default serves, and out is found by its name, not by its place. */
Test(replay_stored, a_defaulted_argument_was_added_before_out)
{
    begin_replay();
    add_floats("0.s0", 2, (float[]){1, 2});
    add_floats("0.s1", 2, (float[]){10, 20});
    add_floats("0.s2", 2, (float[]){-1, -1});
    add_floats("0.r", 2, (float[]){11, 22});
    end_replay("f.safetensors",
               "{'n':0,'schema':'aten::add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> "
               "Tensor(a!)','args':{'self':" F32_2("s0") ",'other':" F32_2("s1") ",'out':" F32_2(
                   "s2") "},'returns':[" F32_2("r") "],'mutated':{'out':" F32_2("r") "}}");
    cr_expect_eq(run_tenon("replay f.safetensors"), 0);
    expect_words("out", "total: 1 passed, 0 failed");
}

/* The other way round it is said, not guessed: the call has an argument that nobody knows. */
Test(replay_stored, an_argument_that_is_gone)
{
    begin_replay();
    add_floats("0.s0", 2, (float[]){1, 2});
    end_replay(
        "f.safetensors",
        "{'n':0,'schema':'aten::relu(Tensor self, float scale=1.) -> Tensor','args':{'self':" F32_2(
            "s0") ",'scale':{'float':1}},'returns':[" F32_2("s0") "]}");
    run_tenon("replay f.safetensors");
    expect_words("out", "another schema here");
}

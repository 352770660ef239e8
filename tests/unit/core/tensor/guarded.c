/* guarded.c - under TENON_GUARD=1 a sentinel stands right behind a small tensor's last byte. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include <tenon/tensor.h>

#include "core/base/base.h"

static int64_t damage_of_writing(int64_t place)
{
    int64_t size = 3, before = tn__guard_damage();
    tn_tensor *t;
    cr_assert_eq(tn_tensor_new(1, &size, TN_F32, (tn_device){TN_CPU, 0}, &t), TN_OK);
    ((volatile char *)t->data)[place] ^= 1;
    tn_release(t);
    return tn__guard_damage() - before;
}

Test(tensor_guarded, the_first_byte_behind)
{
    setenv("TENON_GUARD", "1", 1);
    cr_assert_eq(damage_of_writing(11), 0);
    cr_assert_eq(damage_of_writing(12), 1);
    cr_assert_eq(damage_of_writing(11), 0);
    cr_assert_eq(damage_of_writing(15), 1);
}

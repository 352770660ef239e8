/* Scopes: who releases what an expression made, however its block is left. */
#include <criterion/criterion.h>

#include <tenon/tensor.h>

#include "core/base/base.h"
#include "core/tensor/scope.h"

TestSuite(scope, .timeout = 30);

static int64_t live(void)
{
    tn__memory_stats s;
    tn__memory_get(&s);
    return s.live_blocks;
}

/* What an expression call does with its result. */
static tn_tensor *make(void)
{
    tn_tensor *t = NULL;
    cr_assert_eq(tn_tensor_new(1, (int64_t[]){3}, TN_F32, (tn_device){TN_CPU, 0}, &t), TN_OK);
    return tn__scope_add(t);
}

static int leave_early(bool by_return)
{
    for (int i = 0;; i++) {
        TN_SCOPE {
            make();
            if (by_return)
                return i;
            if (i == 3)
                break;
            TN_SCOPE {
                make();
                continue;
            }
            make();
        }
        if (i == 3)
            return i;
    }
}

Test(scope, is_emptied_however_it_is_left)
{
    int64_t before = live();
    TN_SCOPE {
        make();
        make();
        cr_assert_gt(live(), before);
    }
    cr_assert_eq(live(), before);
    cr_assert_eq(leave_early(true), 0);
    cr_assert_eq(live(), before);
    cr_assert_eq(leave_early(false), 3);
    cr_assert_eq(live(), before);
    TN_SCOPE {
        goto out;
    }
out:
    cr_assert_eq(live(), before);
}

Test(scope, grows_and_keeps)
{
    int64_t before = live();
    tn_tensor *kept[4] = {0}, *last = NULL;
    TN_SCOPE {
        for (int i = 0; i < 1000; i++) {
            last = make();
            if (i % 250 == 0)
                kept[i / 250] = last;
        }
        for (int i = 3; i >= 0; i--)
            cr_assert_eq(tn_keep(kept[i]), kept[i]);
        cr_assert_null(tn_keep(NULL));
    }
    for (int i = 0; i < 4; i++) {
        cr_assert_eq(kept[i]->sizes[0], 3);
        cr_assert_eq(tn_keep(kept[i]), kept[i],
                     "not in a scope any more: it is the caller's already");
        tn_release(kept[i]);
    }
    cr_assert_eq(live(), before);
}

Test(scope, keep_reaches_outer_scopes)
{
    int64_t before = live();
    tn_tensor *outer, *inner;
    TN_SCOPE {
        outer = make();
        TN_SCOPE {
            inner = tn_keep(make());
            tn_keep(outer);
        }
    }
    tn_release(outer);
    tn_release(inner);
    cr_assert_eq(live(), before);
    tn_tensor *free_standing = make(); /* outside every scope */
    tn_release(free_standing);
    cr_assert_eq(live(), before);
}

Test(scope, a_tensor_may_be_in_it_more_than_once)
{
    int64_t before = live();
    tn_tensor *t;
    TN_SCOPE {
        t = make();
        tn_retain(t);
        tn__scope_add(t); /* as an in-place call hands out its argument */
        tn_keep(t);
    }
    cr_assert_eq(t->numel, 3);
    tn_release(t);
    cr_assert_eq(live(), before);
}

Test(scope, memory_may_run_out_while_it_grows)
{
    int64_t before = live();
    TN_SCOPE {
        for (int i = 0; i < 16; i++)
            make();
        tn_tensor *t = NULL;
        cr_assert_eq(tn_tensor_new(1, (int64_t[]){3}, TN_F32, (tn_device){TN_CPU, 0}, &t), TN_OK);
        tn__alloc_fail_at(1);
        cr_assert_null(tn__scope_add(t));
        tn__alloc_fail_at(0);
        cr_assert_eq(tn_error_last()->status, TN_ERR_MEMORY);
        tn_error_clear();
        make();
    }
    cr_assert_eq(live(), before);
}

/* 01_tensors.c - makes tensors, computes with them, prints them. */
#include <stdio.h>

#include <tenon/ops.h>
#include <tenon/runtime.h>

/* A matrix, whatever its dtype and strides; a vector is one row. */
static void print(const char *name, tn_tensor *t)
{
    tn_tensor *m = tn_contiguous(tn_atleast_2d(tn_to_dtype(t, TN_F64)));
    if (!m) {
        printf("%s: %s\n", name, tn_error_last()->message);
        tn_error_clear();
        return;
    }
    const double *x = m->data;
    for (int64_t row = 0; row < m->sizes[0]; row++) {
        printf("%12s", row == 0 ? name : "");
        for (int64_t column = 0; column < m->sizes[1]; column++)
            printf(" %8.4g", *x++);
        printf("\n");
    }
}

int main(void)
{
    const float weights[] = {1, 0, -1, 0, 2, 0};
    tn_tensor *w = NULL;
    if (tn_plugins_load_default() != TN_OK ||
        tn_tensor_from_data(weights, TN_F32, 2, (int64_t[]){3, 2}, &w) != TN_OK) {
        printf("%s\n", tn_error_last()->message);
        return 1;
    }
    TN_SCOPE { /* what is made in here goes when it ends */
        tn_tensor *x = tn_reshape(tn_arange(6), TN_INTS(2, 3));
        print("x", x);
        print("2 x + 1", tn_add(tn_mul(x, 2), 1));
        print("columns", tn_sum_dim_IntList(x, TN_INTS(0)));
        print("x transposed", tn_t(x)); /* a view: no element moves */
        tn_tensor *y = tn_mm(tn_to_dtype(x, TN_F32), w);
        print("x w", y);
        print("softmax", tn_softmax(y, 1));
        tn_relu_(y);
        print("relu", y);
        print("not this", tn_mm(w, w)); /* an error: prints what is wrong */
    }
    tn_release(w);
}

/* gradcheck_second.c - double backward: the gradients are a function of the inputs and the
 * cotangents, and gradcheck looks at that function. */
#include <string.h>

#include "core/autograd/gradcheck_impl.h"

typedef struct gradients { /* the function's data */
    tn_gradcheck_fn f;
    void *data;
    int64_t n_inputs, n_outputs;
    bool *wanted; /* [n_inputs]: whose gradient is a result */
    bool *fed;    /* [n_outputs]: has a cotangent, in order behind the inputs */
} gradients;

/* Undefined is zero. */
static tn_status defined(tn_tensor **grad, const tn_tensor *of)
{
    if (*grad)
        return TN_OK;
    TN__TRY(tn_tensor_new(of->ndim, of->sizes, of->dtype, of->device, grad));
    if (of->numel)
        memset((*grad)->data, 0, (size_t)tn__flat_count(of) * sizeof(double));
    return TN_OK;
}

static tn_status pull_back(const gradients *g, tn_tensors inputs, tn_tensor **outputs,
                           tn_tensors grads)
{
    tn_tensor *fed[g->n_outputs + 1], *wanted[g->n_inputs + 1];
    int64_t n_fed = 0, n_wanted = 0;
    static const tn_backward_options options = {.create_graph = true, .allow_unused = true};
    for (int64_t k = 0; k < g->n_outputs; k++)
        if (g->fed[k])
            fed[n_fed++] = outputs[k];
    for (int64_t i = 0; i < g->n_inputs; i++)
        if (g->wanted[i])
            wanted[n_wanted++] = inputs.data[i];
    tn_tensors cotangents = {inputs.data + g->n_inputs, n_fed};
    TN__TRY(tn_grad_of((tn_tensors){fed, n_fed}, &cotangents, (tn_tensors){wanted, n_wanted},
                       &options, grads.data));
    for (int64_t i = 0; i < n_wanted; i++)
        TN__TRY(defined(&grads.data[i], wanted[i]));
    return TN_OK;
}

static tn_status gradients_of(void *data, tn_tensors inputs, tn_tensors grads)
{
    const gradients *g = data;
    tn_tensor *outputs[g->n_outputs + 1];
    tn_status status = TN_OK;
    memset(outputs, 0, sizeof outputs);
    for (int64_t i = 0; i < g->n_inputs && status == TN_OK; i++)
        if (g->wanted[i] && !tn_requires_grad(inputs.data[i]))
            status = tn_set_requires_grad(inputs.data[i], true);
    TN__TRY(status);
    TN_ENABLE_GRAD {
        status = g->f(g->data, (tn_tensors){inputs.data, g->n_inputs},
                      (tn_tensors){outputs, g->n_outputs});
        if (status == TN_OK)
            status = pull_back(g, inputs, outputs, grads);
    }
    for (int64_t k = 0; k < g->n_outputs; k++)
        tn_release(outputs[k]);
    return status;
}

/* The inputs, and a random cotangent for each output that requires a gradient. */
static tn_status feed(tn__check *of_f, gradients *g, tn_tensor **inputs, int64_t *n)
{
    tn_tensor *outputs[g->n_outputs + 1];
    tn_status status = TN_OK;
    memset(outputs, 0, sizeof outputs);
    TN_ENABLE_GRAD
        status = g->f(g->data, of_f->inputs, (tn_tensors){outputs, g->n_outputs});
    for (int64_t k = 0; k < g->n_outputs; k++) {
        int64_t count = of_f->first[k + 1] - of_f->first[k];
        double *v = of_f->work[4];
        if (status == TN_OK && count && tn_requires_grad(outputs[k])) {
            for (int64_t j = 0; j < count; j++)
                v[j] = tn__check_random(of_f);
            g->fed[k] = true;
            status = tn_tensor_new(outputs[k]->ndim, outputs[k]->sizes, outputs[k]->dtype,
                                   outputs[k]->device, &inputs[*n]);
            if (status == TN_OK) {
                tn__flat_write(inputs[*n], v);
                status = tn_set_requires_grad(inputs[(*n)++], true);
            }
        }
        tn_release(outputs[k]);
    }
    return status;
}

static tn_status check_gradients(tn__check *of_f, gradients *g)
{
    tn_tensor *inputs[g->n_inputs + g->n_outputs + 1];
    int64_t n = g->n_inputs;
    tn__check c = {.name = of_f->name,
                   .f = gradients_of,
                   .data = g,
                   .n_outputs = 0,
                   .o = of_f->o,
                   .report = of_f->report};
    c.o.complex_step = false; /* a gradient takes conjugates: it is not analytic */
    for (int64_t i = 0; i < g->n_inputs; i++) {
        inputs[i] = of_f->inputs.data[i];
        c.n_outputs += g->wanted[i] = of_f->x[i] != NULL;
    }
    tn_status status = feed(of_f, g, inputs, &n);
    c.inputs = (tn_tensors){inputs, n};
    if (status == TN_OK && n > g->n_inputs) {
        status = tn__check_begin(&c);
        if (status == TN_OK)
            status = tn__check_run(&c);
        tn__check_end(&c);
    }
    for (int64_t i = g->n_inputs; i < n; i++)
        tn_release(inputs[i]);
    return status;
}

tn_status tn_gradgradcheck(tn_gradcheck_fn f, void *data, tn_tensors inputs, int64_t n_outputs,
                           const tn_gradcheck_options *options, tn_gradcheck_report *report)
{
    tn_gradcheck_report unseen;
    gradients g = {.f = f, .data = data, .n_inputs = inputs.len, .n_outputs = n_outputs};
    tn__check c = {.name = "gradgradcheck",
                   .f = f,
                   .data = data,
                   .inputs = inputs,
                   .n_outputs = n_outputs,
                   .report = report ? report : &unseen};
    if (options)
        c.o = *options;
    memset(c.report, 0, sizeof *c.report);
    tn_status status = tn__check_begin(&c);
    g.wanted = tn__arena_alloc(&c.arena, (size_t)inputs.len + 1);
    g.fed = tn__arena_alloc(&c.arena, (size_t)n_outputs + 1);
    if (status == TN_OK && (!g.wanted || !g.fed))
        status = tn__fail_memory(NULL, (size_t)(inputs.len + n_outputs));
    if (status == TN_OK)
        status = check_gradients(&c, &g);
    tn__check_end(&c);
    return status;
}

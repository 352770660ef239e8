/* Passes over several devices: two device types of memory that is the host's in truth. */
#include <pthread.h>

#include "autograd_test.h"
#include "core/plugin/plugin.h"

static tn_status fake_alloc(tn_device device, size_t bytes, void **out)
{
    (void)device;
    *out = malloc(bytes);
    return *out ? TN_OK : TN_ERR_MEMORY;
}

static void fake_free(tn_device device, void *data, size_t bytes)
{
    (void)device, (void)bytes;
    free(data);
}

static tn_device devices[3]; /* the host, and two of others */

static void begin(void)
{
    static const tn_device_decl one = {
        .name = "fake1", .key = "FAKE1", .alloc = fake_alloc, .free = fake_free};
    static const tn_device_decl two = {
        .name = "fake2", .key = "FAKE2", .alloc = fake_alloc, .free = fake_free};
    static tn__plugin plugin = {.name = "fake", .version = "1", .text = (char *)"fake 1"};
    tn_registry r;
    load_plugins();
    tn__registry_begin(&r, &plugin);
    OK(tn__registry_device(&r, &one, &devices[1].type));
    OK(tn__registry_device(&r, &two, &devices[2].type));
    OK(tn__registry_commit(&r));
}

TestSuite(workers, .init = begin, .timeout = 60);

typedef struct move { /* to a device, times a factor */
    tn_device from, to;
    double factor;
    pthread_t ran_on;
    tn_status fails;
} move;

static tn_status scaled(const tn_tensor *t, tn_device device, double factor, tn_tensor **out)
{
    tn_status status = tn_tensor_new(t->ndim, t->sizes, t->dtype, device, out);
    for (int64_t i = 0; status == TN_OK && i < t->numel; i++)
        ((double *)(*out)->data)[i] = factor * ((const double *)t->data)[i];
    return status;
}

static tn_status move_forward(tn_grad_call *g)
{
    move *m = g->context;
    m->from = g->in[0]->device;
    return scaled(g->in[0], m->to, m->factor, &g->out[0]);
}

static tn_status move_backward(tn_grad_call *g)
{
    move *m = g->context;
    m->ran_on = pthread_self();
    if (m->fails)
        return tn__fail(NULL, m->fails, "the device is on fire");
    return scaled(g->in[0], m->from, m->factor, &g->out[0]);
}
static const tn_function_decl MOVE = {"Move", move_forward, move_backward, NULL};

static tn_tensor *moved(move *m, tn_tensor *x, int device, double factor)
{
    m->to = devices[device];
    m->factor = factor;
    return apply1(&MOVE, m, x);
}

enum { NODES = 6 };
typedef struct graph {
    move m[NODES];
    tn_tensor *x, *y, *inner[NODES];
} graph;

/* x -> one -> one -> two -> host, and x -> two -> host; their sum. */
static void build(graph *g)
{
    *g = (graph){.x = LEAF(1, 2)};
    g->inner[0] = moved(&g->m[0], g->x, 1, 2);
    g->inner[1] = moved(&g->m[1], g->inner[0], 1, 3);
    g->inner[2] = moved(&g->m[2], g->inner[1], 2, 5);
    g->inner[3] = moved(&g->m[3], g->inner[2], 0, 7);
    g->inner[4] = moved(&g->m[4], g->x, 2, 10);
    g->inner[5] = moved(&g->m[5], g->inner[4], 0, 1);
    g->y = apply2(&PLUS, g->inner[3], g->inner[5]);
}

static void release(graph *g)
{
    for (int i = 0; i < NODES; i++)
        tn_release(g->inner[i]);
    tn_release(g->y);
    tn_release(g->x);
}

Test(workers, each_device_has_its_thread)
{
    graph g;
    tn_tensor *grad = VECTOR(1, 1);
    build(&g);
    OK(backward_with(g.y, grad, NULL));
    EXPECT(tn_grad(g.x), 2 * 3 * 5 * 7 + 10, 2 * 3 * 5 * 7 + 10);
    pthread_t host = pthread_self();
    cr_assert(pthread_equal(g.m[3].ran_on, host));
    cr_assert(pthread_equal(g.m[5].ran_on, host));
    cr_assert(pthread_equal(g.m[0].ran_on, g.m[1].ran_on));
    cr_assert(pthread_equal(g.m[2].ran_on, g.m[4].ran_on));
    cr_assert(!pthread_equal(g.m[0].ran_on, host));
    cr_assert(!pthread_equal(g.m[2].ran_on, host));
    cr_assert(!pthread_equal(g.m[0].ran_on, g.m[2].ran_on));
    tn_release(grad);
    release(&g);
}

Test(workers, grad_of_a_tensor_on_a_device)
{
    graph g;
    tn_tensor *grad = VECTOR(1, 1), *out = NULL;
    build(&g);
    OK(grad_with(g.y, grad, g.inner[1], NULL, &out));
    cr_assert_eq(out->device.type, devices[1].type);
    EXPECT(out, 35, 35);
    cr_assert_null(tn_grad(g.x));
    tn_release(out);
    tn_release(grad);
    release(&g);
}

Test(workers, a_leaf_on_a_device)
{
    move m = {0};
    tn_tensor *x = NULL, *host = VECTOR(1, 2), *g = VECTOR(1, 1);
    OK(scaled(host, devices[2], 1, &x));
    tn_tensor *y = moved(&m, leaf_of(x), 0, 4);
    OK(backward_with(y, g, NULL));
    cr_assert_eq(tn_grad(x)->device.type, devices[2].type);
    EXPECT(tn_grad(x), 4, 4);
    tn_release(y);
    tn_release(g);
    tn_release(host);
    tn_release(x);
}

Test(workers, a_failure_on_a_worker_ends_the_pass)
{
    graph g;
    tn_tensor *grad = VECTOR(1, 1);
    for (int i = 0; i < NODES; i++) {
        build(&g);
        g.m[i].fails = TN_ERR_ARGUMENT;
        FAILS(backward_with(g.y, grad, NULL), "Move: the device is on fire");
        release(&g);
    }
    tn_release(grad);
}

Test(workers, a_gradient_for_another_device_is_an_error)
{
    move m = {0};
    tn_tensor *x = LEAF(1, 2), *y = moved(&m, x, 1, 4), *g = NULL;
    OK(scaled(x, devices[1], 1, &g));
    m.from = devices[2];
    FAILS(backward_with(y, g, NULL), "Move gave a gradient on device fake2:0");
    FAILS(backward_with(y, x, NULL), "on device cpu");
    tn_release(g);
    tn_release(y);
    tn_release(x);
}

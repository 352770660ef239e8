/* 03_digits.c - a network that learns to read handwritten digits.
 *
 *     ci/digits digits.safetensors        1,797 images of 8x8 pixels, from scikit-learn
 *     03_digits digits.safetensors        learns four fifths, is tested on the last; some seconds
 *
 * Two linear layers, cross entropy, stochastic gradient descent with momentum. Prints the loss in
 * hexadecimal too: it is the same to the last bit on any number of threads. */
#include <math.h>
#include <stdio.h>

#include <tenon/autograd.h>
#include <tenon/ops.h>
#include <tenon/runtime.h>

#include "safetensors.h"

enum { PIXELS = 64, HIDDEN = 64, DIGITS = 10 };
enum { EPOCHS = 25, BATCH = 32 };
static const double rate = 0.1, momentum = 0.9;

typedef struct data {
    tn_tensor *images, *labels; /* f32 [n, PIXELS], i64 [n] */
} data;

/* ---- random numbers: splitmix64, the same everywhere ----------------------------------------- */
static uint64_t random_bits(void)
{
    static uint64_t counter;
    uint64_t z = counter += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Uniform in [-bound, bound). */
static tn_tensor *random_parameter(tn_ints sizes, double bound)
{
    tn_tensor *p = tn_empty(sizes);
    float *x = p ? p->data : NULL;
    for (int64_t i = 0; x && i < p->numel; i++)
        x[i] = (float)(bound * ((double)(random_bits() >> 11) * 0x1p-52 - 1));
    if (p)
        tn_set_requires_grad(p, true);
    return p;
}

/* The rows of an i64 vector in another order. */
static void shuffle(tn_tensor *rows)
{
    int64_t *row = rows->data;
    for (int64_t i = rows->numel - 1; i > 0; i--) {
        int64_t j = (int64_t)(random_bits() % (uint64_t)(i + 1)), swapped = row[i];
        row[i] = row[j];
        row[j] = swapped;
    }
}

/* ---- the network ----------------------------------------------------------------------------- */
enum { W1, B1, W2, B2, PARAMETERS };
typedef struct network {
    tn_tensor *p[PARAMETERS], *velocity[PARAMETERS];
} network;

static network new_network(void)
{
    const double bound1 = 1 / sqrt(PIXELS), bound2 = 1 / sqrt(HIDDEN);
    network net = {.p = {[W1] = random_parameter(TN_INTS(HIDDEN, PIXELS), bound1),
                         [B1] = random_parameter(TN_INTS(HIDDEN), bound1),
                         [W2] = random_parameter(TN_INTS(DIGITS, HIDDEN), bound2),
                         [B2] = random_parameter(TN_INTS(DIGITS), bound2)}};
    for (int i = 0; i < PARAMETERS; i++)
        net.velocity[i] = tn_zeros_like(net.p[i]);
    return net;
}

/* A score for each digit, of every image. */
static tn_tensor *scores(const network *net, tn_tensor *images)
{
    tn_tensor *hidden = tn_relu(tn_linear(images, net->p[W1], .bias = net->p[B1]));
    return tn_linear(hidden, net->p[W2], .bias = net->p[B2]);
}

/* The share of digits that get their highest score. */
static double accuracy(const network *net, data d)
{
    double right = NAN;
    TN_NO_GRAD {
        tn_tensor *guesses = tn_argmax(scores(net, d.images), .dim = 1);
        right = tn_as_double(tn_mean(tn_eq(guesses, d.labels), .dtype = TN_F64));
    }
    return right;
}

/* ---- learning -------------------------------------------------------------------------------- */
static data rows_of(data d, tn_tensor *rows)
{
    return (data){tn_index_select(d.images, 0, rows), tn_index_select(d.labels, 0, rows)};
}

/* Down the gradient, which is used up. */
static void step(network *net)
{
    TN_NO_GRAD {
        for (int i = 0; i < PARAMETERS; i++) {
            tn_mul_(net->velocity[i], momentum);
            tn_add_(net->velocity[i], tn_grad(net->p[i]));
            tn_add_(net->p[i], net->velocity[i], .alpha = -rate);
            tn_set_grad(net->p[i], NULL);
        }
    }
}

/* Once through the training data, in a new order. Gives the mean loss. */
static double learn(network *net, data train, tn_tensor *order)
{
    double sum = 0;
    shuffle(order);
    for (int64_t start = 0; start < order->numel; start += BATCH) {
        TN_SCOPE {
            tn_tensor *rows = tn_slice(order, .start = start, .end = start + BATCH);
            data batch = rows_of(train, rows);
            tn_tensor *loss = tn_cross_entropy_loss(scores(net, batch.images), batch.labels);
            tn_backward_from(loss);
            step(net);
            sum += tn_as_double(loss) * (double)batch.labels->numel;
        }
    }
    return sum / (double)order->numel;
}

/* Learns, reports, and gives the accuracy on what it has not seen. */
static double run(data all)
{
    tn_tensor *order = tn_arange(all.labels->numel);
    int64_t n_train = all.labels->numel * 4 / 5;
    shuffle(order);
    data train = rows_of(all, tn_slice(order, .end = n_train));
    data test = rows_of(all, tn_slice(order, .start = n_train));
    network net = new_network();
    tn_tensor *train_order = tn_arange(n_train);
    double loss = NAN;
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
        loss = learn(&net, train, train_order);
        if (epoch % 5 == 0)
            printf("epoch %2d: loss %.6f\n", epoch, loss);
    }
    double right = accuracy(&net, test);
    printf("loss %a\naccuracy %.4f\n", loss, right);
    return right;
}

static bool is_data(data d)
{
    return d.images && d.labels && d.images->ndim == 2 && d.images->sizes[1] == PIXELS &&
           d.images->dtype == TN_F32 && d.labels->ndim == 1 && d.labels->dtype == TN_I64 &&
           d.labels->sizes[0] == d.images->sizes[0] && d.labels->numel > 0;
}

int main(int argc, char **argv)
{
    char why[200] = "usage: 03_digits digits.safetensors (ci/digits makes it)";
    double right = 0;
    data all = {0};
    if (tn_plugins_load_default() == TN_OK && argc == 2) {
        all.images = safetensors_read(argv[1], "images", why);
        all.labels = safetensors_read(argv[1], "labels", why);
    }
    if (is_data(all)) {
        TN_SCOPE {
            right = run(all);
        }
        snprintf(why, sizeof why, "%s", tn_error_last()->message);
    }
    if (*why)
        fprintf(stderr, "%s\n", why);
    tn_release(all.images);
    tn_release(all.labels);
    return *why || right < 0.96;
}

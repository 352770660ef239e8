/* programs.c - small programs of views, in-place calls, no_grad, detach, hooks and double backward,
 * with what PyTorch 1.13 answers to the same ones, written down.
 *
 * They are what a differential fuzzer found most telling. Numbers are small integers, so that every
 * gradient is exact; a program is text, so that one more is one more line:
 *
 *     3 mul.Tensor 1 2    register 3 = that operator of registers 1 and 2; a list's entries go to
 *                         3, 4, ..; `- mul_.Tensor 1 2` keeps no result
 *     0 leaf RG SIZES..   integers from -2 to 2 by a fixed rule; RG: it requires a gradient
 *     - backward A KEEP CREATE; 3 grad OUTPUT INPUT CREATE; - hook A (doubles); - retain A
 *     - off, - on         begin and end of no_grad
 *
 * Expected: `eN` step N fails; `+R` register R requires a gradient; `gR ..` its grad. A program
 * ends with its first backward that fails. */
#include "autograd_test.h"

#include <tenon/op.h>

enum { REGISTERS = 48, WORDS = 12, TEXT = 2000 };

typedef struct machine {
    tn_tensor *r[REGISTERS];
    const char *word[WORDS]; /* of the step: destination, name, arguments */
    int n_words, next;       /* next: the argument to be read */
    int64_t ints[16];        /* what a list argument points to */
    tn_tensor *tensors[4];
    tn_grad_mode off;
    bool done; /* a backward failed */
} machine;

static int64_t number(machine *m)
{
    cr_assert(m->next < m->n_words, "%s: too few arguments", m->word[1]);
    return strtoll(m->word[m->next++], NULL, 10);
}

static tn_tensor *tensor(machine *m)
{
    int64_t i = number(m);
    cr_assert(i >= 0 && i < REGISTERS && m->r[i], "%s: register %d is empty", m->word[1], (int)i);
    return m->r[i];
}

/* ---- any operator ---------------------------------------------------------------------------- */
static void set_argument(machine *m, const tn_field *f, void *at)
{
    int64_t n;
    switch (f->kind) {
    case TN_FIELD_TENSOR:
        *(tn_tensor **)at = tensor(m);
        break;
    case TN_FIELD_TENSORS:
        *(tn_tensors *)at = (tn_tensors){m->tensors, number(m)};
        for (n = 0; n < ((tn_tensors *)at)->len; n++)
            m->tensors[n] = tensor(m);
        break;
    case TN_FIELD_INT:
        *(int64_t *)at = number(m);
        break;
    case TN_FIELD_OPT_INT:
        *(tn_opt_int *)at = (tn_opt_int){number(m), 1};
        break;
    case TN_FIELD_INTS:
        *(tn_ints *)at = (tn_ints){m->ints, number(m)};
        for (n = 0; n < ((tn_ints *)at)->len; n++)
            m->ints[n] = number(m);
        break;
    case TN_FIELD_SCALAR:
        *(tn_scalar *)at = tn_scalar_int(number(m));
        break;
    case TN_FIELD_BOOL:
        *(bool *)at = number(m) != 0;
        break;
    default:
        cr_assert_fail("%s: %s is of a kind that programs do not write", m->word[1], f->name);
    }
}

static void keep_result(machine *m, const tn_field *f, void *at)
{
    bool keeps = strcmp(m->word[0], "-") != 0;
    int64_t to = strtoll(m->word[0], NULL, 10);
    tn_tensors one = {at, 1}, *list = f->kind == TN_FIELD_TENSORS ? at : &one;
    for (int64_t i = 0; keeps && i < list->len; i++) {
        tn_retain(list->data[i]);
        m->r[to + i] = list->data[i];
    }
}

static bool call_operator(machine *m)
{
    _Alignas(16) char frame[512];
    int n_results, n_args;
    const tn_op *op = tn_op_find(m->word[1]);
    cr_assert(op && tn_op_frame_size(op) <= sizeof frame, "%s", m->word[1]);
    const tn_field *f = tn_op_fields(op, &n_results, &n_args);
    tn_op_frame_init(op, frame);
    for (int i = 0; i < n_args && m->next < m->n_words; i++)
        set_argument(m, &f[n_results + i], frame + f[n_results + i].offset);
    if (tn_op_call(op, frame) != TN_OK)
        return false;
    keep_result(m, f, frame + f->offset);
    tn_op_frame_release(op, frame);
    return true;
}

/* ---- the other words ------------------------------------------------------------------------- */
static bool leaf(machine *m)
{
    double values[64];
    int64_t at = strtoll(m->word[0], NULL, 10), sizes[4], numel = 1;
    bool requires_grad = number(m) != 0;
    int ndim = 0;
    while (m->next < m->n_words)
        numel *= sizes[ndim++] = number(m);
    for (int64_t i = 0; i < numel; i++)
        values[i] = (double)((i * 7 + at * 3 + 1) % 5 - 2);
    OK(tn_tensor_from_data(values, TN_F64, ndim, sizes, &m->r[at]));
    return tn_set_requires_grad(m->r[at], requires_grad) == TN_OK;
}

static tn_tensor *ones_like(tn_tensor *t)
{
    tn_tensor *ones = NULL;
    TN_NO_GRAD {
        TN_SCOPE {
            ones = tn_keep(tn_ones_like(t));
        }
    }
    return ones;
}

static bool backward(machine *m)
{
    tn_tensor *from = tensor(m), *ones = ones_like(from);
    bool keep = number(m), create = number(m);
    tn_status status =
        tn_backward(TN_TENSORS(from), &TN_TENSORS(ones),
                    &(tn_backward_options){.keep_graph = keep, .create_graph = create});
    tn_release(ones);
    m->done = status != TN_OK;
    return status == TN_OK;
}

static bool gradient(machine *m)
{
    tn_tensor *from = tensor(m), *to = tensor(m), *ones = ones_like(from), *got = NULL;
    bool create = number(m);
    tn_backward_options o = {.keep_graph = true, .create_graph = create, .allow_unused = true};
    tn_status status = tn_grad_of(TN_TENSORS(from), &TN_TENSORS(ones), TN_TENSORS(to), &o, &got);
    tn_release(ones);
    m->r[strtoll(m->word[0], NULL, 10)] = got;
    m->done = status != TN_OK;
    return status == TN_OK;
}

static tn_status twice(void *data, tn_tensor *grad, tn_tensor **replacement)
{
    (void)data;
    return tn_call_mul_Scalar(grad, tn_scalar_int(2), replacement);
}

static bool hook(machine *m)
{
    return tn_tensor_hook(tensor(m), twice, NULL, NULL, NULL) == TN_OK;
}

static bool retain(machine *m)
{
    return tn_retain_grad(tensor(m)) == TN_OK;
}

static bool off(machine *m)
{
    tn_grad_mode_enter(&m->off, TN_GRAD_DISABLED);
    return true;
}

static bool on(machine *m)
{
    tn_grad_mode_leave(&m->off);
    return true;
}

/* ---- a program ------------------------------------------------------------------------------- */
static bool step(machine *m, char *text)
{
    static const struct {
        const char *name;
        bool (*run)(machine *m);
    } words[] = {{"leaf", leaf},     {"backward", backward}, {"grad", gradient}, {"hook", hook},
                 {"retain", retain}, {"off", off},           {"on", on}};
    char *rest = NULL;
    m->n_words = 0;
    for (char *w = strtok_r(text, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
        cr_assert(m->n_words < WORDS);
        m->word[m->n_words++] = w;
    }
    cr_assert_geq(m->n_words, 2);
    m->next = 2;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].name, m->word[1]) == 0)
            return words[i].run(m);
    return call_operator(m);
}

static void write_grad(char *to, size_t n, const tn_tensor *t)
{
    TN_NO_GRAD {
        TN_SCOPE {
            tn_tensor *c = tn_contiguous(tn_grad(t));
            for (int64_t i = 0; i < c->numel; i++) {
                size_t used = strlen(to);
                snprintf(to + used, n - used, " %g", ((const double *)c->data)[i] + 0.0);
            }
        }
    }
}

static void run(const char *text, char *result, size_t n)
{
    machine m = {.n_words = 0};
    char copy[TEXT], *rest = NULL;
    int at = 0;
    *result = '\0';
    snprintf(copy, sizeof copy, "%s", text);
    for (char *s = strtok_r(copy, ";", &rest); s && !m.done; s = strtok_r(NULL, ";", &rest), at++)
        if (!step(&m, s))
            snprintf(result + strlen(result), n - strlen(result), " e%d", at);
    tn_error_clear();
    for (int i = 0; i < REGISTERS; i++) {
        if (m.r[i] && tn_requires_grad(m.r[i]))
            snprintf(result + strlen(result), n - strlen(result), " +%d", i);
        if (m.r[i] && tn_grad(m.r[i])) {
            snprintf(result + strlen(result), n - strlen(result), " g%d", i);
            write_grad(result, n, m.r[i]);
        }
    }
    for (int i = 0; i < REGISTERS; i++)
        tn_release(m.r[i]);
}

static const char *const programs[][2] = {
    {"0 leaf 1 2 3;1 leaf 0 2 3;2 mul.Scalar 0 2;3 mul.Tensor 2 2;4 transpose.int 3 0 1;"
     "5 sub.Tensor 4 4;6 diagonal 1;7 cat 2 4 4 0;- zero_ 4;8 grad 7 0 1;- backward 8 1 0",
     " +0 g0 16 16 16 16 16 16 +2 +3 +4 +5 +7 +8"},
    {"0 leaf 1 2 3;1 leaf 1 3;2 mul.Scalar 0 2;3 grad 2 0 1;- square_ 2;4 unsqueeze 2 1;"
     "- mul_.Scalar 4 3;5 grad 2 4 1;6 grad 4 0 1;- backward 6 1 0",
     " +0 g0 24 24 24 24 24 24 +1 +2 +4 +6"},
    {"0 leaf 1 2 3;1 leaf 1 3;2 mul.Scalar 0 2;3 diagonal 2;4 mul.Tensor 2 1;5 neg 4;"
     "- square_ 3;6 transpose.int 2 0 1;7 grad 6 0 1;- backward 7 1 0",
     " +0 g0 8 0 0 0 8 0 +1 +2 +3 +4 +5 +6 +7"},
    {"0 leaf 1 2 3;1 leaf 1 3;2 mul.Scalar 0 2;3 grad 2 2 1;4 unsqueeze 2 0;"
     "- add_.Tensor 4 4;- mul_.Scalar 2 2;- square_ 2;5 grad 4 0 1;- backward 5 1 0",
     " +0 g0 128 128 128 128 128 128 +1 +2 +4 +5"},
    {"0 leaf 1 2 3;1 leaf 1 2 1;2 mul.Scalar 0 2;3 narrow 2 1 1 2;- mul_.Tensor 1 1;"
     "4 view 2 1 6;5 slice.Tensor 3 0 0 2 2;- copy_ 4 4;6 sub.Tensor 4 1;7 mul.Tensor 5 1;"
     "8 grad 7 0 1;- backward 8 1 0",
     " e4 +0 +1 g1 4 4 +2 +3 +4 +5 +6 +7 +8"},
    {"0 leaf 1 2 3;1 leaf 1;2 mul.Scalar 0 2;3 square 2;4 clone 3;5 maximum 4 4;"
     "6 slice.Tensor 3 1 0 3 2;7 unbind.int 5 0;9 sum 3;- copy_ 6 6;10 grad 9 0 1;"
     "- backward 10 1 0",
     " +0 g0 8 8 8 8 8 8 +1 +2 +3 +4 +5 +6 +7 +8 +9 +10"},
    {"0 leaf 1 2 3;1 leaf 0 3;2 mul.Scalar 0 2;3 sum.dim_IntList 2 1 1;4 add.Tensor 1 2;"
     "5 gt.Scalar 4 0;6 where.self 5 4 2;- hook 4;7 diagonal 4;8 slice.Tensor 7 0 0 2 2;"
     "9 sub.Tensor 7 8;10 sum 7;- add_.Tensor 8 8;- backward 9 1 0;- backward 10 1 0",
     " +0 g0 0 0 0 0 8 0 +2 +3 +4 +6 +7 +8 +9 +10"},
    {"0 leaf 1 2 3;1 leaf 0 2 3;2 mul.Scalar 0 2;3 select.int 2 1 0;- hook 2;- copy_ 3 3;"
     "4 unbind.int 2 0;6 select.int 5 0 2;7 relu 1;- backward 5 1 0;- backward 6 1 0",
     " +0 g0 0 0 0 4 4 8 +2 +3 +4 +5 +6"},
    {"0 leaf 1 2 3;1 leaf 1 2 1;2 mul.Scalar 0 2;- hook 2;3 clone 1;4 narrow 3 0 1 1;"
     "5 unbind.int 2 0;7 mul.Tensor 5 3;8 expand 2 3 2 2 3;9 maximum 5 6;- square_ 4;"
     "- backward 8 1 0;- backward 9 1 0",
     " +0 g0 8 8 8 12 12 12 +1 +2 +3 +4 +5 +6 +7 +8 +9"},
    {"0 leaf 1 2 3;1 leaf 0 2 3;2 mul.Scalar 0 2;3 unsqueeze 2 0;4 gt.Scalar 3 0;"
     "5 where.self 4 3 3;- hook 3;- mul_.Tensor 5 2;- add_.Scalar 3 1;- mul_.Tensor 5 5;"
     "6 clone 1;- sub_.Tensor 6 2;7 square 6;- backward 6 1 0;- backward 7 1 0",
     " +0 g0 -14 14 -18 10 18 -14 +2 +3 +5 +6 +7"},
    {"0 leaf 1 2 3;1 leaf 1;2 mul.Scalar 0 2;- hook 1;3 unsqueeze 2 0;4 neg 2;- neg_ 3;"
     "5 neg 2;- backward 4 1 0;- backward 5 1 0",
     " +0 g0 0 0 0 0 0 0 +1 +2 +3 +4 +5"},
    {"0 leaf 1 2 3;1 leaf 0 3;2 mul.Scalar 0 2;3 select.int 2 1 0;- copy_ 3 3;- hook 3;"
     "- fill_.Scalar 3 2;4 narrow 1 0 0 2;5 diagonal 2;- hook 5;- mul_.Tensor 4 5;"
     "6 square 5;- backward 5 1 0;- backward 6 1 0",
     " +0 g0 0 0 0 0 36 0 +1 +2 +3 +4 +5 +6"},
    {"0 leaf 1 2 3;1 leaf 1 2 3;2 mul.Scalar 0 2;3 narrow 2 1 1 2;- fill_.Scalar 3 2;"
     "4 sub.Tensor 3 3;- mul_.Scalar 4 3;5 diagonal 2;6 sum 5;- retain 3;7 maximum 3 4;"
     "- backward 6 1 0;- backward 7 1 0",
     " +0 g0 2 0 0 0 0 0 +1 +2 +3 g3 1 1 1 1 +4 +5 +6 +7"},
    {"0 leaf 1 2 3;1 leaf 0 3;2 mul.Scalar 0 2;3 unsqueeze 1 1;- square_ 2;"
     "4 mul.Tensor 1 2;- hook 2;5 slice.Tensor 2 0 0 2 2;6 view 5 1 3;- mul_.Scalar 5 2;"
     "7 transpose.int 4 0 1;- backward 6 1 0;- backward 7 1 0",
     " +0 g0 -64 16 -96 0 -32 -16 +2 +4 +5 +6 +7"},
    {"0 leaf 1 2 3;1 leaf 1 2 3;2 mul.Scalar 0 2;3 select.int 2 0 1;- fill_.Scalar 3 2;"
     "- relu_ 1;- square_ 3;4 relu 3;5 clone 1;6 mul.Tensor 3 4;7 grad 3 2 1;"
     "- backward 5 1 0;- backward 6 1 0",
     " e5 +0 g0 0 0 0 0 0 0 +1 g1 1 1 1 1 1 1 +2 +3 +4 +5 +6"},
    {"0 leaf 1 2 3;1 leaf 1 3;2 mul.Scalar 0 2;- copy_ 1 1;- fill_.Scalar 2 2;"
     "3 diagonal 2;4 slice.Tensor 2 0 0 2 2;5 grad 4 3 0;6 sum 2;- mul_.Scalar 4 3;"
     "- add_.Scalar 2 1;- backward 4 1 0;- backward 6 1 0",
     " e3 +0 g0 0 0 0 0 0 0 +1 +2 +3 +4 +6"},
    {"0 leaf 1 2 3;1 leaf 1 2 3;2 leaf 0 3;3 mul.Scalar 0 2;- mul_.Tensor 1 1;"
     "- sub_.Tensor 1 2;- add_.Scalar 1 1;4 transpose.int 3 0 1;- add_.Tensor 4 4;"
     "5 grad 3 1 1;6 grad 3 4 0;7 cat 2 0 1 0;- sub_.Tensor 3 1;- backward 4 1 0;"
     "- backward 7 1 0",
     " e4 e5 e6 +0 g0 5 5 5 5 5 5 +1 g1 0 0 0 0 0 0 +3 +4 +7"},
    {"0 leaf 1 2 3;1 leaf 1 3;2 leaf 0 3;3 mul.Scalar 0 2;- sub_.Tensor 2 1;4 diagonal 3;"
     "- add_.Tensor 1 1;- hook 2;5 mul.Tensor 2 2;6 mul.Tensor 2 1;- sub_.Tensor 4 4;"
     "- backward 5 1 0;- backward 6 1 0",
     " e6 +0 +1 g1 2 -7 4 +2 +3 +4 +5 +6"},
    {"0 leaf 1 2 3;1 leaf 1 2 1;2 leaf 0 3;3 mul.Scalar 0 2;- hook 3;4 cat 2 0 3 0;"
     "5 maximum 4 2;- mul_.Tensor 5 4;- copy_ 4 2;6 sub.Tensor 2 4;7 unsqueeze 4 2;"
     "- mul_.Tensor 7 7;- backward 6 1 0;- backward 7 1 0",
     " e13 +0 g0 0 0 0 0 0 0 +1 +3 +4 +5 +6 +7"},
    {"0 leaf 1 2 3;1 leaf 1 3;2 mul.Scalar 0 2;3 unsqueeze 2 0;- mul_.Scalar 2 2;"
     "- add_.Tensor 1 1;4 view 2 1 6;- copy_ 3 3;5 select.int 1 0 2;6 mul.Tensor 4 4;"
     "7 grad 3 5 1;- backward 5 1 0;- backward 6 1 0",
     " e5 +0 g0 -32 32 -64 0 64 -32 +1 g1 0 0 1 +2 +3 +4 +5 +6"},
    {"0 leaf 1 2 3;1 leaf 1 2 1;2 leaf 0 3;3 mul.Scalar 0 2;4 grad 1 1 1;"
     "5 slice.Tensor 3 1 0 3 2;- zero_ 5;6 grad 1 3 1;- off;7 relu 2;- mul_.Scalar 3 2;"
     "- on;- backward 3 1 0;- backward 5 1 0",
     " +0 g0 0 2 0 0 2 0 +1 +3 +5"},
    {"0 leaf 1 2 3;1 leaf 1;2 mul.Scalar 0 2;3 select.int 2 0 1;- add_.Tensor 3 3;"
     "4 grad 2 3 1;5 sub.Tensor 1 1;6 select.int 0 1 0;- off;- mul_.Tensor 6 1;7 clone 1;"
     "- on;- backward 5 1 0;- backward 6 1 0",
     " +0 g0 1 0 0 1 0 0 +1 g1 0 +2 +3 +5 +6"},
    {"0 leaf 1 2 3;1 leaf 0 2 3;2 mul.Scalar 0 2;- fill_.Scalar 2 2;- sub_.Tensor 1 2;"
     "3 mul.Tensor 2 2;4 diagonal 1;- add_.Scalar 4 1;- off;5 mul.Tensor 4 4;- on;"
     "- backward 3 1 0;- backward 4 1 0",
     " +0 g0 0 0 0 0 0 0 +1 +2 +3 +4"},
    {"0 leaf 1 2 3;1 leaf 0 3;2 mul.Scalar 0 2;3 cat 2 2 2 0;4 detach 1;5 diagonal 2;"
     "- sub_.Tensor 5 5;6 clone 3;- off;7 mul.Tensor 1 2;- on;- backward 5 1 0;"
     "- backward 6 1 0",
     " +0 g0 4 4 4 4 4 4 +2 +3 +5 +6"},
    {"0 leaf 1 2 3;1 leaf 0 2 1;2 mul.Scalar 0 2;3 sub.Tensor 2 2;4 transpose.int 3 0 1;"
     "- add_.Tensor 4 4;5 diagonal 4;- off;6 sub.Tensor 4 5;- on;- backward 4 1 0;"
     "- backward 5 1 0",
     " +0 g0 0 0 0 0 0 0 +2 +3 +4 +5"},
    {"0 leaf 1 2 3;1 leaf 0;2 mul.Scalar 0 2;3 narrow 2 1 0 1;4 diagonal 2;"
     "5 mul.Tensor 3 1;- mul_.Tensor 1 1;- copy_ 4 1;6 unsqueeze 1 0;7 maximum 4 3;"
     "8 maximum 7 7;- backward 7 1 0;- backward 8 1 0",
     " +0 g0 0 0 0 0 0 0 +2 +3 +4 +5 +7 +8"},
    {"0 leaf 1 2 3;1 leaf 1 2 1;2 mul.Scalar 0 2;3 narrow 2 1 2 1;- zero_ 2;4 clone 2;"
     "- relu_ 3;5 detach 4;- backward 2 1 0;6 sub.Tensor 1 5;7 cat 2 5 4 0;8 diagonal 4;"
     "- backward 7 1 0;- backward 8 1 0",
     " +0 g0 0 0 0 0 0 0 +1 +2 +3 +4 +6 +7 +8"},
    {"0 leaf 1 2 3;1 leaf 0 3;2 leaf 0 2 3;3 mul.Scalar 0 2;- fill_.Scalar 2 2;"
     "4 diagonal 3;5 gt.Scalar 4 0;6 where.self 5 4 4;7 gt.Scalar 6 0;8 where.self 7 6 6;"
     "9 expand 8 2 2 2;10 clone 4;- sub_.Tensor 4 6;11 narrow 9 1 0 1;12 clone 8;"
     "- backward 11 1 0;- backward 12 1 0",
     " +0 g0 6 0 0 0 2 0 +3 +4 +6 +8 +9 +10 +11 +12"},
    {"0 leaf 1 2 3;1 leaf 0 2 3;2 mul.Scalar 0 2;3 grad 2 2 1;- mul_.Tensor 1 2;- neg_ 2;"
     "4 slice.Tensor 2 0 0 2 2;- add_.Scalar 4 1;5 grad 1 4 1;6 narrow 3 1 0 3;"
     "7 select.int 2 0 0;- backward 4 1 0;- backward 7 1 0",
     " +0 g0 -4 -4 -4 0 0 0 +1 +2 +4 +7"},
    {"0 leaf 1 2 3;1 leaf 0;2 mul.Scalar 0 2;3 unsqueeze 2 2;- add_.Tensor 3 1;"
     "4 unbind.int 3 0;6 transpose.int 2 0 1;7 grad 5 2 1;- backward 5 1 0;"
     "- backward 6 1 0",
     " +0 g0 2 2 2 4 4 4 +2 +3 +4 +5 +6"},
    {"0 leaf 1 2 3;1 leaf 1;2 leaf 0 3;3 mul.Scalar 0 2;4 view 3 1 6;5 select.int 2 0 0;"
     "6 relu 1;- copy_ 5 6;7 diagonal 3;8 gt.Scalar 4 0;9 where.self 8 4 4;"
     "- mul_.Tensor 4 5;- mul_.Tensor 7 5;- backward 7 1 0;- backward 9 1 0",
     " +0 g0 10 2 2 2 10 2 +1 g1 8 +2 +3 +4 +5 +6 +7 +9"},
    {"0 leaf 1 2 3;1 leaf 1;2 mul.Scalar 0 2;3 grad 2 1 1;4 grad 1 2 1;5 unsqueeze 2 0;"
     "- mul_.Tensor 5 1;6 narrow 2 0 1 1;- mul_.Tensor 2 0;7 clone 1;- relu_ 2;"
     "- backward 6 1 0;- backward 7 1 0",
     " +0 g0 0 0 0 0 16 -8 +1 g1 11 +2 +5 +6 +7"},
    {"0 leaf 1 2 3;1 leaf 0;2 mul.Scalar 0 2;3 cat 2 0 2 0;4 unsqueeze 3 0;- zero_ 4;"
     "5 mul.Tensor 2 2;- sub_.Tensor 4 4;6 gt.Scalar 1 0;7 where.self 6 1 3;"
     "8 slice.Tensor 4 0 0 1 2;9 diagonal 4;- sub_.Tensor 2 0;- backward 8 1 0;"
     "- backward 9 1 0",
     " +0 g0 0 0 0 0 0 0 +2 +3 +4 +5 +7 +8 +9"},
    {"0 leaf 1 2 3;1 leaf 0 2 3;2 leaf 0 3;3 mul.Scalar 0 2;4 narrow 3 0 0 1;"
     "- mul_.Tensor 4 2;5 square 4;6 detach 4;7 grad 3 4 1;8 relu 4;- backward 5 1 0;"
     "- backward 8 1 0",
     " +0 g0 0 36 -18 0 0 0 +3 +4 +5 +8"},
    {"0 leaf 1 2 3;1 leaf 1 3;2 mul.Scalar 0 2;3 narrow 2 0 1 1;4 grad 3 2 1;5 grad 1 2 1;"
     "6 gt.Scalar 2 0;7 where.self 6 2 4;- fill_.Scalar 3 2;8 select.int 4 1 0;"
     "- add_.Scalar 7 1;- backward 3 1 0;- backward 7 1 0",
     " +0 g0 0 2 0 0 2 0 +1 +2 +3 +7"},
    {"0 leaf 1 2 3;1 leaf 0 2 3;2 leaf 0 2 3;3 mul.Scalar 0 2;4 mul.Tensor 2 2;"
     "5 maximum 4 0;6 select.int 5 1 0;7 view 6 1 2;8 relu 6;- backward 8 1 0;"
     "- mul_.Scalar 6 3;9 clone 6;- backward 8 1 0;- backward 9 1 0",
     " +0 g0 0 0 0 0 0 0 +3 +5 +6 +7 +8 +9"},
    {"0 leaf 1 2 3;1 leaf 0 3;2 mul.Scalar 0 2;3 narrow 2 1 1 1;- mul_.Scalar 1 3;"
     "4 transpose.int 3 0 1;- add_.Tensor 3 3;- backward 2 1 0;5 grad 2 3 1;"
     "- backward 3 1 0;- backward 4 1 0",
     " +0 g0 2 12 2 2 12 2 +2 +3 +4"},
    {"0 leaf 1 2 3;1 leaf 1 2 3;2 mul.Scalar 0 2;3 grad 2 0 0;4 unsqueeze 2 1;"
     "5 grad 1 1 1;6 sub.Tensor 1 2;7 narrow 1 0 0 1;- zero_ 4;- backward 6 1 0;"
     "- backward 7 1 0",
     " +0 g0 -2 -2 -2 -2 -2 -2 +1 g1 2 2 2 1 1 1 +2 +4 +6 +7"},
};

TestSuite(programs, .init = load_plugins, .timeout = 120);

Test(programs, gradients_are_as_pytorch_says)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        char got[TEXT];
        run(programs[i][0], got, sizeof got);
        cr_expect_str_eq(got, programs[i][1], "%s\n  gives    %s\n  expected %s", programs[i][0],
                         got, programs[i][1]);
    }
}

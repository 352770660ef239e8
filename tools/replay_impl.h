/* replay_impl.h - what the files of `tenon replay` share.
 *
 *     replay.c          the command: files in, exit status out
 *     replay_file.c     a file -> its cases
 *     replay_child.c    runs a file's cases in a child: a crash is a result like another
 *     replay_call.c     one case: the call on the device and on meta, and its judgement
 *     replay_value.c    JSON values -> frame fields
 *     replay_tensor.c   recorded storages -> tensors
 *     replay_write.c    frames -> a file; replay_dtype.c  names of dtypes
 *     replay_minimize.c a failing case made smaller; replay_shrink.c the case, replay_steps.c the steps
 *     replay_grad.c     gradient cases; replay_prove.c  who is right about one
 *     replay_compare.c  a tensor against a recorded one
 *     replay_ties.c     other indices that select equal values
 *     replay_known.c    where PyTorch is known to be wrong; operators that meta cannot answer for
 *     replay_exact.c    elements of a few operators in double: proof of a wrong recording
 *     replay_report.c   rows and totals in every format */
#ifndef TENON_TOOLS_REPLAY_IMPL_H
#define TENON_TOOLS_REPLAY_IMPL_H

#include <regex.h>

#include <tenon/op.h>
#include <tenon/tensor.h>

#include "core/schema/schema.h"
#include "replay_write.h"
#include "safetensors.h"
#include "tool.h"

enum { REPLAY_NAME = 128, REPLAY_REASON = 200, REPLAY_MESSAGE = 1500 };

/* ---- files ---------------------------------------------------------------------------------- */
typedef struct replay_file {
    const char *path;
    st_file data;
    json_t *root;        /* the metadata key tenon_replay */
    const json_t *cases; /* its array of cases; each is checked to have n, schema and args */
    size_t n;
} replay_file;

bool replay_open(replay_file *f, const char *path, char *why, size_t n);
void replay_close(replay_file *f);
const json_t *replay_case(const replay_file *f, size_t i);
int replay_case_number(const replay_file *f, size_t i);
/* The case's operator by name, "aten::add.Tensor". */
void replay_case_name(const replay_file *f, size_t i, char name[REPLAY_NAME]);

/* ---- outcomes ------------------------------------------------------------------------------- */
typedef enum replay_state {
    REPLAY_PASSED,
    REPLAY_FAILED,
    REPLAY_UNSUPPORTED,
    REPLAY_KNOWN,     /* the recorded value is wrong: replay_known.c */
    REPLAY_MALFORMED, /* the case itself cannot be read */
    REPLAY_STATES,
} replay_state;
typedef enum replay_meta {
    REPLAY_META_NONE, /* not asked: the call on the device did not pass, or was to fail */
    REPLAY_META_PASSED,
    REPLAY_META_MISSING, /* no kernel for meta */
    REPLAY_META_DATA,    /* the result's shape depends on data */
    REPLAY_METAS,
} replay_meta;
/* Sent over a pipe in one write, so it stays below PIPE_BUF. */
typedef struct replay_outcome {
    int32_t index; /* which case of the file */
    replay_state state;
    replay_meta meta;
    char reason[REPLAY_REASON]; /* unsupported, known: counted by this text */
    char message[REPLAY_MESSAGE];
} replay_outcome;

void replay_set(replay_outcome *o, replay_state state, const char *reason, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Can the case be run at all? If not, o says why; nothing is called. */
bool replay_prepared(const replay_file *f, size_t i, replay_outcome *o);
/* Runs one case in this process. */
void replay_run_case(const replay_file *f, size_t i, replay_outcome *o);
/* Runs in children the cases for which wanted[i] is set, and reports each. seconds: for one case.
 */
typedef void (*replay_sink)(void *arg, const replay_outcome *o);
/* NULL, or what went wrong beside the cases. */
const char *replay_run_file(const replay_file *f, const bool *wanted, int seconds, replay_sink sink,
                            void *arg);

/* ---- recorded tensors ----------------------------------------------------------------------- */
/* Elements in host memory, the same view of a recorded and of a computed tensor. */
typedef struct replay_array {
    tn_dtype dtype;
    int ndim;
    int64_t sizes[TN_MAX_DIMS], strides[TN_MAX_DIMS]; /* in elements */
    int64_t numel;
    const char *data; /* the first element */
} replay_array;

/* One recorded storage, and the tensor over a copy of it (or of its size, on meta). */
typedef struct replay_storage {
    char name[REPLAY_NAME];
    st_entry entry;
    tn_tensor *base;
    unsigned char *written; /* a byte per byte: an argument marked as written covers it */
    struct replay_storage *next;
} replay_storage;

/* Arguments being built. */
typedef struct replay_build {
    const replay_file *file;
    int n;     /* the case's number */
    bool meta; /* on meta instead of the device */
    tn__arena arena;
    replay_storage *storages;
    tn_tensor **tensors; /* every tensor made, for release */
    size_t n_tensors, cap;
    replay_outcome *outcome; /* why the case cannot run */
} replay_build;

/* Fills one frame field from a value; false: outcome says why. */
bool replay_fill(replay_build *b, const tn_field *f, const json_t *value, void *at);
void replay_build_free(replay_build *b);
/* The recorded tensor as an array; false: malformed or a dtype that is not ours. */
bool replay_recorded(const replay_file *f, int n, const json_t *value, replay_array *out,
                     st_entry *storage, replay_outcome *o);
void replay_array_of(const tn_tensor *t, replay_array *out);

/* An argument tensor; flags are its field's. replay_scalar: false when the value is no number. */
bool replay_fill_tensor(replay_build *b, uint32_t flags, const json_t *value, tn_tensor **at);
bool replay_scalar(const json_t *value, tn_scalar *out);
/* Set the outcome, and return false. */
bool replay_malformed(replay_outcome *o, const char *what);
bool replay_unsupported(replay_outcome *o, const char *what, const char *value);
bool replay_out_of_memory(replay_outcome *o);

/* ---- comparing ------------------------------------------------------------------------------ */
typedef struct replay_tolerance {
    double rtol, atol;
    bool exact;
    bool meta_only; /* dtype and shape */
} replay_tolerance;

/* Element i in row-major order. */
const char *replay_element(const replay_array *a, int64_t i);
void replay_number(const replay_array *a, int64_t i, double out[2]);
int64_t replay_integer(const replay_array *a, int64_t i); /* of a bool or integer array */
/* Compares two arrays; false: `why` (n bytes) says where they differ. */
bool replay_same_form(const replay_array *got, const replay_array *want, char *why, size_t n);
bool replay_same(const replay_array *got, const replay_array *want, replay_tolerance t, char *why,
                 size_t n);
bool replay_near(const double got[2], const double want[2], replay_tolerance t);

/* ---- knowledge ------------------------------------------------------------------------------ */
/* The arguments of a call in its frame. */
typedef struct replay_args {
    const char *name;       /* "aten::add.Tensor" */
    const tn_field *fields; /* n of them */
    int n;
    const char *frame;
    const replay_build *build;
    const json_t *recorded; /* the arguments by name: tensors as they were before the call */
} replay_args;

/* Whether several answers are right for the result at `where`, an index; and whether `got` selects
 * from self the values that `want` does. dim: of the call; TN_MAX_DIMS for the flat index. */
bool replay_ties(const replay_args *args, const char *where);
bool replay_same_selection(const char *name, const replay_array *self, int64_t dim,
                           const replay_array *got, const replay_array *want);

/* False when the argument is absent or of another kind. */
bool replay_arg_tensor(const replay_args *args, const char *name, replay_array *out);
bool replay_arg_number(const replay_args *args, const char *name, double *out);
const char *replay_arg_text(const replay_args *args, const char *name);

/* A listed kind of wrong recording, or NULL. Of values: every element of `got` that differs from
 * `want` is proved right by the operator's definition, and `want` wrong. Of success: the call
 * failed here, as it should, though a result is recorded. */
const char *replay_wrong_value(const replay_args *args, const replay_array *got,
                               const replay_array *want, replay_tolerance t);
const char *replay_wrong_success(const replay_args *args);
/* Does the shape of this operator's result depend on the values of its arguments? */
bool replay_data_dependent(const char *name, const json_t *args);

/* Element i of the result `want` by definition; false when this call is none of the operator's
 * kind. */
bool replay_exact_remainder(const replay_args *args, const replay_array *want, int64_t i,
                            double out[2]);
bool replay_exact_quotient(const replay_args *args, const replay_array *want, int64_t i,
                           double out[2]);
bool replay_exact_scaled(const replay_args *args, const replay_array *want, int64_t i,
                         double out[2]);
bool replay_exact_equality(const replay_args *args, const replay_array *want, int64_t i,
                           double out[2]);
bool replay_exact_exp(const replay_args *args, const replay_array *want, int64_t i, double out[2]);
bool replay_exact_power(const replay_args *args, const replay_array *want, int64_t i,
                        double out[2]);
bool replay_exact_product(const replay_args *args, const replay_array *want, int64_t i,
                          double out[2]);
bool replay_exact_distance(const replay_args *args, const replay_array *want, int64_t i,
                           double out[2]);
bool replay_exact_polygamma(const replay_args *args, const replay_array *want, int64_t i,
                            double out[2]); /* and the next: replay_exact_special.c */
bool replay_exact_group_norm(const replay_args *args, const replay_array *want, int64_t i,
                             double out[2]);
bool replay_exact_layer_norm(const replay_args *args, const replay_array *want, int64_t i,
                             double out[2]);
bool replay_exact_norm(const replay_args *args, const replay_array *want, int64_t i, double out[2]);
bool replay_exact_complex_dot(const replay_args *args, const replay_array *want, int64_t i,
                              double out[2]);

/* ---- gradients (replay_grad.c) --------------------------------------------------------------- */
enum { REPLAY_GRADS = 64 };
/* The arguments at wrt's paths require a gradient from here on. */
bool replay_require_gradients(const replay_args *args, const json_t *wrt, replay_outcome *o);
/* A gradient case after its call. */
typedef struct replay_proof_case {
    const tn_op *op;
    replay_args args;
    const tn_field *results;
    int n_results;
    tn_tensor *wanted[REPLAY_GRADS]; /* by wrt's paths */
    size_t n_wanted;
    tn_tensor *cotangents[REPLAY_GRADS];
    int fed[REPLAY_GRADS]; /* into which of the flattened results */
    int n_fed, n_outputs;
} replay_proof_case;
int replay_flat_results(const tn_field *fields, int n, const char *frame, tn_tensor **out,
                        int most);
/* Fills what op, args and results do not say; grads[i], the caller's, for wrt's i-th path. A
 * failure has an outcome or an error record. */
tn_status replay_backward(replay_build *b, replay_proof_case *c, const json_t *case_,
                          tn_tensor **grads);
/* replay_prove.c: differences of values confirm our i-th gradient and contradict the recorded one.
 * Releases the frame's results. */
bool replay_gradient_proved(const replay_proof_case *c, size_t i, const replay_array *got,
                            const replay_array *want, replay_tolerance t);
/* got and want are set where both are there. */
bool replay_gradient_same(const replay_build *b, const tn_tensor *grad, const json_t *recorded,
                          replay_tolerance t, replay_array *got, replay_array *want, char *why,
                          size_t n);

/* ---- report --------------------------------------------------------------------------------- */
typedef struct replay_report replay_report;
replay_report *replay_report_new(tool_format format, bool verbose);
void replay_report_add(replay_report *r, const replay_file *f, const replay_outcome *o);
void replay_report_broken(replay_report *r, const char *path, const char *why);
/* Prints the totals, releases r, and returns the exit status. */
int replay_report_end(replay_report *r);

#endif

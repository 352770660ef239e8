/* opinfo.h - the OpInfo harness: what its files share.
 *
 *     a row (rows_*.c) -> samples: arguments as data -> a frame over guarded memory -> the device
 *                      -> the reference, in long double -> compare.c -> states -> report.c
 *
 * Nothing here knows a backend, and the reference shares no code with one: its arrays are plain
 * row-major lists of numbers in long double (integers exact), its promotion and rounding are its
 * own. Memory comes from a pool that is emptied after each case; a case runs in a child process,
 * so when memory runs out the child may stop. */
#ifndef TENON_OPINFO_H
#define TENON_OPINFO_H

#include <regex.h>
#include <stdio.h>

#include <tenon/op.h>
#include <tenon/tensor.h>

/* ---- states ---------------------------------------------------------------------------------- */
typedef enum oi_state {
    OI_PASS,
    OI_FAIL,
    OI_CRASH,
    OI_TIMEOUT,
    OI_ERROR,       /* an error where a result was due */
    OI_UNSUPPORTED, /* a true answer, with its reason */
    OI_UNDECLARED,  /* works, but is not claimed */
    OI_MISTRUSTED,  /* all zero, all equal or all NaN where the reference is not */
    OI_NOT_RUN,
    OI_NO_GRADIENT, /* a floating result that depends on its inputs, and no derivative of it */
    OI_STATES,
} oi_state;
const char *oi_state_name(oi_state s);

typedef enum oi_column {
    OI_DTYPES,   /* claims in both directions; decides whether the others run */
    OI_VALUES,   /* the functional form against the reference, guards and inputs looked at */
    OI_INPLACE,  /* in-place agrees with the reference; what it cannot hold is refused */
    OI_OUT,      /* out=: poisoned, strided, other dtype, resized, refused */
    OI_META,     /* shape, dtype and strides without data */
    OI_ALIAS,    /* results share storage where the schema says so, and nowhere else */
    OI_ERRORS,   /* bad calls give a clear error and change nothing */
    OI_REPEAT,   /* the same bits again */
    OI_THREADS,  /* the same bits with 1 and 2 threads */
    OI_GRAD,     /* backward against differences of values; saved values are guarded */
    OI_GRADGRAD, /* double backward */
    OI_JVP,      /* forward mode */
    OI_COLUMNS,
} oi_column;
const char *oi_column_name(oi_column c);
int oi_column_parse(const char *name); /* -1: none */

/* ---- numbers (number.c) ---------------------------------------------------------------------- */
typedef long double oi_real;
typedef struct oi_num {
    oi_real re, im;
    int64_t i; /* bool and integers; re holds it too */
} oi_num;

bool oi_is_integral(tn_dtype d); /* bool included */
bool oi_is_floating(tn_dtype d);
bool oi_is_complex(tn_dtype d);
tn_dtype oi_real_of(tn_dtype d);
int oi_size_of(tn_dtype d);
const char *oi_dtype_name(tn_dtype d);
tn_dtype oi_dtype_parse(const char *name); /* "f32" or "float32"; TN_DTYPE_NONE */
tn_dtype oi_promote(tn_dtype a, tn_dtype b);
oi_num oi_int(int64_t i);
oi_num oi_float(oi_real re);
oi_num oi_complex(oi_real re, oi_real im);
/* A value as `to` holds it: rounded to nearest even, integers wrapped around, floats cut towards
 * zero. */
oi_num oi_cast(oi_num v, tn_dtype from, tn_dtype to);
oi_real oi_round(oi_real x, tn_dtype d);
oi_real oi_ulp(oi_real magnitude, tn_dtype d); /* the last place of a number of this size */
oi_num oi_load(const void *from, tn_dtype d);
void oi_store(void *to, tn_dtype d, oi_num v);
bool oi_truth(oi_num v);
oi_num oi_from_scalar(const tn_scalar *s, tn_dtype d);
tn_dtype oi_scalar_dtype(const tn_scalar *s);

/* ---- arrays (array.c) ------------------------------------------------------------------------ */
enum { OI_DIMS = 8, OI_ARGS = 10, OI_RESULTS = 16, OI_TEXT = 400 };
typedef struct oi_array {
    tn_dtype dtype;
    int ndim;
    int64_t sizes[OI_DIMS];
    int64_t numel;
    oi_num *v; /* row-major */
    /* How large the terms were that made v[i], where that exceeds |v[i]|; NULL: as large as it. */
    oi_real *mag;
} oi_array;
void *oi_alloc(size_t bytes); /* zeroed, from the pool */
void *oi_pool_mark(void);
void oi_pool_reset(void *mark); /* gives back what was taken since the mark; NULL: everything */
oi_array oi_array_new(tn_dtype dtype, int ndim, const int64_t *sizes);
void oi_array_mags(oi_array *a);
int64_t oi_numel(int ndim, const int64_t *sizes);
/* Row-major index <-> coordinates. */
void oi_coords(const oi_array *a, int64_t index, int64_t *coords);
int64_t oi_index(const oi_array *a, const int64_t *coords);
/* The element of `a` that broadcasting puts at these coordinates of an ndim-dimensional result. */
int64_t oi_broadcast_index(const oi_array *a, int ndim, const int64_t *coords);
bool oi_broadcast(int n, const oi_array *const *arrays, int *ndim, int64_t *sizes);
oi_array oi_array_cast(const oi_array *a, tn_dtype to);
const char *oi_shape_text(int ndim, const int64_t *sizes); /* valid for the next seven calls */

/* ---- random values (random.c) ---------------------------------------------------------------- */
typedef struct oi_rng {
    uint64_t state;
} oi_rng;
oi_rng oi_rng_make(uint64_t seed, const char *op, int dtype, int sample);
uint64_t oi_random(oi_rng *r);
double oi_uniform(oi_rng *r, double lo, double hi);
int64_t oi_uniform_int(oi_rng *r, int64_t lo, int64_t hi); /* both included */

/* ---- samples (sample.c) ---------------------------------------------------------------------- */
typedef enum oi_layout {
    OI_ROW,        /* row-major */
    OI_TRANSPOSED, /* column-major */
    OI_GAPPED,     /* every second element, rows apart: sentinels in between */
    OI_EXPANDED,   /* stride 0 in the first dimension */
    OI_HUGE,       /* the first dimension's stride is over 2 GiB */
    OI_SHIFTED,    /* row-major, begins one element behind an aligned address */
    OI_LAYOUTS,
} oi_layout;

typedef struct oi_tensor {
    oi_array a;
    oi_layout layout;
    bool absent;
    bool host;  /* stays on the host whatever the device: its value is read */
    bool fixed; /* of a dtype of its own: an index, a mask */
} oi_tensor;

typedef struct oi_arg {
    const char *name;
    tn_field_kind kind;
    oi_tensor *tensors; /* TENSOR: one; TENSORS: n */
    int64_t n;
    int64_t ints[OI_DIMS]; /* INTS: n of them, -1: absent; INT, BOOL, DTYPE, ...: the first */
    tn_scalar scalar;
    const char *text;
    const void *raw; /* the field as it stands in a frame, instead of all this; else NULL */
} oi_arg;

typedef struct oi_sample {
    int number;
    const char *what; /* "transposed", for messages */
    oi_arg args[OI_ARGS];
    int n_args;
    bool error;    /* the call must fail */
    bool by_value; /* of an error: it lies in the elements, so meta cannot see it */
    bool large;    /* for repeat and threads alone: the reference is not asked */
    bool may_copy; /* a view that is allowed to be a copy here, and the reverse */
    bool no_meta;  /* values decide a result's shape: meta must say that it cannot know it */
} oi_sample;

typedef struct oi_samples {
    oi_sample *list;
    int n, cap;
} oi_samples;

typedef struct oi_row oi_row;
/* A new sample with no arguments yet; its random numbers are its own. */
oi_sample *oi_sample_new(oi_samples *s, const char *what);
oi_tensor *oi_arg_tensor(oi_sample *s, const char *name, oi_array a, oi_layout layout);
oi_tensor *oi_arg_tensors(oi_sample *s, const char *name, int n);
void oi_arg_int(oi_sample *s, const char *name, tn_field_kind kind, int64_t v);
void oi_arg_ints(oi_sample *s, const char *name, int n, const int64_t *v);
void oi_arg_scalar(oi_sample *s, const char *name, tn_scalar v);
void oi_arg_text(oi_sample *s, const char *name, const char *text);
const oi_arg *oi_find(const oi_sample *s, const char *name);    /* NULL: left at its default */
const oi_array *oi_input(const oi_sample *s, const char *name); /* NULL: none */
int64_t oi_get_int(const oi_sample *s, const char *name, int64_t or_else);
/* Values within the row's domain. */
oi_array oi_values(const oi_row *row, oi_rng *r, tn_dtype d, int ndim, const int64_t *sizes);
oi_array oi_values_in(oi_rng *r, tn_dtype d, int ndim, const int64_t *sizes, double lo, double hi);
#define OI_SIZES(...)                                                                              \
    (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[])             \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

/* ---- rows ------------------------------------------------------------------------------------ */
enum {
    OI_TO_FLOAT = 1, /* integers are computed in float32 */
    OI_TO_BOOL = 2,  /* the result is bool */
    OI_SHARES = 4, /* shares its input's storage although the schema does not say so (as in ATen) */
    OI_VIEW = 8,   /* moves no data; in-place changes the geometry */
    OI_META_ONLY = 16,       /* values are not defined: empty & co. */
    OI_GENERIC = 32,         /* made from a plugin's schema, not written by hand */
    OI_SELF_CONSISTENT = 64, /* no reference but the same operator in float64 */
    OI_NO_SPECIAL_INT = 128, /* integers keep to the domain: no special values */
    OI_REAL_RESULT = 512,    /* real for a complex self, which in-place therefore refuses */
    OI_NO_ZERO = 256,        /* the second integer operand is never zero */
    OI_DECLARED = 1024,      /* its samples are a plugin's */
    OI_NO_META = 2048,       /* the results' shapes depend on values */
};

typedef oi_real (*oi_real_fn)(oi_real);
typedef _Complex long double (*oi_complex_fn)(_Complex long double);
/* One element: in[k] are the operands cast to `dtype`, the computation's; numbers too, after the
 * tensors. `mag` may be raised. */
typedef oi_num (*oi_element_fn)(const oi_row *row, const oi_sample *s, tn_dtype dtype,
                                const oi_num *in, oi_real *mag);

struct oi_row {
    const char *op;   /* "add.Tensor"; of the functional form where there is one */
    tn_dtypes dtypes; /* of the inputs for which the operator is defined */
    unsigned flags;
    const char *tolerance; /* a family of tolerances.c */
    /* The result's dtype may differ from the rule of flags: NULL where it does not. */
    void (*samples)(const oi_row *row, oi_samples *out, tn_dtype dtype, uint64_t seed);
    /* Fills results and returns how many; 0: no reference for this sample; -1: it failed, and
     * oi_reference_failure says how. Not asked for error samples. */
    int (*reference)(const oi_row *row, const oi_sample *s, oi_array *results);
    oi_element_fn element;
    const char *operands; /* elementwise rows: argument names in order, "self other alpha" */
    oi_real_fn real;
    oi_complex_fn cplx;
    double lo, hi;    /* the domain of values; 0, 0: the usual */
    int64_t kind;     /* the family's own */
    const void *data; /* the family's own */
};
typedef struct oi_rows {
    const oi_row *list;
    size_t n;
} oi_rows;
extern const oi_rows oi_rows_memory, oi_rows_unary, oi_rows_binary, oi_rows_ternary, oi_rows_reduce,
    oi_rows_view, oi_rows_create, oi_rows_copy, oi_rows_matrix, oi_rows_index, oi_rows_join,
    oi_rows_activation, oi_rows_arrange, oi_rows_scatter, oi_rows_moment, oi_rows_vector,
    oi_rows_loss, oi_rows_layer, oi_rows_order, oi_rows_search, oi_rows_channel_norm, oi_rows_gate,
    oi_rows_margin, oi_rows_pool, oi_rows_pad;
extern const oi_rows oi_rows_indexing, oi_rows_masks, oi_rows_places, oi_rows_quantile,
    oi_rows_unique, oi_rows_scatter_reduce;
const char *oi_reference_failure(void); /* formula_reference.c */
/* Every row of every family. */
const oi_row *oi_row_at(size_t i);
const oi_row *oi_row_find(const char *op); /* "aten::add.Tensor" or "add.Tensor" */
/* How elementwise families share one road (elementwise.c). */
void oi_elementwise_samples(const oi_row *row, oi_samples *out, tn_dtype dtype, uint64_t seed);
int oi_elementwise_reference(const oi_row *row, const oi_sample *s, oi_array *results);
tn_dtype oi_elementwise_dtype(const oi_row *row, const oi_sample *s); /* of the computation */

/* ---- tolerances (tolerances.c) --------------------------------------------------------------- */
/* The limit in units in the last place of max(|reference|, mag); 0 for exact. */
double oi_tolerance(const char *family, tn_dtype dtype);

/* ---- memory with guards (guard.c) ------------------------------------------------------------ */
typedef struct oi_window {
    unsigned char *at, *image;
    unsigned char *mask; /* 1 where an element lies */
    size_t n;
} oi_window;
typedef struct oi_buffer {
    tn_tensor *tensor;
    oi_window windows[4];
    int n_windows;
    void *memory;
    size_t mapped; /* bytes, when mmap was used */
    tn_tensor *base,
        *host; /* other devices than the host: what the tensor is a view of, and its twin here */
    uint64_t digest;
} oi_buffer;
/* A tensor with these elements; every byte around and between them is a sentinel. */
bool oi_buffer_make(oi_buffer *b, const oi_tensor *t, tn_device device, char *why);
/* Did anything change? With `elements` the elements count, too. Says what, where. */
bool oi_buffer_intact(const oi_buffer *b, bool elements, char *why);
void oi_buffer_free(oi_buffer *b);

/* ---- calls (call.c) -------------------------------------------------------------------------- */
typedef struct oi_call {
    const tn_op *op;
    const oi_sample *sample;
    bool refused; /* the call is to fail: for save.c */
    void *frame;
    oi_buffer buffers[OI_ARGS * 2];
    const tn_field *fields[OI_ARGS * 2]; /* whose buffer it is */
    tn_tensor **lists[OI_ARGS];
    int n_buffers, n_lists;
    tn_status status;
    char message[OI_TEXT], plugin[OI_TEXT];
    tn_tensor *results[OI_RESULTS];
    int n_results;
} oi_call;
/* Fills a frame from the sample by argument name. out: given to the out arguments in order, or
 * NULL. */
bool oi_call_make(oi_call *c, const tn_op *op, const oi_sample *s, tn_device device,
                  const oi_tensor *out, char *why);
void oi_call_run(oi_call *c);
void oi_call_free(oi_call *c);
/* Inputs as they were, and guards whole. */
bool oi_call_intact(const oi_call *c, char *why);
/* The elements of a tensor, host or not. */
bool oi_read(tn_tensor *t, oi_array *out, char *why);
const tn_op *oi_form_inplace(const tn_op *op);
const tn_op *oi_form_out(const tn_op *op);
bool oi_is_unsupported(tn_status s);

/* ---- comparison (compare.c) ------------------------------------------------------------------ */
typedef struct oi_error {
    bool bad;
    double ulp, absolute, normalised,
        limit; /* of the worst element; ulp: of the reference itself */
    int64_t at;
    char text[OI_TEXT];
    bool mistrusted;
} oi_error;
void oi_compare(const oi_array *got, const oi_array *want, const char *family, oi_error *e);

/* ---- cases (case.c, check_*.c) --------------------------------------------------------------- */
typedef struct oi_target {
    const char *name; /* "cpu" */
    const char *key;  /* "CPU" */
    tn_device device;
} oi_target;

typedef struct oi_case {
    const oi_row *row;
    const tn_op *op;
    const oi_target *target;
    tn_dtype dtype;
    uint64_t seed;
    int only_sample; /* -1: all */
    bool slow;       /* gradients: every element instead of projections */
} oi_case;

typedef struct oi_result {
    int32_t state, column;
    int32_t sample; /* the one that decided; -1: none */
    int32_t samples;
    int32_t expected; /* unsupported, and the row does not ask for it */
    double ulp, absolute, normalised, limit;
    char message[OI_TEXT];
} oi_result;

typedef void (*oi_check)(const oi_case *c, const oi_samples *s, oi_result *r);
extern const oi_check oi_checks[OI_COLUMNS];
void oi_check_dtypes(const oi_case *c, const oi_samples *s, oi_result *r);
void oi_check_values(const oi_case *c, const oi_samples *s, oi_result *r);
void oi_check_inplace(const oi_case *c, const oi_samples *s, oi_result *r);
void oi_check_out(const oi_case *c, const oi_samples *s, oi_result *r);
void oi_check_meta(const oi_case *c, const oi_samples *s, oi_result *r);
void oi_check_alias(const oi_case *c, const oi_samples *s, oi_result *r);
void oi_check_errors(const oi_case *c, const oi_samples *s, oi_result *r);
void oi_check_repeat(const oi_case *c, const oi_samples *s, oi_result *r);
void oi_check_threads(const oi_case *c, const oi_samples *s, oi_result *r);
void oi_check_grad(const oi_case *c, const oi_samples *s, oi_result *r);
void oi_check_gradgrad(const oi_case *c, const oi_samples *s, oi_result *r);
void oi_check_jvp(const oi_case *c, const oi_samples *s, oi_result *r);
bool oi_is_meta(const oi_case *c);
/* Does this column say anything about this case? */
bool oi_column_applies(const oi_case *c, oi_column column);
/* Records a failure of one sample, unless a worse one is recorded. */
void oi_blame(oi_result *r, oi_state state, const oi_sample *s, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool oi_wanted(const oi_case *c, const oi_sample *s);
void oi_take_error(oi_result *r, const oi_error *e);
bool oi_clear_message(const oi_call *call, char *why);

/* ---- a run (run.c, report.c) ----------------------------------------------------------------- */
typedef struct oi_record {
    oi_case c;
    oi_result r;
} oi_record;

typedef struct oi_run {
    const oi_target *targets;
    int n_targets;
    tn_dtypes dtypes;
    uint64_t seed;
    int jobs, timeout_s;
    bool slow;
    int column, sample; /* -1: all */
    const oi_row **rows;
    const tn_op **ops;
    size_t n_rows;
    oi_record *records;
    size_t n, cap;
    const char **uncovered; /* operators that have no row */
    size_t n_uncovered;
    double seconds;
    const char *plugin, *schema; /* as given; NULL: none */
    const char *save;            /* the folder of replay files; NULL: none are written */
} oi_run;
bool oi_run_all(oi_run *run); /* false: no child could be started */
/* Runs the failed cases again, and leaves the call that failed in run->save as a replay file.
 * False: the folder cannot be made. */
bool oi_run_save(const oi_run *run);
/* Where the replay file of a case is, if there is one. */
const char *oi_replay_path(const oi_run *run, const oi_record *r, char *buf, size_t n);

/* ---- replay files (save.c) ------------------------------------------------------------------- */
/* From here on every call of a case is written to this file before it is made; NULL: none. */
void oi_save_to(const char *path);
void oi_save_case(const oi_case *c);
void oi_save_call(const oi_call *call);
/* A sample (NULL: none) is to blame: the file stays as it is when it holds that sample's call. */
void oi_save_blamed(const oi_sample *s);

#endif

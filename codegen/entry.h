/* entry.h - the model: what native_functions.yaml says, one struct per native function.
 *
 *     bytes --tree.c--> nodes with positions --entry.c--> cg_entry[] --validate*.c--> errors, or
 * facts (back half)
 *
 * A file is read whole, errors and all: an entry whose func line does not parse stays in the list
 * with a NULL schema, so that what refers to it is still found. Only after cg_validate without an
 * error may the back half rely on an entry. Every text keeps its position, so that a later stage
 * (the expression parser of `pointwise`) can point into the YAML with cg_at.
 *
 * Memory: everything lives in the file's arena; cg_file_free releases all of it. */
#ifndef TN_CODEGEN_ENTRY_H
#define TN_CODEGEN_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "diag.h"
#include "schema.h"

/* A scalar with the place it was written. text is NULL when the key is absent. */
typedef struct cg_str {
    const char *text;
    cg_pos pos;      /* of the first character of the content: after an opening quote */
    const char *src; /* the source bytes from there on, for cg_at */
    char style;      /* 'p'lain, '\'' or '"' quoted, 'b'lock */
} cg_str;

/* Position of text[offset] in the file, through quotes, escapes and folded lines. */
cg_pos cg_at(const cg_str *s, size_t offset);

enum { CG_VARIANT_FUNCTION = 1, CG_VARIANT_METHOD = 2 };

typedef enum cg_device_check {
    CG_DEVICE_CHECK_EXACT_SAME,
    CG_DEVICE_CHECK_NO_CHECK,
} cg_device_check;

/* One dispatch key and its kernel. "CPU, CUDA: add" makes two. */
typedef struct cg_kernel {
    const char *key;  /* "CPU", "CompositeExplicitAutograd", ... */
    const char *ns;   /* "a::b" as written before the kernel; "" when none was */
    const char *name; /* without its namespace */
    cg_pos key_pos, pos;
    bool structured; /* the entry is structured and so is this key: a meta function and an impl, not
                        a kernel */
    bool implied;    /* not written: a ufunc's CPU and CUDA, or CompositeImplicitAutograd when no
                        dispatch is given */
} cg_kernel;

/* "dim -> int dim, int size": the impl gets the new arguments in place of the old one. */
typedef struct cg_precomputed {
    const char *replaces; /* an argument's name; NULL: `added` stand after all arguments */
    const tn__arg *added;
    int n_added;
    cg_pos pos;
} cg_precomputed;

/* "Generic: add (AllAndComplex, BFloat16)". */
typedef struct cg_ufunc {
    const char *key; /* Generic, ScalarOnly, CUDAFunctor, CPUScalar, ... */
    const char *name;
    const char *const *dtypes; /* ATen's names: All, AllAndComplex, Half, ... */
    int n_dtypes;
    cg_pos pos;
} cg_ufunc;

/* Which forms our one declaration (pointwise, shape) stands for. 0: the entry is ATen's, and only
 * itself. */
enum { CG_FORM_FUNCTIONAL = 1, CG_FORM_INPLACE = 2, CG_FORM_OUT = 4 };

/* One dtype: bit n of a cg_dtypes is the dtype with PyTorch's ScalarType number n. */
typedef uint64_t cg_dtypes;

typedef struct cg_file cg_file;

typedef struct cg_entry {
    const cg_file *file;
    cg_pos pos;               /* of the entry's first key */
    cg_str func;              /* the schema as written */
    const tn__schema *schema; /* NULL: it did not parse, and that has been reported */
    tn__schema_kind kind;
    const char *op; /* "add.Tensor": name and overload, no namespace; "" when func was no string */
    bool misread;   /* reading it reported an error */
    bool broken;    /* a YAML error cut the entry short: only its name is of use */

    unsigned variants; /* CG_VARIANT_* */
    const cg_kernel *dispatch;
    int n_dispatch;    /* written and implied */
    bool has_dispatch; /* a dispatch key was written */

    bool structured; /* written `structured: True`; ours (is_ours) are structured without saying so
                      */
    cg_str structured_delegate, structured_inherits;
    const cg_precomputed *precomputed;
    int n_precomputed;
    const cg_ufunc *ufunc_inner_loop;
    int n_ufunc_inner_loop;

    const cg_str *autogen; /* operator names: "foo", "foo.out" */
    int n_autogen;
    const cg_str *tags;
    int n_tags;
    const cg_str *cpp_no_default_args;
    int n_cpp_no_default_args;

    cg_device_check device_check;
    bool device_guard; /* default true */
    bool manual_cpp_binding, manual_kernel_registration, use_const_ref_for_mutable_tensors;
    cg_str python_module, category_override;

    /* ours */
    bool is_ours;                    /* has pointwise or shape */
    cg_str pointwise;                /* a scalar expression */
    cg_str reference;                /* of an operator by hand: what it computes (reference.h) */
    const struct cg_sample *samples; /* calls for `tenon opinfo` (samples.h) */
    int n_samples;
    cg_str shape;             /* a shape rule call: "reduce(self, dim, keepdim, dtype)" */
    cg_str dtypes_text;       /* as written (the first item of a list); text is NULL when absent */
    cg_dtypes dtypes;         /* 0: no dtypes key, every dtype the rule gives */
    cg_str since;             /* "0.1", "1.2.3" */
    unsigned forms;           /* CG_FORM_*; 0 when !is_ours */
    cg_str out;               /* the out key as written */
    const char *out_overload; /* overload of the out= form, by the key or by the default rule; NULL
                                 when !is_ours */
    const char *const
        *out_names; /* names of the out arguments, n_rets of them; NULL when !is_ours */

    const struct cg_node *node; /* the YAML mapping: positions of keys, for messages */
} cg_entry;

struct cg_file {
    const char *name; /* as given; what messages print */
    tn__arena arena;
    const cg_entry *entries;
    int n_entries;
    bool complete; /* false: the YAML broke off, later entries are missing (and an error says so) */
};

/* Read a file, or n bytes that stand for the file `name`. Errors go to d; the result holds what
 * could be read. NULL only when memory ran out or the file cannot be opened (both reported in d).
 */
cg_file *cg_file_read(cg_diag *d, const char *path);
cg_file *cg_file_parse(cg_diag *d, const char *name, const char *bytes, size_t n);
void cg_file_free(cg_file *f);

/* All rules of one file: each entry by itself, then entries among each other. */
void cg_validate(cg_diag *d, const cg_file *f);

/* The entry named "name.overload", whatever its namespace, or NULL. */
const cg_entry *cg_file_find(const cg_file *f, const char *op);

/* The position of key `key` in an entry; the entry's own position when it was not written. */
cg_pos cg_entry_key_pos(const cg_entry *e, const char *key);
bool cg_entry_has_tag(const cg_entry *e, const char *tag);

/* "add_out" for add.out, else the function's own name: PyTorch's default name of a kernel. NULL: no
 * memory. */
const char *cg_default_kernel(tn__arena *a, const tn__schema *s);

/* The forms that follow from one functional declaration, as if they had been written:
 *   add.Tensor(Tensor self, Tensor other) -> Tensor
 *   add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
 *   add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
 * NULL when the entry has no such form (forms, not ours) or when memory ran out. */
const tn__schema *cg_schema_inplace(tn__arena *a, const cg_entry *e);
const tn__schema *cg_schema_out(tn__arena *a, const cg_entry *e);

/* Where the dtype, layout, device, pin_memory block of a factory function begins, or -1. */
int cg_options_at(const tn__schema *s);

/* A dtype's or a group's (all, floating, complex, integral, bool) bits; 0 when there is no such
 * name. */
cg_dtypes cg_dtypes_parse(const char *name, size_t n);

#endif

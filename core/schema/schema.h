/* schema.h - a function schema as data: what the parser makes, and what everyone else reads.
 *
 * A schema is one line of PyTorch's function-schema language:
 *     ns::name.overload(Type arg, Type arg=default, *, Type kwonly) -> (Type name, ...)
 * The grammar is PyTorch's in full: ATen's YAML subset and the JIT's types (Dict, Future, tuples,
 * type variables, custom classes, varargs). One parser serves the generator, the library and the
 * command.
 *
 * Memory: every part of a schema lives in its arena; tn__arena_free releases all of it at once.
 * Threads: no state is shared; parse as many at once as you like. */
#ifndef TN_CORE_SCHEMA_SCHEMA_H
#define TN_CORE_SCHEMA_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- arena: bump allocation that is released as a whole -------------------------------------- */
typedef struct tn__arena {
    struct tn__arena_block *head;
} tn__arena; /* zero-initialised is empty and ready */

/* Zeroed, 16-aligned; NULL when memory ran out. */
void *tn__arena_alloc(tn__arena *a, size_t bytes);
char *tn__arena_strndup(tn__arena *a, const char *s, size_t n);
void tn__arena_free(tn__arena *a);

/* ---- types ----------------------------------------------------------------------------------- */
typedef enum tn__type_kind {
    TN__TYPE_TENSOR,
    TN__TYPE_INT,
    TN__TYPE_SYMINT,
    TN__TYPE_FLOAT,
    TN__TYPE_SYMFLOAT,
    TN__TYPE_BOOL,
    TN__TYPE_SYMBOOL,
    TN__TYPE_COMPLEX,
    TN__TYPE_STR,
    TN__TYPE_SCALAR, /* "Scalar"; the JIT's "number" too (name keeps the spelling) */
    TN__TYPE_SCALARTYPE,
    TN__TYPE_DEVICE,
    TN__TYPE_DEVICEINDEX,
    TN__TYPE_LAYOUT,
    TN__TYPE_MEMORYFORMAT,
    TN__TYPE_GENERATOR,
    TN__TYPE_DIMNAME,
    TN__TYPE_STORAGE,
    TN__TYPE_STREAM,
    TN__TYPE_QSCHEME,
    TN__TYPE_NONE,     /* NoneType */
    TN__TYPE_ANY,      /* Any, AnyClassType, AnyEnumType, ...: name keeps the spelling */
    TN__TYPE_VAR,      /* a type variable: t, t1, tVal */
    TN__TYPE_CLASS,    /* __torch__.torch.classes.ns.Name and other dotted or unknown-to-ATen JIT
                          classes */
    TN__TYPE_OPTIONAL, /* elem? */
    TN__TYPE_LIST,     /* elem[] or elem[N] */
    TN__TYPE_DICT,     /* Dict(key, elem) */
    TN__TYPE_FUTURE,   /* Future(elem), RRef(elem), Await(elem): name says which */
    TN__TYPE_TUPLE,    /* (A, B) as a type */
    TN__TYPE_UNION,    /* Union[A, B], Union(A, B): name is "Union[" or "Union(", as written */
} tn__type_kind;

/* (a), (a!), (a|b), (a -> *), (a! -> b|c): which values a tensor shares memory with, and whether it
 * is written. */
typedef struct tn__alias {
    const char *before; /* set names as written, "a|b"; "" for "(!)" */
    const char *after;  /* NULL when there is no arrow: same as before */
    bool is_write;
    bool bare; /* written "Tensor! x", without parentheses: a set of its own, with no name */
} tn__alias;

typedef struct tn__type tn__type;
struct tn__type {
    tn__type_kind kind;
    const char *name; /* canonical spelling of a leaf type, or the class's dotted name; else NULL */
    const tn__type *elem;           /* optional, list, future; a dict's values */
    const tn__type *key;            /* a dict's keys */
    const tn__type *const *members; /* tuple, union */
    int n_members;
    int64_t list_size;      /* N of elem[N]; -1 for elem[] */
    const tn__alias *alias; /* NULL: none written here */
};

/* ---- default values -------------------------------------------------------------------------- */
typedef enum tn__value_kind {
    TN__VALUE_NONE,
    TN__VALUE_BOOL,
    TN__VALUE_INT,
    TN__VALUE_FLOAT,
    TN__VALUE_COMPLEX,
    TN__VALUE_STR,
    TN__VALUE_IDENT, /* Mean, contiguous_format, long, strided, ...: text holds it */
    TN__VALUE_LIST,
} tn__value_kind;

typedef struct tn__value tn__value;
struct tn__value {
    tn__value_kind kind;
    const char *text; /* as written; for STR the decoded text without its quotes */
    int64_t i;        /* BOOL, INT */
    double re, im;    /* FLOAT (re), COMPLEX */
    const tn__value *items;
    int n_items;
    char quote;         /* STR: '"' or '\'' as written */
    const char *source; /* the whole value as written, so that a schema prints back as read */
    int column;         /* 1-based, where the value begins */
};

/* ---- the schema ------------------------------------------------------------------------------ */
typedef struct tn__arg {
    const char *name; /* NULL only for an unnamed return */
    const tn__type *type;
    const tn__value *def; /* NULL: required */
    bool kwonly;
    bool is_out;     /* kwarg-only and written: known by this, not by its position */
    int column;      /* 1-based, in the text that was parsed: where the argument begins */
    int name_column; /* the same of its name; 0 when it has none */
} tn__arg;

typedef struct tn__schema {
    const char *text;     /* the source, as given */
    const char *ns;       /* "aten" when none was written (ns_written says) */
    const char *name;     /* "add", "add_", "__and__" */
    const char *overload; /* "" for the default overload */
    bool ns_written;
    bool is_vararg, is_varret;
    bool returns_in_parens; /* a single return may stand in parentheses */
    tn__arg *args;
    int n_args;
    int n_positional; /* args[0 .. n_positional) stand before '*' */
    tn__arg *rets;
    int n_rets;
} tn__schema;

/* As ATen names them. */
typedef enum tn__schema_kind {
    TN__SCHEMA_FUNCTIONAL,
    TN__SCHEMA_INPLACE, /* name_ with a written self */
    TN__SCHEMA_OUT,     /* has out arguments */
    TN__SCHEMA_MUTABLE, /* writes some other argument */
} tn__schema_kind;

/* What was wrong: one sentence, and where. */
typedef struct tn__schema_error {
    int column; /* 1-based column in the parsed text */
    char message[512];
} tn__schema_error;

/* Parses n bytes at text. Returns NULL and fills *err when it is not a schema, or when memory ran
 * out. The grammar accepts everything that PyTorch's own parsers accept; with `strict` the
 * additional rules of a *new* schema hold too (default of the right type, no required argument
 * after a defaulted positional one, list default as long as its [N], unique names, known types
 * only). */
const tn__schema *tn__schema_parse(tn__arena *a, const char *text, size_t n, bool strict,
                                   tn__schema_error *err);

/* Prints as PyTorch prints, so that text read from native_functions.yaml comes back byte for byte.
 * Returns the length that the whole needs (like snprintf); writes at most cap bytes with the final
 * NUL. */
size_t tn__schema_print(const tn__schema *s, char *buf, size_t cap);
size_t tn__type_print(const tn__type *t, char *buf, size_t cap);
/* A short word for the type's kind in messages: "Tensor", "int", "optional", "list", ... */
const char *tn__type_kind_name(tn__type_kind kind);

tn__schema_kind tn__schema_kind_of(const tn__schema *s);
bool tn__schema_is_mutable(const tn__schema *s);
bool tn__type_equal(const tn__type *a, const tn__type *b); /* without alias annotations */
bool tn__value_equal(const tn__value *a, const tn__value *b);
/* The number behind a name that may stand as a default: Mean, contiguous_format, long, ... */
bool tn__value_named_int(const char *name, int64_t *out);
/* A type's innermost annotation that matters to aliasing: of Tensor, Tensor?, Tensor[], ... NULL
 * when none. */
const tn__alias *tn__type_alias(const tn__type *t);

#endif

/* words.h - the vocabulary of native_functions.yaml: keys, tags, dispatch keys, types, dtypes, and
 * PyTorch's own exceptions to its rules. All are plain tables: a new tag or dispatch key is one
 * more line in words.c. */
#ifndef TN_CODEGEN_WORDS_H
#define TN_CODEGEN_WORDS_H

#include "entry.h"

typedef struct cg_words {
    const char *const *list;
    int n;
} cg_words;

extern const cg_words cg_keys;            /* of an entry: ATen's and ours */
extern const cg_words cg_tags;            /* of PyTorch 1.13, 2.4 and 2.9 together */
extern const cg_words cg_dispatch_keys;   /* that a dispatch table may name */
extern const cg_words cg_structured_keys; /* dispatch keys a structured kernel can serve */
extern const cg_words cg_base_types;      /* leaf types of native_functions.yaml */
extern const cg_words cg_ufunc_keys;
extern const cg_words cg_ufunc_dtypes; /* ATen's names, classes included */
extern const cg_words cg_dtype_words;  /* ours: f32, ..., all, floating, ... */
extern const cg_words cg_python_keywords;

/* Functions that PyTorch's files declare although a rule of theirs forbids it. Operator names. */
extern const cg_words cg_except_keyword; /* an argument named like a Python keyword */
extern const cg_words
    cg_except_seeded; /* random by name, or older than the rule for their arguments */
extern const cg_words cg_except_const_ref; /* use_const_ref_for_mutable_tensors on an out= form */
extern const cg_words cg_except_no_out;    /* return no tensor, so that no out= form can be made */
extern const cg_words
    cg_except_out_alone; /* an out= form whose functional one has another signature */
extern const cg_words cg_except_inplace; /* in-place forms that cannot be grouped */

bool cg_word_in(cg_words words, const char *word);

/* "; did you mean 'x'?" when a word of the list is near, else "; one of: ..." cut to the buffer. */
const char *cg_hint(char *buf, size_t cap, cg_words words, const char *word);

#endif

/* compat_impl.h - what compat.c and compat_pytorch.c share. */
#ifndef TN_CORE_SCHEMA_COMPAT_IMPL_H
#define TN_CORE_SCHEMA_COMPAT_IMPL_H

#include "compat.h"

/* Sets the verdict to no, with the argument it is about (NULL: none) and the reason. Always returns
 * false. */
bool tn__compat_no(tn__compat_side *side, const char *argument, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The first out argument's index; n_args when there is none. */
int tn__compat_first_out(const tn__schema *s);

/* PyTorch's verdicts. The first is what PyTorch says of two texts, its parser included, which does
 * not know that f is aten::f and does not survive every schema that ours reads. */
void tn__compat_pytorch(const tn__schema *old, const tn__schema *now, tn__compat *out);
void tn__compat_pytorch_backward(const tn__schema *old, const tn__schema *now,
                                 tn__compat_side *side);
void tn__compat_pytorch_forward(const tn__schema *old, const tn__schema *now,
                                tn__compat_side *side);

/* Are two annotations the same, sets compared as sets? Of whole types: with the places they stand
 * at. */
bool tn__compat_alias_equal(const tn__type *a, const tn__type *b);
/* The N of int[N] or int[N]?; -1 for none. */
int64_t tn__compat_list_size(const tn__type *t);

/* Is every value of a one of b? With `merge_ints` int, SymInt, ScalarType, Layout, MemoryFormat and
 * DeviceIndex are one type, so are str and Dimname, all type variables, T?? and T?, as PyTorch's
 * check sees them; without it int is part of SymInt. */
bool tn__compat_subtype(const tn__type *a, const tn__type *b, bool merge_ints);

/* subtype.c: defaults as PyTorch evaluates them: Mean is 1, int[2]=0 is [0, 0], float=1 is 1.0. */
bool tn__compat_default_equal(const tn__arg *a, const tn__arg *b);

#endif

/* tree_impl.h - what tree.c and tree_bytes.c share. */
#ifndef TN_CODEGEN_TREE_IMPL_H
#define TN_CODEGEN_TREE_IMPL_H

#include "tree.h"

/* Reports and blanks the bytes that YAML does not allow, so that they do not hide later errors. */
void cg_bytes_clean(cg_diag *d, const char *name, char *bytes, size_t n);

/* Bytes of the line break at s, as libyaml counts lines; 0 when there is none. */
size_t cg_line_break(const char *s, size_t n);

/* What an unquoted scalar is; *truth is set for a truth value. */
cg_node_kind cg_plain_kind(const char *text, bool *truth);

#endif

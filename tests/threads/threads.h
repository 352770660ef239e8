/* threads.h - what the files of the thread tests share. */
#ifndef TN_TESTS_THREADS_H
#define TN_TESTS_THREADS_H

#include <stdbool.h>

enum { N_THREADS = 8, ROUNDS = 500 };

/* What a thread found wrong, or NULL. */
typedef const char *(*test_fn)(int thread);

/* ---- autograd.c ------------------------------------------------------------------------------ */
bool autograd_begin(void);
void autograd_end(void);
const char *parameters(int thread);
const char *parameters_after(void);
const char *operators(int thread);
const char *operators_after(void);
const char *graph(int thread);
const char *graph_after(void);

#endif

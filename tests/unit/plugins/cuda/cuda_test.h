/* cuda_test.h - what the tests of the cuda plugin share: loading it, and the simulator's
 * environment. */
#ifndef TN_TESTS_CUDA_TEST_H
#define TN_TESTS_CUDA_TEST_H

#include <stdbool.h>

/* Loads the plugins cpu, composite and cuda of this build; false, with a line on stderr, where
 * cuda was not built. */
bool cuda_test_load(void);
/* The plugin was built with TENON_CUDA_PLAIN. */
bool cuda_test_is_plain(void);
/* The directory with the simulator's libcudart.so.13, built once into a temporary directory; NULL,
 * with a line on stderr, where shared/cudasim is not there or does not build. */
const char *cuda_test_simulator(void);

#endif

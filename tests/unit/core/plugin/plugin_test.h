/* plugin_test.h - plugins built while the test runs, from tests/plugins/, in a directory of the
 * test's own. */
#ifndef TN_TESTS_PLUGIN_TEST_H
#define TN_TESTS_PLUGIN_TEST_H

#include <stdbool.h>

#include <tenon/op.h>
#include <tenon/runtime.h>

/* Makes the test's directory, which is the cache's, too, and forgets the environment's plugins; skips the test, visibly, where
 * no C compiler is. */
void plugin_test_begin(void);
void plugin_test_end(void);
const char *plugin_test_directory(void);

/* Builds DIRECTORY/name.so from tests/plugins/source (C, or C++ by its name's end) with these compiler
 * flags; returns its path, which stays valid. */
const char *plugin_build(const char *name, const char *source, const char *flags);
/* A file of n bytes in the test's directory. */
const char *plugin_file(const char *name, const void *bytes, size_t n);
/* Runs a shell command made with printf, and fails the test when it fails. */
void plugin_shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The report's entry for a path (the last one that ends so); false when there is none. */
bool plugin_reported(const char *path_end, tn_plugin_info *out);
/* Loads the plugin and fails the test when that fails. */
tn_plugin_handle *plugin_loaded(const char *path);
/* Expects the load to fail with a message that contains every text (NULL ends them), and the report
 * to say the same. */
void plugin_refused(const char *path, const char *state, const char *text, const char *more);

/* NS::scale on {x}: its status, and its result in *out when that is TN_OK. */
tn_status plugin_scale(const char *ns, float x, double s, float *out);
tn_status plugin_scale_op(const tn_op *op, float x, double s, float *out);
/* How many operators are registered. */
size_t plugin_operators(void);

#endif

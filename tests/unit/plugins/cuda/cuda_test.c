/* Loading the plugin under test, and building the CUDA simulator where it is at hand. */
#include "cuda_test.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tenon/runtime.h>

static const char *plugin_path(const char *name)
{
    static char path[4096];
    const char *build = getenv("TENON_PLUGIN_PATH");
    snprintf(path, sizeof path, "%s/%s.so", build ? build : "lib/tenon/plugins", name);
    return path;
}

static bool load(const char *name)
{
    const char *path = plugin_path(name);
    if (access(path, R_OK) != 0) {
        fprintf(stderr, "skipped: %s was not built\n", path);
        return false;
    }
    cr_assert_eq(tn_plugin_load(path, NULL), TN_OK, "%s", tn_error_last()->message);
    return true;
}

bool cuda_test_load(void)
{
    return load("cuda") && load("cpu") && load("composite");
}

/* The build says so: compressed code cannot be told by its bytes. */
bool cuda_test_is_plain(void)
{
    return getenv("TENON_CUDA_PLAIN") != NULL;
}

static const char *shared_folder(void)
{
    static char path[4096];
    const char *shared = getenv("TENON_SHARED"), *source = getenv("TENON_SOURCE");
    if (shared)
        return shared;
    snprintf(path, sizeof path, "%s/../shared", source ? source : ".");
    return path;
}

const char *cuda_test_simulator(void)
{
    static char directory[1200];
    const char *temporary = getenv("TMPDIR");
    char root[1024], source[4200], library[1300], command[12000];
    snprintf(source, sizeof source, "%s/cudasim", shared_folder());
    snprintf(root, sizeof root, "%s/tenon-cudasim-%u", temporary ? temporary : "/tmp",
             (unsigned)getuid());
    snprintf(directory, sizeof directory, "%s/build/sim", root);
    snprintf(library, sizeof library, "%s/libcudart.so.13", directory);
    if (access(source, R_OK) != 0) {
        fprintf(stderr, "skipped: no CUDA simulator at %s\n", source);
        return NULL;
    }
    if (access(library, R_OK) == 0)
        return directory;
    snprintf(command, sizeof command,
             "nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc); home=$(dirname $(dirname "
             "$(readlink -f \"$nvcc\"))); "
             "mkdir -p '%s' && cp -r '%s/.' '%s' && make -s -C '%s' CUDA_HOME=\"$home\" "
             "build/sim/libcudart.so.13 >&2",
             root, source, root, root);
    if (system(command) == 0 && access(library, R_OK) == 0)
        return directory;
    fprintf(stderr, "skipped: the CUDA simulator does not build here\n");
    return NULL;
}

/* gen.c - tenon-gen-border: tenon/border.h and docs/border.md from abi/border.yaml.
 *
 * A program of its own, because tenon-gen is compiled against the header that this one makes. */
#include <stdlib.h>
#include <string.h>

#include "border.h"

static const char help[] =
    "tenon-gen-border - the plugin border's header and page from its description\n"
    "\n"
    "  tenon-gen-border --description FILE --templates DIR --out DIR [--check]\n"
    "\n"
    "  --description FILE  abi/border.yaml\n"
    "  --templates DIR     the m4 templates: codegen/templates\n"
    "  --out DIR           where include/tenon/border.h and docs/border.md are written, if they\n"
    "                      would change\n"
    "  --check             write nothing; fail when a file is not what would be written\n"
    "\n"
    "Exit status: 0 all well; 1 the description has errors, or --check found a difference; 2 "
    "wrong\n"
    "use.\n";

static int usage(const char *what)
{
    fprintf(stderr, "tenon-gen-border: %s; see 'tenon-gen-border --help'\n", what);
    return 2;
}

/* The value behind argv[*i] when that is `name`. */
static bool take(int argc, char **argv, int *i, const char *name, const char **value)
{
    if (strcmp(argv[*i], name) != 0 || *i + 1 >= argc)
        return false;
    *value = argv[++*i];
    return true;
}

int main(int argc, char **argv)
{
    const char *description = NULL;
    cg_out out = {0};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            fputs(help, stdout);
            return 0;
        }
        if (strcmp(argv[i], "--check") == 0)
            out.check = true;
        else if (!take(argc, argv, &i, "--description", &description) &&
                 !take(argc, argv, &i, "--templates", &out.template_dir) &&
                 !take(argc, argv, &i, "--out", &out.outdir))
            return usage("unknown option, or an option without its value");
    }
    if (!description || !out.template_dir || !out.outdir)
        return usage("--description, --templates and --out are needed");
    cg_diag d = {0};
    bool ok = cg_border(&d, &out, description);
    cg_diag_print(&d, stderr, CG_DIAG_TEXT);
    cg_diag_free(&d);
    return ok ? 0 : 1;
}

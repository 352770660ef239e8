/* stamp.h - whether a run would change nothing: the second run's short road.
 *
 * The stamp, a file in the output directory, holds a hash of everything that the outputs depend on
 * (schema, derivatives, templates, this program, what to make) and the path and hash of each output. A run whose
 * inputs hash the same, and whose outputs are all there and still hash the same, has nothing to do.
 * Contents are compared, never times, so a touched, edited or deleted output is seen. */
#ifndef TN_CODEGEN_STAMP_H
#define TN_CODEGEN_STAMP_H

#include "emit.h"

/* A hash of the inputs; 0 when one cannot be read (then there is no short road). A file may be NULL:
 * absent. `what` tells kinds of runs apart, "plugin myops". */
uint64_t cg_stamp_inputs(const char *const *files, int n, const char *template_dir,
                         const char *what);

/* Everything below outdir is as the run with these inputs left it. */
bool cg_stamp_holds(const char *outdir, uint64_t inputs);

/* Leaves the stamp of a run that made out->made. Without one the next run takes the long road. */
void cg_stamp_leave(const cg_out *out, uint64_t inputs);

#endif

/* safetensors.h - reads one tensor of a safetensors file. */
#ifndef EXAMPLES_SAFETENSORS_H
#define EXAMPLES_SAFETENSORS_H

#include <tenon/tensor.h>

/* The caller's; NULL when there is no such tensor or the file is broken, and `why` says which. The
 * header is believed in nothing: sizes and offsets are checked against the file. */
tn_tensor *safetensors_read(const char *path, const char *name, char why[200]);

#endif

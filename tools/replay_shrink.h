/* replay_shrink.h - a recorded case that can be made simpler, one step at a time. */
#ifndef TENON_TOOLS_REPLAY_SHRINK_H
#define TENON_TOOLS_REPLAY_SHRINK_H

#include "replay_impl.h"

typedef struct shrink_part {
    char name[32];
    const char *dtype; /* as the file spells it; static */
    char *data;
    size_t bytes;
} shrink_part;

typedef struct shrink {
    json_t *case_;
    shrink_part *parts;
    size_t n;
    int left; /* sites to pass before the step is applied; see shrink_step */
    bool applied;
    bool keeps_results; /* steps that leave the results as they are, alone */
    bool by_front;      /* the half that was kept is of a dimension counted from the first */
} shrink;

/* Case i of a file; false when it is malformed or memory runs out. */
bool shrink_open(shrink *s, const replay_file *f, size_t i);
bool shrink_copy(shrink *to, const shrink *from);
void shrink_free(shrink *s);
/* The file of this one case. */
bool shrink_save(const shrink *s, const char *path);

/* How far from the simplest call; a step is taken only when this falls. */
double shrink_cost(const shrink *s);

/* ---- for the steps --------------------------------------------------------------------------- */
/* A storage more, copied; false: out of memory. */
bool shrink_add_part(shrink *s, const char *name, const char *dtype, const void *data,
                     size_t bytes);
shrink_part *shrink_find_part(const shrink *s, const char *name);
/* Calls fn for every tensor in a value, until it says false. */
typedef bool (*shrink_tensor_fn)(void *arg, json_t *tensor);
bool shrink_each_tensor(json_t *value, shrink_tensor_fn fn, void *arg);
int64_t shrink_at(const json_t *list, size_t i);
double shrink_elements(const json_t *tensor);
bool shrink_is_plain(const json_t *tensor); /* row-major from offset 0 */

/* ---- replay_steps.c -------------------------------------------------------------------------- */
/* Applies the `number`th step that there is, of those that change the arguments alone; false: there are
 * no more. */
bool shrink_step(shrink *s, int number);
/* The `number`th step that keeps half of a dimension of results and arguments alike: counted from
 * the last one, for operators that work element by element, then from the first one, for those that
 * work row by row. `other`: the other half instead. */
bool shrink_half(shrink *s, int number, bool other);

/* replay_minimize.c: `tenon replay --minimize FILE`. */
int replay_minimize(const char *path, const char *out, int number, int seconds);

#endif

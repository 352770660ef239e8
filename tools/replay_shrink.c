/* replay_shrink.c - a recorded case by itself, with its storages, and what it costs: the number that
 * every step of replay_steps.c must lower. */
#include "replay_shrink.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the case and its storages --------------------------------------------------------------- */
bool shrink_add_part(shrink *s, const char *name, const char *dtype, const void *data, size_t bytes)
{
    shrink_part *more = realloc(s->parts, (s->n + 1) * sizeof *more);
    char *copy = malloc(bytes + 1);
    if (more)
        s->parts = more;
    if (!more || !copy) {
        free(copy);
        return false;
    }
    if (bytes)
        memcpy(copy, data, bytes);
    shrink_part *p = &s->parts[s->n++];
    *p = (shrink_part){.dtype = dtype, .data = copy, .bytes = bytes};
    snprintf(p->name, sizeof p->name, "%s", name);
    return true;
}

shrink_part *shrink_find_part(const shrink *s, const char *name)
{
    for (size_t i = 0; name && i < s->n; i++)
        if (strcmp(s->parts[i].name, name) == 0)
            return &s->parts[i];
    return NULL;
}

bool shrink_each_tensor(json_t *value, shrink_tensor_fn fn, void *arg)
{
    const char *key;
    json_t *v;
    size_t i;
    if (json_object_get(value, "tensor"))
        return fn(arg, value);
    if (json_is_array(value))
        json_array_foreach(value, i, v) if (!shrink_each_tensor(v, fn, arg)) return false;
    if (json_is_object(value))
        json_object_foreach(value, key, v) if (!shrink_each_tensor(v, fn, arg)) return false;
    return true;
}

typedef struct reading {
    shrink *s;
    const replay_file *f;
    int n;
} reading;

static bool read_storage(void *arg, json_t *tensor)
{
    reading *r = arg;
    replay_array a;
    replay_outcome o;
    st_entry e;
    const char *name = json_string_value(json_object_get(tensor, "tensor"));
    if (!replay_recorded(r->f, r->n, tensor, &a, &e, &o))
        return false;
    return shrink_find_part(r->s, name) ||
           shrink_add_part(r->s, name, replay_dtypes[a.dtype].stored, e.data, e.bytes);
}

bool shrink_open(shrink *s, const replay_file *f, size_t i)
{
    *s = (shrink){.case_ = json_deep_copy(replay_case(f, i))};
    reading r = {s, f, replay_case_number(f, i)};
    json_object_set_new(s->case_, "n", json_integer(0));
    return s->case_ && shrink_each_tensor(s->case_, read_storage, &r);
}

bool shrink_copy(shrink *to, const shrink *from)
{
    *to = (shrink){.case_ = json_deep_copy(from->case_), .keeps_results = from->keeps_results};
    bool ok = to->case_ != NULL;
    for (size_t i = 0; i < from->n && ok; i++)
        ok = shrink_add_part(to, from->parts[i].name, from->parts[i].dtype, from->parts[i].data,
                             from->parts[i].bytes);
    return ok;
}

void shrink_free(shrink *s)
{
    json_decref(s->case_);
    while (s->n)
        free(s->parts[--s->n].data);
    free(s->parts);
    *s = (shrink){0};
}

static bool is_named(void *arg, json_t *tensor)
{
    return strcmp(json_string_value(json_object_get(tensor, "tensor")), arg) != 0;
}

bool shrink_save(const shrink *s, const char *path)
{
    st_part *parts = calloc(s->n + 1, sizeof *parts);
    char(*names)[48] = calloc(s->n + 1, sizeof *names);
    size_t n = 0;
    for (size_t i = 0; parts && names && i < s->n; i++) {
        if (shrink_each_tensor(s->case_, is_named, s->parts[i].name))
            continue; /* nothing names it any more */
        snprintf(names[n], sizeof *names, "0.%s", s->parts[i].name);
        parts[n] = (st_part){names[n], s->parts[i].dtype, s->parts[i].data, s->parts[i].bytes};
        n++;
    }
    json_t *root = json_pack("{s:i, s:s, s:[O]}", "version", 1, "source", "tenon replay --minimize",
                             "cases", s->case_);
    char *text = json_dumps(root, JSON_COMPACT);
    bool ok = parts && names && text && st_write(path, "tenon_replay", text, parts, n);
    free(text);
    free(names);
    free(parts);
    json_decref(root);
    return ok;
}

/* ---- what a call costs ----------------------------------------------------------------------- */
int64_t shrink_at(const json_t *list, size_t i)
{
    return json_integer_value(json_array_get(list, i));
}

double shrink_elements(const json_t *tensor)
{
    const json_t *shape = json_object_get(tensor, "shape");
    double n = 1;
    for (size_t i = 0; i < json_array_size(shape); i++)
        n *= (double)shrink_at(shape, i);
    return n;
}

bool shrink_is_plain(const json_t *tensor)
{
    const json_t *shape = json_object_get(tensor, "shape"),
                 *stride = json_object_get(tensor, "stride");
    int64_t next = 1;
    for (size_t i = json_array_size(shape); i-- > 0; next *= shrink_at(shape, i))
        if (shrink_at(stride, i) != next)
            return false;
    return json_integer_value(json_object_get(tensor, "offset")) == 0;
}

static bool add_tensor_cost(void *arg, json_t *tensor)
{
    double *cost = arg;
    *cost += 1000 * shrink_elements(tensor) +
             40 * (double)json_array_size(json_object_get(tensor, "shape")) +
             (shrink_is_plain(tensor) ? 0 : 100) + 200;
    return true;
}

static double number_cost(double v)
{
    return v == 0 ? 0 : v == 1 ? 1 : 2 + (v != floor(v)) + log2(1 + fmin(fabs(v), 1e300));
}

static double value_cost(const json_t *value)
{
    const char *key;
    const json_t *v;
    size_t i;
    double cost = json_is_null(value) ? 0 : 1;
    if (json_is_array(value))
        json_array_foreach(value, i, v) cost += 5 + value_cost(v);
    if (!json_is_object(value) || json_object_get(value, "tensor"))
        return cost;
    json_object_foreach((json_t *)value, key, v) cost += json_is_number(v)
                                                             ? number_cost(json_number_value(v))
                                                         : json_is_false(v) ? 0
                                                                            : 3;
    return cost;
}

static double part_cost(const shrink_part *p)
{
    double cost = (double)p->bytes;
    for (size_t i = 0; i < p->bytes; i++)
        cost += p->data[i] ? 0.5 : 0;
    return cost;
}

double shrink_cost(const shrink *s)
{
    json_t *args = json_object_get(s->case_, "args");
    double cost = value_cost(args);
    const char *key;
    const json_t *v;
    json_object_foreach(args, key, v) cost += 2 * value_cost(v);
    shrink_each_tensor(args, add_tensor_cost, &cost);
    for (size_t i = 0; i < s->n; i++)
        if (!shrink_each_tensor(s->case_, is_named, s->parts[i].name))
            cost += part_cost(&s->parts[i]);
    return cost;
}

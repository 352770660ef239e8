/* replay_file.c - a replay file's cases: safetensors outside, JSON in its metadata. */
#include "replay_impl.h"

#include <string.h>

/* NULL, or what is wrong with a case's frame; its values are checked where they are read. */
static const char *case_fault(const json_t *c)
{
    if (!json_is_integer(json_object_get(c, "n")))
        return "has no number n";
    const char *schema = json_string_value(json_object_get(c, "schema"));
    size_t name = schema ? strcspn(schema, "(") : 0;
    if (!schema || !schema[name] || name == 0 || name >= REPLAY_NAME)
        return "has no schema";
    if (!json_is_object(json_object_get(c, "args")))
        return "has no args";
    if (!json_is_array(json_object_get(c, "returns")) && !json_object_get(c, "raises") &&
        !json_object_get(c, "grads"))
        return "has neither returns nor raises nor grads";
    return NULL;
}

static bool read_cases(replay_file *f, char *why, size_t n)
{
    const char *text = st_metadata(&f->data, "tenon_replay");
    if (!text) {
        snprintf(why, n, "is no replay file: its metadata has no key tenon_replay");
        return false;
    }
    json_error_t e;
    f->root = json_loads(text, JSON_REJECT_DUPLICATES, &e);
    const json_t *version = json_object_get(f->root, "version");
    f->cases = json_object_get(f->root, "cases");
    if (!f->root || json_integer_value(version) != 1 || !json_is_array(f->cases)) {
        snprintf(why, n, "is no replay file of version 1: %s",
                 f->root ? "version 1 and a list of cases are expected" : e.text);
        return false;
    }
    f->n = json_array_size(f->cases);
    for (size_t i = 0; i < f->n; i++) {
        const char *fault = case_fault(json_array_get(f->cases, i));
        if (!fault)
            continue;
        snprintf(why, n, "is broken: case %zu of the list %s", i, fault);
        return false;
    }
    return true;
}

bool replay_open(replay_file *f, const char *path, char *why, size_t n)
{
    memset(f, 0, sizeof *f);
    f->path = path;
    if (!st_open(&f->data, path, why, n))
        return false;
    if (read_cases(f, why, n))
        return true;
    replay_close(f);
    return false;
}

void replay_close(replay_file *f)
{
    json_decref(f->root);
    st_close(&f->data);
}

const json_t *replay_case(const replay_file *f, size_t i)
{
    return json_array_get(f->cases, i);
}

int replay_case_number(const replay_file *f, size_t i)
{
    return (int)json_integer_value(json_object_get(replay_case(f, i), "n"));
}

void replay_case_name(const replay_file *f, size_t i, char name[REPLAY_NAME])
{
    const char *schema = json_string_value(json_object_get(replay_case(f, i), "schema"));
    snprintf(name, REPLAY_NAME, "%.*s", (int)strcspn(schema, "("), schema);
}

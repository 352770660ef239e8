/* stamp.c - hashes of inputs and outputs, and the file that keeps them. */
#include "stamp.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "m4.h"

static const char stamp_name[] = "tenon-gen.stamp";

static bool hash_file(const char *path, uint64_t *hash)
{
    static char chunk[1 << 16];
    FILE *f = fopen(path, "rb");
    if (!f)
        return false;
    *hash = CG_HASH_START;
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, f)) > 0;)
        *hash = cg_hash(*hash, chunk, n);
    bool ok = !ferror(f);
    fclose(f);
    return ok;
}

static uint64_t mix(uint64_t h, uint64_t more)
{
    return cg_hash(h, &more, sizeof more);
}

static int is_template(const struct dirent *e)
{
    size_t n = strlen(e->d_name);
    return n > 3 && strcmp(e->d_name + n - 3, ".m4") == 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool hash_templates(const char *dir, uint64_t *h)
{
    struct dirent **names;
    int n = scandir(dir, &names, is_template, by_bytes);
    bool ok = n > 0;
    for (int i = 0; i < n; i++) {
        char path[2 * CG_PATH_CHARS];
        uint64_t one = 0;
        snprintf(path, sizeof path, "%s/%s", dir, names[i]->d_name);
        ok = ok && hash_file(path, &one);
        *h = mix(cg_hash(*h, names[i]->d_name, strlen(names[i]->d_name)), one);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    return ok;
}

uint64_t cg_stamp_inputs(const char *const *files, int n, const char *template_dir,
                         const char *what)
{
    uint64_t one = 0, h = cg_hash(CG_HASH_START, what, strlen(what));
    for (int i = 0; i < n; i++) {
        if (files[i] && !hash_file(files[i], &one))
            return 0;
        h = mix(h, files[i] ? one : 0);
    }
    if (!hash_file("/proc/self/exe", &one))
        return 0;
    h = mix(h, one);
    return hash_templates(template_dir, &h) ? h : 0;
}

static FILE *open_stamp(const char *outdir, const char *mode)
{
    char path[2 * CG_PATH_CHARS];
    snprintf(path, sizeof path, "%s/%s", outdir, stamp_name);
    return fopen(path, mode);
}

bool cg_stamp_holds(const char *outdir, uint64_t inputs)
{
    char name[CG_PATH_CHARS], path[2 * CG_PATH_CHARS];
    uint64_t said = 0, now = 0;
    int files = 0, expected = 0;
    FILE *f = inputs ? open_stamp(outdir, "rb") : NULL;
    if (!f)
        return false;
    bool same = fscanf(f, "%" SCNx64 " inputs, %d outputs\n", &said, &expected) == 2 &&
                said == inputs;
    while (same && fscanf(f, "%" SCNx64 " %4095[^\n]\n", &said, name) == 2) {
        snprintf(path, sizeof path, "%s/%s", outdir, name);
        same = hash_file(path, &now) && now == said;
        files++;
    }
    fclose(f);
    return same && files == expected;
}

void cg_stamp_leave(const cg_out *out, uint64_t inputs)
{
    FILE *f = inputs ? open_stamp(out->outdir, "wb") : NULL;
    if (!f)
        return;
    fprintf(f, "%016" PRIx64 " inputs, %d outputs\n", inputs, out->n_made);
    for (int i = 0; i < out->n_made; i++)
        fprintf(f, "%016" PRIx64 " %s\n", out->made[i].hash, out->made[i].path);
    fclose(f);
}

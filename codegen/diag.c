/* diag.c - the collection of errors and its three printed forms (see diag.h).
 *
 * Messages are formatted once, when they are added, into at most MESSAGE_CAP bytes; control
 * characters that came with quoted input become '?', so that one error is always one line. */
#include "diag.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_CAP = 1024 };

/* Cuts a multi-byte character that the buffer's end has split, and flattens control characters. */
static void tidy(char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f)
            s[i] = s[i] == '\n' || s[i] == '\t' ? ' ' : '?';
    size_t cut = n;
    while (cut > 0 && ((unsigned char)s[cut - 1] & 0xc0) == 0x80)
        cut--;
    if (n == MESSAGE_CAP - 1 && cut > 0 && ((unsigned char)s[cut - 1] & 0x80))
        s[cut - 1] = '\0';
}

static bool grow(cg_diag *d)
{
    if (d->n_items < d->cap)
        return true;
    int cap = d->cap ? d->cap * 2 : 32;
    cg_diag_item *items = tn__arena_alloc(&d->arena, (size_t)cap * sizeof *items);
    if (!items)
        return false;
    if (d->n_items)
        memcpy(items, d->items, (size_t)d->n_items * sizeof *items);
    d->items = items;
    d->cap = cap;
    return true;
}

/* A file's name is stored once, whichever of its errors comes first. */
static const char *intern(cg_diag *d, const char *file)
{
    for (int i = d->n_items; i-- > 0;)
        if (strcmp(d->items[i].file, file) == 0)
            return d->items[i].file;
    return tn__arena_strndup(&d->arena, file, strlen(file));
}

void cg_error(cg_diag *d, const char *file, cg_pos pos, const char *format, ...)
{
    char text[MESSAGE_CAP];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0)
        n = 0;
    size_t len = (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    tidy(text, len);
    const char *name = intern(d, file);
    const char *message = tn__arena_strndup(&d->arena, text, strlen(text));
    if (!name || !message || !grow(d)) {
        d->no_memory = true;
        return;
    }
    d->items[d->n_items] = (cg_diag_item){name, pos, message, d->n_items};
    d->n_items++;
}

bool cg_diag_failed(const cg_diag *d)
{
    return d->n_items > 0 || d->no_memory;
}

static int compare(const void *a, const void *b)
{
    const cg_diag_item *x = a, *y = b;
    int by_file = strcmp(x->file, y->file);
    if (by_file)
        return by_file;
    if (x->pos.line != y->pos.line)
        return x->pos.line < y->pos.line ? -1 : 1;
    if (x->pos.column != y->pos.column)
        return x->pos.column < y->pos.column ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

void cg_diag_sort(cg_diag *d)
{
    if (d->n_items > 1)
        qsort(d->items, (size_t)d->n_items, sizeof *d->items, compare);
}

static void print_json_string(FILE *to, const char *s)
{
    fputc('"', to);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            fputc('\\', to);
        if ((unsigned char)*s < 0x20)
            fprintf(to, "\\u%04x", (unsigned)(unsigned char)*s);
        else
            fputc(*s, to);
    }
    fputc('"', to);
}

/* GitHub's workflow commands: % and line ends are escaped everywhere, ':' and ',' in properties
 * too. */
static void print_github_string(FILE *to, const char *s, bool property)
{
    for (; *s; s++) {
        if (*s == '%' || *s == '\r' || *s == '\n' || (property && (*s == ':' || *s == ',')))
            fprintf(to, "%%%02X", (unsigned)(unsigned char)*s);
        else
            fputc(*s, to);
    }
}

static void print_item(const cg_diag_item *it, FILE *to, cg_diag_format format)
{
    if (format == CG_DIAG_JSON) {
        fputs("{\"kind\": \"error\", \"file\": ", to);
        print_json_string(to, it->file);
        fprintf(to, ", \"line\": %d, \"column\": %d, \"message\": ", it->pos.line, it->pos.column);
        print_json_string(to, it->message);
        fputs("}\n", to);
    } else if (format == CG_DIAG_GITHUB) {
        fputs("::error file=", to);
        print_github_string(to, it->file, true);
        fprintf(to, ",line=%d,col=%d::", it->pos.line, it->pos.column);
        print_github_string(to, it->message, false);
        fputc('\n', to);
    } else if (it->pos.line == 0) {
        fprintf(to, "%s: %s\n", it->file, it->message);
    } else {
        fprintf(to, "%s:%d:%d: %s\n", it->file, it->pos.line, it->pos.column, it->message);
    }
}

void cg_diag_print(cg_diag *d, FILE *to, cg_diag_format format)
{
    cg_diag_sort(d);
    for (int i = 0; i < d->n_items; i++)
        print_item(&d->items[i], to, format);
    if (d->no_memory) {
        cg_diag_item it = {
            "memory", {0, 0}, "not enough memory to finish; free some and run again", 0};
        print_item(&it, to, format);
    }
}

void cg_diag_free(cg_diag *d)
{
    tn__arena_free(&d->arena);
    *d = (cg_diag){0};
}

enum { NEAR_CAP = 64 };

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Edit distance, letter case ignored, a swap of neighbours counting once. */
static int distance(const char *a, size_t na, const char *b, size_t nb)
{
    int rows[3][NEAR_CAP + 1];
    int *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= nb; j++)
        last[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int cost = lower(a[i - 1]) != lower(b[j - 1]);
            int best = last[j - 1] + cost;
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                           lower(a[i - 2]) == lower(b[j - 1]);
            if (swapped && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
        int *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[nb];
}

const char *cg_near(const char *word, const char *const *candidates, int n)
{
    size_t len = strlen(word);
    if (len == 0 || len > NEAR_CAP)
        return NULL;
    const char *best = NULL;
    int limit = (int)(len + 1) / 3; /* a third of the letters may be wrong, four at most */
    int best_distance = (limit > 4 ? 4 : limit) + 1;
    for (int i = 0; i < n; i++) {
        size_t m = strlen(candidates[i]);
        if (m > NEAR_CAP)
            continue;
        int d = distance(word, len, candidates[i], m);
        if (d < best_distance) {
            best = candidates[i];
            best_distance = d;
        }
    }
    return best;
}

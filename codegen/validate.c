/* validate.c - the order in which a file is checked, and the rules that only need names.
 *
 * Every entry is checked by itself first. Those without an error then take part in the rules among
 * entries, so that one mistake is reported once and not again by everything that leans on it. */
#include "validate_impl.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void cg_complain(cg_check *c, cg_facts *f, cg_pos pos, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cg_error(c->diag, c->file->name, pos, "%s", text);
    if (f)
        f->ok = false;
}

static int by_op(const void *a, const void *b)
{
    const cg_facts *x = *(cg_facts *const *)a, *y = *(cg_facts *const *)b;
    int names = strcmp(x->e->op, y->e->op);
    return names ? names : (x > y) - (x < y);
}

/* An operator's name stands once in a file: a second entry would win or lose silently. */
static void check_duplicates(cg_check *c)
{
    for (int i = 1; i < c->n; i++) {
        const cg_facts *first = c->sorted[i - 1];
        cg_facts *second = c->sorted[i];
        if (!second->e->op[0] || strcmp(first->e->op, second->e->op) != 0)
            continue;
        cg_complain(c, second, second->e->func.pos,
                    "duplicate entry '%.80s' on line %d, first on line %d; remove one of the two "
                    "or give it another "
                    "overload name",
                    second->e->op, second->e->pos.line, first->e->pos.line);
    }
}

cg_facts *cg_facts_find(cg_check *c, const char *op)
{
    int low = 0, high = c->n;
    while (low < high) {
        int mid = low + (high - low) / 2;
        if (strcmp(c->sorted[mid]->e->op, op) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low < c->n && strcmp(c->sorted[low]->e->op, op) == 0 ? c->sorted[low] : NULL;
}

/* Compares base names loosely: of an entry that failed only the text before '(' is known for sure.
 */
bool cg_base_tainted(const cg_check *c, const char *base)
{
    size_t n = strlen(base);
    for (int i = 0; i < c->n_failed; i++) {
        const char *op = c->failed[i]->e->op;
        op += strncmp(op, "__", 2) == 0 ? 2 : 0;
        op += *op == 'i' && strncmp(op + 1, base, n) == 0;
        if (strncmp(op, base, n) != 0)
            continue;
        const char *rest = op + n;
        rest += strncmp(rest, "_functional", 11) == 0 ? 11 : 0;
        rest += strspn(rest, "_");
        if (*rest == '\0' || *rest == '.')
            return true;
    }
    return false;
}

static void collect_failed(cg_check *c)
{
    for (int i = 0; i < c->n; i++)
        if (!c->facts[i].ok)
            c->failed[c->n_failed++] = &c->facts[i];
}

static void check_alone(cg_check *c, cg_facts *f)
{
    c->names_missing |= f->e->broken && !f->e->op[0];
    f->ok = f->e->schema && !f->e->broken;
    if (!f->ok)
        return;
    cg_facts_fill(c, f);
    cg_validate_schema(c, f);
    if (f->ok)
        cg_facts_sign(c, f);
    cg_validate_entry(c, f);
    cg_validate_ours(c, f);
    f->ok = f->ok && !f->e->misread;
}

void cg_validate(cg_diag *d, const cg_file *file)
{
    cg_check c = {.diag = d, .file = file, .n = file->n_entries};
    size_t n = (size_t)c.n + 1;
    c.facts = tn__arena_alloc(&c.arena, n * sizeof *c.facts);
    c.sorted = tn__arena_alloc(&c.arena, n * sizeof *c.sorted);
    c.failed = tn__arena_alloc(&c.arena, n * sizeof *c.failed);
    if (!c.facts || !c.sorted || !c.failed) {
        d->no_memory = true;
    } else {
        for (int i = 0; i < c.n; i++) {
            c.facts[i].e = &file->entries[i];
            c.sorted[i] = &c.facts[i];
            check_alone(&c, &c.facts[i]);
        }
        qsort(c.sorted, (size_t)c.n, sizeof *c.sorted, by_op);
        check_duplicates(&c);
        cg_validate_derived(&c);
        collect_failed(&c);
        cg_validate_groups(&c);
        cg_validate_views(&c);
    }
    tn__arena_free(&c.arena);
}

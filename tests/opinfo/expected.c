/* expected.c - failures that are known, each with a reason and the last day on which it is
 * excused. Best when empty. A pass that was not expected fails, and so does an entry past its day
 * or one that names no case of a whole run. */
#include "report.h"

#include <string.h>

const oi_excuse oi_excuses[] = {{NULL, NULL, NULL}};
const size_t oi_excuses_n = 0;

static bool names(const char *pattern, const char *id)
{
    size_t n = strlen(pattern);
    return n && pattern[n - 1] == '*' ? strncmp(pattern, id, n - 1) == 0 : strcmp(pattern, id) == 0;
}

static void fail(oi_result *r, const char *what, const oi_excuse *e)
{
    char was[OI_TEXT];
    snprintf(was, sizeof was, "%.150s", r->message);
    r->state = OI_FAIL;
    snprintf(r->message, sizeof r->message, "%s (excused until %s: %.60s)%s%.150s", what,
             e->expires, e->reason, *was ? ": " : "", was);
}

void oi_apply_excuses(oi_run *run, const oi_excuse *list, size_t n, const char *today)
{
    char id[160];
    for (size_t k = 0; k < run->n; k++) {
        oi_record *r = &run->records[k];
        for (size_t i = 0; i < n; i++) {
            if (!names(list[i].case_id, oi_case_id(r, id, sizeof id)))
                continue;
            if (strcmp(today, list[i].expires) > 0)
                fail(&r->r, "the excuse has expired", &list[i]);
            else if (r->r.state == OI_PASS)
                fail(&r->r, "passes although it is excused: take the entry out", &list[i]);
            else
                r->r.expected = 1;
            break;
        }
    }
}

/* case.c - what the columns have in common: names, who applies where, and how a failure is
 * recorded. */
#include "opinfo.h"

#include <stdarg.h>
#include <string.h>

static const char *const states[OI_STATES] = {"PASS",    "FAIL",        "CRASH",      "TIMEOUT",
                                              "ERROR",   "UNSUPPORTED", "UNDECLARED", "MISTRUSTED",
                                              "NOT-RUN", "NO-GRADIENT"};
static const char *const columns[OI_COLUMNS] = {"dtypes",  "values", "inplace",  "out",
                                                "meta",    "alias",  "errors",   "repeat",
                                                "threads", "grad",   "gradgrad", "jvp"};

const oi_check oi_checks[OI_COLUMNS] = {oi_check_dtypes, oi_check_values,   oi_check_inplace,
                                        oi_check_out,    oi_check_meta,     oi_check_alias,
                                        oi_check_errors, oi_check_repeat,   oi_check_threads,
                                        oi_check_grad,   oi_check_gradgrad, oi_check_jvp};

const char *oi_state_name(oi_state s)
{
    return states[s];
}

const char *oi_column_name(oi_column c)
{
    return columns[c];
}

int oi_column_parse(const char *name)
{
    for (int c = 0; c < OI_COLUMNS; c++)
        if (strcmp(columns[c], name) == 0)
            return c;
    return -1;
}

bool oi_is_meta(const oi_case *c)
{
    return c->target->device.type == TN_META;
}

bool oi_column_applies(const oi_case *c, oi_column column)
{
    switch (column) {
    case OI_VALUES:
    case OI_REPEAT:
        return !oi_is_meta(c);
    case OI_THREADS:
        return c->target->device.type == TN_CPU && !(c->row->flags & OI_META_ONLY);
    case OI_INPLACE:
        return !oi_is_meta(c) && oi_form_inplace(c->op);
    case OI_OUT:
        return !oi_is_meta(c) && oi_form_out(c->op);
    case OI_GRAD:
    case OI_GRADGRAD:
    case OI_JVP:
        return c->target->device.type == TN_CPU && (c->dtype == TN_F64 || c->dtype == TN_C128) &&
               !(c->row->flags & OI_META_ONLY);
    case OI_META:
        return oi_is_meta(c);
    default:
        return true;
    }
}

bool oi_wanted(const oi_case *c, const oi_sample *s)
{
    return c->only_sample < 0 || c->only_sample == s->number;
}

void oi_blame(oi_result *r, oi_state state, const oi_sample *s, const char *format, ...)
{
    if (r->state != OI_PASS)
        return;
    oi_save_blamed(s);
    va_list args;
    va_start(args, format);
    r->state = (int32_t)state;
    r->sample = s ? s->number : -1;
    int n = s ? snprintf(r->message, sizeof r->message, "sample %d (%s): ", s->number, s->what) : 0;
    vsnprintf(r->message + n, sizeof r->message - (size_t)n, format, args);
    va_end(args);
}

static double share(double normalised, double limit)
{
    return limit > 0 ? normalised / limit : normalised;
}

/* Keeps the error that comes nearest to its limit, with that limit: forms may have others. */
void oi_take_error(oi_result *r, const oi_error *e)
{
    bool nearer = share(e->normalised, e->limit) > share(r->normalised, r->limit);
    if (r->state != OI_PASS || (!e->bad && !nearer && r->limit > 0))
        return;
    r->normalised = e->normalised;
    r->ulp = e->ulp;
    r->absolute = e->absolute;
    r->limit = e->limit;
}

/* One line, long enough to say something, and the record says the same as the status. */
bool oi_clear_message(const oi_call *call, char *why)
{
    const tn_error *e = tn_error_last();
    if (e->status != call->status)
        snprintf(why, OI_TEXT, "status is %s, the error record says %s",
                 tn_status_name(call->status), tn_status_name(e->status));
    else if (strlen(call->message) < 12 || strchr(call->message, '\n'))
        snprintf(why, OI_TEXT, "the message is not one clear line: '%.200s'", call->message);
    else
        return true;
    return false;
}

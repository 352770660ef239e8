/* report.h - what a run has to say, in four forms, and its exit status. */
#ifndef TENON_OPINFO_REPORT_H
#define TENON_OPINFO_REPORT_H

#include "opinfo.h"

typedef struct oi_totals {
    size_t by_state[OI_STATES];
    size_t expected; /* of the unsupported: the operator is not defined for the dtype */
    size_t operators;
} oi_totals;
oi_totals oi_count(const oi_run *run);
/* 0: all green; 1: something is not; 2: nothing ran. */
int oi_exit_status(const oi_totals *t, const oi_run *run);
/* "add.Tensor/cpu/float32/values" */
const char *oi_case_id(const oi_record *r, char *buf, size_t n);
const char *oi_repro(const oi_run *run, const oi_record *r, char *buf, size_t n);
bool oi_is_red(const oi_record *r);

void oi_report_text(const oi_run *run, FILE *to);
void oi_report_json(const oi_run *run);
void oi_report_junit(const oi_run *run, FILE *to);
void oi_report_html(const oi_run *run, FILE *to);

/* ---- expected failures (expected.c) ---------------------------------------------------------- */
typedef struct oi_excuse {
    const char *case_id; /* as oi_case_id gives it; a trailing '*' stands for any rest */
    const char *reason;
    const char *expires; /* YYYY-MM-DD, the last day */
} oi_excuse;
/* Marks excused failures as expected: they keep their state, but are not red. An unexpected pass
 * and an expired entry become FAIL. */
void oi_apply_excuses(oi_run *run, const oi_excuse *list, size_t n, const char *today);
extern const oi_excuse oi_excuses[];
extern const size_t oi_excuses_n;

#endif

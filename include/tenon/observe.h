/* observe.h - the optional ability "tenon.observe.draft": a plugin that sees every operator call of the
 * process, before and after its kernel runs. A draft: it may change or go.
 *
 *     const tn_observe_api *api = tn->extension(TN_OBSERVE, 1);   NULL where the host has it not
 *     api->offer(&observer);                                      in init
 *
 * The offered observer sees calls from tn_record_start on (tenon/runtime.h), or from the start where
 * the environment variable TENON_RECORD asks for it. */
#ifndef TENON_OBSERVE_H
#define TENON_OBSERVE_H

#include <tenon/border.h>

#define TN_OBSERVE "tenon.observe.draft"

typedef struct tn_observer {
    uint32_t size, reserved;
    /* Any thread. The frame's results are absent before; after a failure they are absent, too. A
     * call that a kernel makes is seen between its caller's before and after. */
    void (*before)(const tn_op *op, const void *frame);
    void (*after)(const tn_op *op, const void *frame, tn_status status);
    /* Begins and ends a recording; `only` is "all", "failing" or "last". */
    tn_status (*start)(const char *path, const char *only);
    tn_status (*stop)(void);
} tn_observer;

typedef struct tn_observe_api {
    uint32_t size, reserved;
    /* One for a process; it must live as long. Registration only. */
    tn_status (*offer)(const tn_observer *observer);
} tn_observe_api;

#endif

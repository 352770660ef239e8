/* foreign.h - the one door through which the core enters a plugin's code outside of calls: its
 * constructors, init and exit. */
#ifndef TN_CORE_PLUGIN_FOREIGN_H
#define TN_CORE_PLUGIN_FOREIGN_H

#include <stdbool.h>

/* What was out of order when the code came back; the floating-point mode is as before again. */
typedef struct tn__foreign {
    bool threw;   /* a C++ exception, which ended it */
    bool fp_mode; /* it left rounding, traps or the treatment of denormals changed */
    int threads;  /* how many more threads there are now; counted only in a checked host */
} tn__foreign;

enum {
    TN__FOREIGN_STOP =
        1, /* exceptions; below dlopen, whose locks they leave taken, in probes only */
    TN__FOREIGN_THREADS = 2, /* count them, in a checked host */
};
/* Runs fn(arg). */
tn__foreign tn__foreign_run(void (*fn)(void *arg), void *arg, unsigned how);

/* Whether the environment asks for the checks that cost time: TENON_PLUGIN_CHECK=1. */
bool tn__foreign_checked(void);

#endif

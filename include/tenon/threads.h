/* threads.h - how many threads a call may use. Results never depend on it. */
#ifndef TENON_THREADS_H
#define TENON_THREADS_H

#include <tenon/base.h>

TN_BEGIN_DECLS

/* The process-wide count: what was set, else TENON_NUM_THREADS, else what OpenMP gives
 * (OMP_NUM_THREADS, or the processors this process may run on). Any thread may call. */
TN_API int tn_num_threads(void);

/* Takes effect for calls that start afterwards. 0 returns to the default above, the variable read
 * anew; a negative count or one over 1024 is an error. */
TN_API tn_status tn_set_num_threads(int n);

TN_END_DECLS

#endif

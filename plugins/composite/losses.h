/* losses.h - what the files of losses share. */
#ifndef COMPOSITE_LOSSES_H
#define COMPOSITE_LOSSES_H

#include "work.h"

/* 0 none, 1 mean, 2 sum; NULL stays NULL. */
tn_tensor *loss_reduced(work *w, tn_tensor *loss, int64_t reduction);
/* The loss is not defined for another dtype of `self`. */
tn_status loss_check_dtype(tn_call *call, const tn_tensor *self, tn_dtypes allowed);

#endif

/* cast.h - what the list of operators (autocast.c) and the kernel that casts (cast.c) share. */
#ifndef AUTOCAST_CAST_H
#define AUTOCAST_CAST_H

#include <tenon/autocast.h>
#include <tenon/frames.h>
#include <tenon/plugin.h>

typedef enum cast_policy {
    CAST_LOWER,   /* floating arguments in the block's dtype */
    CAST_FLOAT32, /* halves in float32, unless the call says a dtype */
    CAST_WIDEST,  /* floating arguments in the widest dtype among them */
    CAST_POLICIES
} cast_policy;

/* The data of the kernel: how, and for tensors of which device type. */
typedef struct cast_rule {
    cast_policy policy;
    int16_t device;
} cast_rule;

tn_status cast_import(tn_registry *r);
/* The kernel of every operator that is listed. */
tn_status cast_call(tn_call *call, void *frame);

#endif

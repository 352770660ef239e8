/* streams.h - a device's streams, as the core keeps them: which one a thread uses. */
#ifndef TN_CORE_STREAMS_H
#define TN_CORE_STREAMS_H

#include <tenon/runtime.h>

#include "core/base/devices.h"

/* The innermost scope of this thread. A thread that works for another one takes over its scopes, as
 * its other modes, for as long as that one waits. */
extern _Thread_local tn_stream_scope *tn__stream_scopes __attribute__((tls_model("initial-exec")));

/* The device types (bit = type) of which there ever was a stream: nobody looks further for others. */
extern _Atomic uint32_t tn__stream_types;
static inline bool tn__has_streams(int type)
{
    return atomic_load_explicit(&tn__stream_types, memory_order_relaxed) >> (type & 31) & 1;
}

/* The stream that this thread's work goes to, borrowed; NULL: the device's own queue. */
tn_stream *tn__stream_of_thread(tn_device device);
/* One reference more, which tn_stream_free drops. NULL is fine, and comes back. */
tn_stream *tn__stream_retain(tn_stream *s);
/* What the device calls it. */
static inline void *tn__stream_native(const tn_stream *s)
{
    return s ? tn_stream_native(s) : NULL;
}

#endif

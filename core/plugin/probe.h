/* probe.h - a plugin tried out in a child process, which may crash or never return. */
#ifndef TN_CORE_PLUGIN_PROBE_H
#define TN_CORE_PLUGIN_PROBE_H

#include "core/plugin/elf.h"

typedef bool (*tn__probe_fn)(void *arg, tn__finding *f);

/* How the trial ended: fn's answer, or that it did not come to one. */
typedef enum tn__probe_end { TN__PROBE_LOADS, TN__PROBE_REFUSED, TN__PROBE_DIED } tn__probe_end;

/* Runs fn(arg, ..) in a child of this process; f gets what fn found there, or how the child died or
 * that it fell silent (TENON_PLUGIN_PROBE_SECONDS, 20). What the plugin prints goes to standard
 * error. */
tn__probe_end tn__probe(tn__probe_fn fn, void *arg, tn__finding *f);

/* Whether the environment asks the loader itself to probe: TENON_PLUGIN_PROBE=1. */
bool tn__probe_wanted(void);

/* Inside such a child, which the loader and `tenon doctor` have each a copy of this file to make: its
 * process is not used afterwards. Set through the environment, TENON_PLUGIN_PROBED. */
bool tn__probe_inside(void);
/* The state of a finding, there, that would have ended any other process. */
extern const char tn__probe_deadly[];

#endif

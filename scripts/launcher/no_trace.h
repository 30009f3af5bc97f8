/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explains a run that left no trace.
 */
#ifndef STAGEPROF_LAUNCHER_NO_TRACE_H
#define STAGEPROF_LAUNCHER_NO_TRACE_H

#include "scripts/launcher/child.h"

/* Prints one line on stderr: the likely reason why nothing was recorded of this command. Call it
 * after sp_config_read(). */
void sp_no_trace_explain(const char *command, const struct sp_child *child);

#endif

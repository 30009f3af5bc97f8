/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frameworks that a process loads (trace/frameworks.def): each is a line of the run's coverage,
 * also where nothing of it can be recorded. Nothing is asked on the path of a hook.
 */
#ifndef STAGEPROF_PRELOAD_LOADED_FRAMEWORKS_H
#define STAGEPROF_PRELOAD_LOADED_FRAMEWORKS_H

#include "preload/frameworks/range_stack.h"

/* The module whose import shows the framework with this number; "": none does. NULL: the table ends
 * before it. */
const char *sp_framework_module(int number);

/* The module of the framework with this number was imported; version: "" where it has none.
 * gives_steps: the names that its steps come from were found; a later call may say so. Numbers
 * outside of the table are ignored. */
void sp_frameworks_imported(int number, const char *version, int gives_steps);

/* Ends a call of a framework without Python, which began with the range: an event with that phase
 * and label. Keeps errno. */
void sp_framework_call_end(int number, struct sp_range range, uint32_t phase, const char *label,
			   size_t bytes);

/* At the end of the process: names those whose libraries are loaded and whose module was not. */
void sp_frameworks_end(void);

#endif

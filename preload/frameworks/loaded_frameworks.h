/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frameworks that a process loads (trace/frameworks.def): each is a line of the run's coverage,
 * also where nothing of it can be recorded. Nothing is asked on the path of a hook.
 */
#ifndef STAGEPROF_PRELOAD_LOADED_FRAMEWORKS_H
#define STAGEPROF_PRELOAD_LOADED_FRAMEWORKS_H

/* The module whose import shows the framework with this number; "": none does. NULL: the table ends
 * before it. */
const char *sp_framework_module(int number);

/* The module of the framework with this number was imported; version: "" where it has none. Numbers
 * outside of the table are ignored. */
void sp_frameworks_imported(int number, const char *version);

/* At the end of the process: names those whose libraries are loaded and whose module was not. */
void sp_frameworks_end(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of Python programs, from inside: once the interpreter runs, a pending call executes a
 * small bootstrap (bootstrap.py, embedded) with the GIL held, in a namespace of its own. The
 * bootstrap watches imports and replaces the calls in python.def with timed callables
 * (python_call.h).
 *
 * No hook ever takes the GIL: Py_AddPendingCall needs none (Python/C API, "Asynchronous
 * Notifications").
 */
#ifndef STAGEPROF_PRELOAD_PYTHON_H
#define STAGEPROF_PRELOAD_PYTHON_H

/* Constructor of a recording process: finds the interpreter's functions in the program or in a
 * library that it is linked to. A libpython that is loaded later is not seen. */
void sp_python_init(void);

#endif

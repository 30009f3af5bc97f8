/*
 * Ranges of Python programs, from inside: once the interpreter runs, a pending call executes a small
 * bootstrap (bootstrap.py, embedded) with the GIL held, in a namespace of its own. It watches imports and
 * puts timed callables (python_call.h) in place of the calls in python.def.
 *
 * No hook ever takes the GIL: Py_AddPendingCall needs none (Python/C API, "Asynchronous Notifications").
 */
#ifndef STAGEPROF_PRELOAD_PYTHON_H
#define STAGEPROF_PRELOAD_PYTHON_H

/* 1 while this process has a Python that the bootstrap has not been sent to. */
extern int sp_python_waits __attribute__((visibility("hidden")));

/* Constructor of a recording process: finds the interpreter's functions where the program or a library it
 * is linked to has them. A libpython that is loaded later is not seen. */
void sp_python_init(void);

/* From hooks of rare calls while sp_python_waits: sends the bootstrap once the interpreter is ready.
 * Any thread; errno is kept. */
void sp_python_notice(void);

#endif

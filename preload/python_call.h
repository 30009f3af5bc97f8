/*
 * Timed callables of Python, made in C: a call through one of them adds no Python frame, so tracebacks,
 * profilers and torch.compile see what they saw before. Everything else that is asked of one (its name,
 * signature, code, class, attributes set on it) is asked of the function it stands for; pickled, it is
 * that function's name.
 *
 * All functions here need the GIL.
 */
#ifndef STAGEPROF_PRELOAD_PYTHON_CALL_H
#define STAGEPROF_PRELOAD_PYTHON_CALL_H

#include "preload/python_api.h"

/* How a callable differs from the plain one that records each call as an event of python_call. */
enum sp_python_call_flags {
	SP_PYTHON_CALL_UNTIMED = 1 << 0, /* only for what comes after it */
	SP_PYTHON_CALL_ITERATE = 1 << 1, /* its result is an iterator, whose steps are the calls */
	SP_PYTHON_CALL_INLINE = 1 << 2,	 /* a Python function: torch.compile is to trace it, untimed */
	SP_PYTHON_CALL_IMAGE = 1 << 3,	 /* decodes what its first argument is: PNG is a part of its own */
};

/* Makes the two types. Returns 0 or -ENOSYS. */
int sp_python_call_init(void);

/*
 * METH_VARARGS of the bootstrap: wrap(function, label, part, flags, after). `after` is None or is called
 * with the same arguments when the call has returned; what it raises is forgotten.
 */
struct sp_py_object *sp_python_wrap(struct sp_py_object *self, struct sp_py_object *args);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timed callables of Python, made in C: a call through one of them adds no Python frame, so
 * tracebacks, profilers and torch.compile see the same as before. All other queries (name,
 * signature, code, class, attributes set on it) go to the wrapped function; pickled, the callable
 * is that function's name.
 *
 * All functions here but sp_python_is_in_outermost() need the GIL.
 */
#ifndef STAGEPROF_PRELOAD_PYTHON_CALL_H
#define STAGEPROF_PRELOAD_PYTHON_CALL_H

#include "preload/interpreter/python_api.h"

/* Differences from the plain callable, which records each call as an event of python_call. */
enum sp_python_call_flags {
	SP_PYTHON_CALL_UNTIMED = 1 << 0, /* only for the function that follows */
	SP_PYTHON_CALL_ITERATE = 1 << 1, /* its result is an iterator, whose steps are the calls */
	SP_PYTHON_CALL_INLINE =
		1 << 2, /* a Python function that torch.compile must trace, untimed */
	SP_PYTHON_CALL_IMAGE = 1 << 3, /* decodes its first argument: PNG has a phase of its own */
	SP_PYTHON_CALL_TILES = 1 << 6, /* a Pillow image's: nothing to decode where none are left */
	SP_PYTHON_CALL_BEFORE = 1 << 4,	    /* `after` is called ahead of the function */
	SP_PYTHON_CALL_FORWARD = 1 << 5,    /* a module's: only the outermost call is recorded */
	SP_PYTHON_CALL_UNSEEN = 1 << 7,	    /* a function of ours that others call */
	SP_PYTHON_CALL_COMPILED = 1 << 8,   /* sp_compiled_begin() */
	SP_PYTHON_CALL_EAGER = 1 << 9,	    /* takes gradients: timed where nothing is traced */
	SP_PYTHON_CALL_OPERATOR = 1 << 10,  /* an event of torch_op, without a phase */
	SP_PYTHON_CALL_ALWAYS = 1 << 11,    /* `after` is called after an exception, too */
	SP_PYTHON_CALL_OUTERMOST = 1 << 12, /* of a thread, and in no compiled function */
	SP_PYTHON_CALL_OPTIMIZER = 1 << 13, /* a step, or another method of its optimizer */
};

/* 1 while this thread is inside of a call with SP_PYTHON_CALL_OUTERMOST. Needs no GIL. */
int sp_python_is_in_outermost(void);

/* Makes the two types. Returns 0 or -ENOSYS. */
int sp_python_call_init(void);

/* Calls a function of ours. From Python 3.11 on no profile or
 * trace function of the host sees it. */
struct sp_py_object *sp_python_call_unseen(struct sp_py_object *function,
					   struct sp_py_object *args);

/*
 * METH_VARARGS of the bootstrap: wrap(function, label, phase, flags, after). `after` is None or
 * is called with the same arguments after the call has returned; its exceptions are discarded.
 */
struct sp_py_object *sp_python_wrap(struct sp_py_object *self, struct sp_py_object *args);

/*
 * METH_VARARGS of the bootstrap: forward_watch(unseen, inner). `unseen` is called without arguments
 * at the end of a backward as long as no forward was recorded, a few times at most; inner(callable)
 * once for a callable of SP_PYTHON_CALL_FORWARD whose calls lie nearly all inside others.
 */
struct sp_py_object *sp_python_forward_watch(struct sp_py_object *self, struct sp_py_object *args);

/* METH_VARARGS of the bootstrap: switch_watch(look). look() is called without arguments after
 * backwards 2, 4, 8, …; its exceptions are discarded. */
struct sp_py_object *sp_python_switch_watch(struct sp_py_object *self, struct sp_py_object *args);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter's functions, found at run time, with our own prototypes: the build needs no
 * header of CPython, and one library serves 3.8 and later. Only names of the stable or public
 * API. The code relies on the layout of PyObject's header in builds with a GIL (two words),
 * PyType_Spec and PyMemberDef.
 */
#ifndef STAGEPROF_PRELOAD_PYTHON_API_H
#define STAGEPROF_PRELOAD_PYTHON_API_H

#include <stddef.h>
#include <stdint.h>

#include "preload/sys/hidden.h"

struct sp_py_object {
	intptr_t references;
	struct sp_py_object *type;
};

/* PyMethodDef, PyMemberDef, PyGetSetDef, PyType_Slot, PyType_Spec */
struct sp_py_method {
	const char *name;
	struct sp_py_object *(*function)(struct sp_py_object *self, struct sp_py_object *args);
	int flags;
	const char *doc;
};

struct sp_py_member {
	const char *name;
	int type;
	ptrdiff_t offset;
	int flags;
	const char *doc;
};

struct sp_py_getset {
	const char *name;
	struct sp_py_object *(*get)(struct sp_py_object *self, void *closure);
	int (*set)(struct sp_py_object *self, struct sp_py_object *value, void *closure);
	const char *doc;
	void *closure;
};

struct sp_py_slot {
	int slot;
	void *function;
};

struct sp_py_spec {
	const char *name;
	int basic_bytes;
	int item_bytes;
	unsigned flags;
	struct sp_py_slot *slots;
};

typedef int sp_py_visit(struct sp_py_object *object, void *argument);

#define SP_PYTHON_API(ret, name, ...) ret (*name)(__VA_ARGS__);
#define SP_PYTHON_API_LATER(ret, name, ...) ret (*name)(__VA_ARGS__);
#define SP_PYTHON_DATA(type, name) type *name;
struct sp_python {
#include "preload/interpreter/python_api.def"
	int major, minor;
};
#undef SP_PYTHON_API
#undef SP_PYTHON_API_LATER
#undef SP_PYTHON_DATA

/* Filled once in the constructor, read-only afterwards; all NULL without an interpreter. */
extern struct sp_python sp_python SP_HIDDEN;

/* Makes a new reference to None, which a function returns. */
static inline struct sp_py_object *sp_python_none(void)
{
	sp_python.Py_IncRef(sp_python._Py_NoneStruct);
	return sp_python._Py_NoneStruct;
}

/* NULL: nothing to release. */
static inline void sp_python_release(struct sp_py_object *object)
{
	if (object)
		sp_python.Py_DecRef(object);
}

/* The result of a call, or the exception that it raised. */
static inline void sp_python_discard(struct sp_py_object *result)
{
	if (result)
		sp_python.Py_DecRef(result);
	else
		sp_python.PyErr_Clear();
}

/* Returns 0, -ENOENT if there is no interpreter, or -ENOSYS if it lacks a function that we need. */
int sp_python_find(void);

#endif

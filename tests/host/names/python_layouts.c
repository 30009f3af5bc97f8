/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The row of scripts/sampler/python_layout.def for the CPython whose headers this is compiled with.
 * Prints each offset that differs. Exit status: 1 where one does, 77 where there is no row.
 */
#define Py_BUILD_CORE 1
#include <Python.h>
#if PY_VERSION_HEX < 0x030B0000
#include <frameobject.h>
#else
#include <internal/pycore_frame.h>
#endif
#if PY_VERSION_HEX < 0x03090000
#include <internal/pycore_pystate.h>
#else
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>
#endif
#include <stddef.h>
#include <stdio.h>

static int check(const char *name, long expected, long found)
{
	if (expected != found)
		printf("%s: the table has %ld, the headers have %ld\n", name, expected, found);
	return expected != found;
}

#if PY_VERSION_HEX < 0x030B0000
#define THREADS offsetof(PyInterpreterState, tstate_head)
#define FRAME offsetof(PyThreadState, frame)
#define CFRAME (-1)
#define TID offsetof(PyThreadState, thread_id)
#define CHUNK 0
#define PREVIOUS offsetof(PyFrameObject, f_back)
#define CODE offsetof(PyFrameObject, f_code)
#define INSTRUCTION offsetof(PyFrameObject, f_lasti)
#define OWNER 0
#define NAME offsetof(PyCodeObject, co_name)
#define FIRST 0
#else
#define THREADS offsetof(PyInterpreterState, threads.head)
#define FRAME offsetof(PyThreadState, cframe)
#define CFRAME offsetof(_PyCFrame, current_frame)
#define TID offsetof(PyThreadState, native_thread_id)
#define CHUNK offsetof(PyThreadState, datastack_chunk)
#define PREVIOUS offsetof(_PyInterpreterFrame, previous)
#define CODE offsetof(_PyInterpreterFrame, f_code)
#define INSTRUCTION offsetof(_PyInterpreterFrame, prev_instr)
#define OWNER offsetof(_PyInterpreterFrame, owner)
#define NAME offsetof(PyCodeObject, co_qualname)
#define FIRST offsetof(PyCodeObject, co_code_adaptive)
#endif
#if PY_VERSION_HEX < 0x030A0000
#define TABLE offsetof(PyCodeObject, co_lnotab)
#else
#define TABLE offsetof(PyCodeObject, co_linetable)
#endif

#define SP_PYTHON_LAYOUT(minor_, head_, threads_, frame_, cframe_, tid_, chunk_, previous_, code_, \
			 instruction_, owner_, file_, name_, line_, table_, first_)                \
	if (PY_MINOR_VERSION == (minor_))                                                          \
		return check("head", head_, offsetof(_PyRuntimeState, interpreters.head)) |        \
		       check("threads", threads_, THREADS) | check("frame", frame_, FRAME) |       \
		       check("cframe", cframe_, CFRAME) | check("tid", tid_, TID) |                \
		       check("chunk", chunk_, CHUNK) | check("previous", previous_, PREVIOUS) |    \
		       check("code", code_, CODE) |                                                \
		       check("instruction", instruction_, INSTRUCTION) |                           \
		       check("owner", owner_, OWNER) |                                             \
		       check("file", file_, offsetof(PyCodeObject, co_filename)) |                 \
		       check("name", name_, NAME) |                                                \
		       check("line", line_, offsetof(PyCodeObject, co_firstlineno)) |              \
		       check("table", table_, TABLE) | check("first", first_, FIRST);

int main(void)
{
#include "scripts/sampler/python_layout.def"
	printf("no row for CPython 3.%d\n", PY_MINOR_VERSION);
	return 77;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays of a framework whose buffer is asked for: the answer waits until the array is computed.
 * numpy asks by the slot of the array's type, which no Python code is on the way of.
 */
#ifndef STAGEPROF_PRELOAD_BUFFER_WAIT_H
#define STAGEPROF_PRELOAD_BUFFER_WAIT_H

#include "preload/interpreter/python_api.h"

/*
 * METH_VARARGS of the bootstrap: buffer_watch(type, label). The slot of one type is replaced, and
 * each call becomes a range of SP_PHASE_device_wait. Returns False where the type has no slot, its
 * layout is another, or a type is watched. Needs the GIL.
 */
struct sp_py_object *sp_buffer_watch(struct sp_py_object *self, struct sp_py_object *args);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the device while the loop waits for a batch. A compiled function of JAX
 * returns ahead of its computation; its arrays say at once, without a wait, whether they are ready
 * (`is_ready`). The last compiled calls' arrays are asked when the loop asks for a batch, and,
 * where they were not ready then, when it has the batch. Each answer is an event of python_call
 * at the end of the wait: device_idle, device_busy, or device_drained where the device finished
 * meanwhile.
 *
 * A program of TensorFlow that has nothing but the processor, and does not ask for asynchronous
 * calls, has finished when its call returns.
 *
 * Arrays are held by weak references, so that nothing lives longer because of us. An answer takes a
 * microsecond: after the first waits only some are asked. All functions here need the GIL.
 */
#ifndef STAGEPROF_PRELOAD_DEVICE_STATE_H
#define STAGEPROF_PRELOAD_DEVICE_STATE_H

#include "preload/interpreter/python_api.h"

enum sp_device_state {
	SP_DEVICE_UNKNOWN, /* not asked, or nothing answers */
	SP_DEVICE_READY,
	SP_DEVICE_WORKS,
};

/* A compiled function returned `result`: from now on its arrays are asked. */
void sp_device_state_note(struct sp_py_object *result);

/* A compiled function that finishes before it returns, where device_local() says so, and where no
 * function of another framework that returns ahead is called. */
void sp_device_state_returned(void);

/* A wait for a batch begins. */
enum sp_device_state sp_device_state_begin(void);

/* The wait ends; `begun`: what sp_device_state_begin() returned.
 * Keeps the exception that is set. */
void sp_device_state_end(enum sp_device_state begun);

/*
 * METH_VARARGS of the bootstrap:
 *   device_watch(type)   the type of the arrays to ask
 *   device_local(yes)    whether calls of sp_device_state_returned() count
 */
struct sp_py_object *sp_device_watch(struct sp_py_object *self, struct sp_py_object *args);
struct sp_py_object *sp_device_local(struct sp_py_object *self, struct sp_py_object *args);

#endif

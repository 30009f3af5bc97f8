/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Python line of a slow call by the main thread: a call of CUDA or NCCL
 * (preload/cuda/cuda_slow_calls.h), or one that STAGEPROF_STACKS asks for
 * (preload/stacks/stacks.h), is written once more, as SP_DEFINE_LINE, with the line that made it.
 *
 * The hook has no GIL, so it adds a pending call (Py_AddPendingCall needs none). Python runs the
 * pending call on the main thread as soon as the slow call is over, so the line is that call's.
 * An operator that calls nothing (`if tensor:`) is charged to the next call or loop end of the
 * same function. All slow calls inside one call of Python share its line, up to 64 of them. Waits
 * of other threads have no line: autograd's threads have no Python.
 */
#ifndef STAGEPROF_PRELOAD_PYTHON_LINES_H
#define STAGEPROF_PRELOAD_PYTHON_LINES_H

#include <stdint.h>

#include "preload/recorder/recorder.h"

/* After a slow call, outside of the recorder; stack: the id of its native stack, 0: none. errno may
 * change. */
void sp_python_line_ask(const struct sp_slow_call_metadata *call, uint32_t stack);

#endif

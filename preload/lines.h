/*
 * The Python line behind a long wait for the GPU: a call of CUDA or NCCL by the main thread that took long
 * (preload/cuda_slow.h) is written once more, as SP_DEFINE_LINE, with the line that made it.
 *
 * The hook has no GIL, so it asks for a pending call (Py_AddPendingCall needs none). Python makes it on the
 * main thread as soon as the call that waited is over, so the line is that call's; an operator that calls
 * nothing (`if tensor:`) is charged to the next call or loop end of the same function. Calls that one call of
 * Python's makes have its line, up to 64 of them. Other threads' waits have no line: autograd's have no Python at all.
 */
#ifndef STAGEPROF_PRELOAD_LINES_H
#define STAGEPROF_PRELOAD_LINES_H

#include <stdint.h>

#include "preload/record.h"

/* After a long call, outside of the recorder; stack: the id of its native stack, 0: none. errno may change. */
void sp_line_ask(const struct sp_slow_facts *call, uint32_t stack);

#endif

/*
 * The Python line behind a long wait for the GPU: a call of CUDA or NCCL by the main thread that took at
 * least STAGEPROF_LINES (1ms unless set; 0: none) is written once more, as SP_DEFINE_LINE, with the line
 * that made it.
 *
 * The hook has no GIL, so it asks for a pending call (Py_AddPendingCall needs none). Python makes it on the
 * main thread as soon as the call that waited is over, so the line is that call's; an operator that calls
 * nothing (`if tensor:`) is charged to the next call or loop end of the same function. One line is found at
 * a time. Other threads' waits have no line: autograd's have no Python at all.
 */
#ifndef STAGEPROF_PRELOAD_LINES_H
#define STAGEPROF_PRELOAD_LINES_H

#include <stdint.h>

#include "preload/record.h"

/* Calls below this have no line; UINT64_MAX: none has. 0 until the clock's rate is known. */
extern uint64_t sp_lines_least_ticks __attribute__((visibility("hidden")));

/* Constructor, after sp_python_init. */
void sp_lines_init(void);

/* After a call that took sp_lines_least_ticks or longer; what: sp_what_make(). errno is kept. */
void sp_line_keep(struct sp_thread *t, uint64_t what, uint64_t start, uint64_t ticks);

#endif

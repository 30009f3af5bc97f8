/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STAGEPROF_PRELOAD_STACK_CALL_H
#define STAGEPROF_PRELOAD_STACK_CALL_H

/* Calls a function on another stack, whose top is a multiple of 16. It must return: no exception,
 * no longjmp. Async-signal-safe; the caller holds off handlers that would need this stack. */
void sp_stack_call(void *stack_top, void (*function)(void *), void *argument);

#endif

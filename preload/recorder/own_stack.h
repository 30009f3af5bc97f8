/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of the recorder that need much stack: making a block, making a file, registering a
 * descriptor. An alternate signal stack of the host may have room for the host's handler only. On
 * such a stack the step runs on a stack of our own, mapped for the step. All signals are blocked
 * meanwhile, because the kernel would put the next handler's frame over the frame of the handler
 * that called us.
 *
 * Async-signal-safe. On x86-64 a hooked call takes less than 1 KiB of the caller's stack. A
 * handler cannot recognize an alternate stack with SS_AUTODISARM: there the step runs in place.
 */
#ifndef STAGEPROF_PRELOAD_OWN_STACK_H
#define STAGEPROF_PRELOAD_OWN_STACK_H

/* More than the largest step needs. An alternate stack with more room left is used as it is. */
#define SP_OWN_STACK_BYTES (16u * 1024u)

/* Returns 0 if the function ran in place, 1 if it ran on a stack of our own, -ENOMEM if it did not
 * run. Costs one sigaltstack(2) if there is room. */
int sp_call_on_own_stack(void (*function)(void *argument), void *argument);

/* Returns 1 while the thread runs in a handler with an alternate stack, inside sp_call_on_own_stack
 * too, and in a frozen process, which must not ask. */
int sp_is_signal_stack(void);

#endif

/*
 * Steps of the recorder that take much stack: a block is made, a file begun, a descriptor met. The host
 * may have made its alternate signal stack for no more than its own handler: there they run on a
 * stack of ours, mapped for the step, with all signals blocked, for the kernel would put the next
 * handler's frame over that of the handler we were called from.
 *
 * Async-signal-safe. On x86-64, what a hooked call itself takes of the caller's stack is below 1 KiB.
 * An alternate stack with SS_AUTODISARM cannot be known from within its handler: there they run in place.
 */
#ifndef STAGEPROF_PRELOAD_DEEP_H
#define STAGEPROF_PRELOAD_DEEP_H

/* More than any such step takes, and than the rest of an alternate stack that is used as it is. */
#define SP_DEEP_BYTES (16u * 1024u)

/* Returns 0 where the function ran in place, 1 where it ran on a stack of ours, -ENOMEM where it did not
 * run. Costs one sigaltstack(2) where nothing is short. */
int sp_deep_call(void (*function)(void *argument), void *argument);

/* 1 while the thread runs in a handler that has an alternate stack, also inside sp_deep_call; and where it
 * cannot be asked, behind a sandbox's filter. */
int sp_deep_is_signal_stack(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/own_stack.h"

#include <errno.h>
#include <signal.h>

#include "preload/sys/fd_private_task.h"
#include "preload/sys/memory.h"
#include "preload/sys/stack_call.h"
#include "preload/sys/freeze.h"
#include "preload/blocks/thread_slots.h"
#include "preload/sys/sys.h"

#define OWN_STACK_BYTES (64u * 1024u)

/* Returns 0 if the thread runs on no alternate stack, or if the kernel does not answer. */
static int signal_stack(stack_t *ret_stack)
{
	return SP_SYS2(SYS_sigaltstack, 0, ret_stack) == 0 && (ret_stack->ss_flags & SS_ONSTACK);
}

int sp_is_signal_stack(void)
{
	stack_t stack;

	return sp_tls.own_stack_depth || sp_process_is_frozen() || signal_stack(&stack);
}

static int room_is_short(void)
{
	stack_t stack;

	return signal_stack(&stack) &&
	       (uintptr_t)__builtin_frame_address(0) - (uintptr_t)stack.ss_sp < SP_OWN_STACK_BYTES;
}

int sp_call_on_own_stack(void (*function)(void *argument), void *argument)
{
	unsigned long before;
	uint8_t *stack;

	if (sp_tls.own_stack_depth || sp_process_is_frozen() || !room_is_short()) {
		function(argument);
		return 0;
	}
	stack = sp_pages_make(OWN_STACK_BYTES);
	if (!stack)
		return -ENOMEM;
	before = sp_signals_block();
	sp_tls.own_stack_depth++;
	sp_stack_call(stack + OWN_STACK_BYTES, function, argument);
	sp_tls.own_stack_depth--;
	sp_signals_restore(before);
	sp_pages_free(stack, OWN_STACK_BYTES);
	return 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/cuda/cuda_slow_calls.h"

#include <errno.h>

#include "preload/settings/config.h"
#include "preload/sys/hot_data.h"
#include "preload/stacks/stacks.h"

#define LEAST_NS 1000000u

uint64_t sp_cuda_slow_ticks SP_HOT_DATA = UINT64_MAX;
void (*sp_cuda_slow_line_ask)(const struct sp_slow_call_metadata *call, uint32_t stack);

static uint64_t least_ns = LEAST_NS; /* 0: none */
static uint64_t least_ticks = UINT64_MAX;

void sp_cuda_slow_init(void)
{
	if (sp_config_has(sp_config.without, "lines"))
		least_ns = 0;
	if (least_ns || sp_stacks_least_ticks != UINT64_MAX)
		sp_cuda_slow_ticks = 0;
}

void sp_cuda_slow_bind(void)
{
	if (least_ns)
		sp_stacks_open();
}

static void calibrate(void)
{
	uint64_t stacks_ticks = sp_stacks_calibrate();

	if (least_ns)
		least_ticks = (uint64_t)((unsigned __int128)least_ns *
					 sp_recorder_clock.ticks_per_second / 1000000000u) |
			      1;
	__atomic_store_n(&sp_cuda_slow_ticks,
			 stacks_ticks < least_ticks ? stacks_ticks : least_ticks, __ATOMIC_RELAXED);
}

static void keep(struct sp_thread *t, const struct sp_slow_call_metadata *call, const void *caller,
		 const void *frame)
{
	int is_slow = call->ticks >= least_ticks;
	uint32_t stack = 0;

	if (sp_stack_is_wanted(call))
		stack = sp_stack_take(t);
	else if (is_slow)
		stack = sp_stack_take_once(t, caller, frame);
	if (stack || is_slow)
		sp_slow_keep(t, call, stack);
	if (is_slow && sp_cuda_slow_line_ask)
		sp_cuda_slow_line_ask(call, stack);
}

void sp_cuda_slow(struct sp_thread *t, uint64_t what, uint64_t start, uint64_t ticks,
		  const void *caller, const void *frame)
{
	struct sp_slow_call_metadata call = {start, ticks, sp_commit_kind(what),
					     sp_commit_arg(what)};
	int kept = errno;

	if (!sp_cuda_slow_ticks)
		calibrate();
	if (ticks >= sp_cuda_slow_ticks && !t->inside && !sp_tls.suppress_depth)
		keep(t, &call, caller, frame);
	errno = kept;
}

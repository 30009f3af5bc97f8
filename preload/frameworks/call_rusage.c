/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/frameworks/call_rusage.h"

#include <sys/resource.h>

#include "preload/sys/freeze.h"
#include "preload/sys/clock.h"
#include "preload/sys/sys.h"
#include "trace/events.h"

bool sp_call_rusage_wanted(int32_t phase)
{
	return phase == SP_PHASE_loader_fetch;
}

bool sp_call_rusage_read(struct sp_call_rusage *ret)
{
	struct rusage usage = {0};
	uint64_t cpu_ns;

	ret->is_known = false;
	if (sp_process_is_frozen() || SP_SYS2(SYS_getrusage, RUSAGE_THREAD, &usage) < 0)
		return false;
	/* The times of a rusage are those of the kernel's last tick, some ms ago. */
	cpu_ns = sp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (!cpu_ns)
		return false;
	*ret = (struct sp_call_rusage){
		.is_known = true,
		.cpu_ns = cpu_ns,
		.major = (uint64_t)usage.ru_majflt,
		.minor = (uint64_t)usage.ru_minflt,
		.voluntary = (uint64_t)usage.ru_nvcsw,
		.involuntary = (uint64_t)usage.ru_nivcsw,
	};
	return true;
}

static uint64_t two(uint64_t high, uint64_t low)
{
	return (high > UINT32_MAX ? UINT32_MAX : high) << 32 |
	       (low > UINT32_MAX ? UINT32_MAX : low);
}

void sp_call_rusage_words(const struct sp_call_rusage *before, const struct sp_call_rusage *after,
			  uint64_t ret[3])
{
	ret[0] = after->cpu_ns - before->cpu_ns;
	ret[1] = two(after->major - before->major, after->minor - before->minor);
	ret[2] =
		two(after->voluntary - before->voluntary, after->involuntary - before->involuntary);
}

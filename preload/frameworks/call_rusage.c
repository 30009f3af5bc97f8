/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/frameworks/call_rusage.h"

#include <sys/resource.h>

#include "preload/recorder/freeze.h"
#include "preload/sys/sys.h"
#include "trace/events.h"

bool sp_call_rusage_wanted(int32_t phase)
{
	return phase == SP_PHASE_loader_fetch;
}

static uint64_t ns_of(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_usec * 1000u;
}

bool sp_call_rusage_read(struct sp_call_rusage *ret)
{
	struct rusage usage = {0};

	ret->is_known = false;
	if (sp_process_is_frozen() || SP_SYS2(SYS_getrusage, RUSAGE_THREAD, &usage) < 0)
		return false;
	*ret = (struct sp_call_rusage){
		.is_known = true,
		.cpu_ns = ns_of(&usage.ru_utime) + ns_of(&usage.ru_stime),
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

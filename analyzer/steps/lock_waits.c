/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/lock_waits.h"

#include <errno.h>

#include "analyzer/base/intervals.h"

static void count_unseen(struct sp_lock_waits *w, bool times_out, int64_t start_ns, int64_t end_ns)
{
	if (w->timed_out_ns && start_ns - w->timed_out_ns >= SP_LOCK_WAIT_LEAST_NS)
		w->unseen_ns += SP_LOCK_WAIT_LEAST_NS;
	w->timed_out_ns = times_out ? end_ns : 0;
}

void sp_lock_waits_put(struct sp_lock_waits *w, const struct sp_slot *wait, int64_t start_ns,
		       int64_t end_ns)
{
	uint32_t at = (w->begin + w->count) % SP_LOCK_WAITS, object = sp_commit_arg(wait->commit);

	if (wait->value == -ETIMEDOUT)
		w->object = object;
	if (!object || object != w->object)
		return;
	count_unseen(w, wait->value == -ETIMEDOUT, start_ns, end_ns);
	w->start_ns[at] = start_ns;
	w->ns[at] = sp_interval_ns(start_ns, end_ns);
	w->all_ns += w->ns[at];
	if (w->count == SP_LOCK_WAITS)
		w->begin = (w->begin + 1) % SP_LOCK_WAITS;
	else
		w->count++;
}

uint64_t sp_lock_waits_take(struct sp_lock_waits *w, int64_t start_ns)
{
	uint64_t ns = 0;

	while (w->count) {
		uint32_t last = (w->begin + w->count - 1) % SP_LOCK_WAITS;

		if (w->start_ns[last] < start_ns)
			break;
		ns += w->ns[last];
		w->count--;
	}
	return ns;
}

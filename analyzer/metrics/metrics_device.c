/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_device.h"

#include "analyzer/gpu/gpu_sums.h"
#include "analyzer/metadata/run_frameworks.h"
#include "analyzer/report/report.h"
#include "analyzer/training/gpu_time.h"

#define DEVICE_WAIT_MOST 0.2
#define QUEUE_LAUNCHES 2048u /* more than a queue holds */
#define DROPPED_MOST 20u     /* at most one batch of work in this many may be missing */

double sp_device_host_ns(const struct sp_metric_sums *m)
{
	uint64_t ns = sp_account_sum(&m->time.account, SP_IS_HOST);

	return fmax((double)ns - (double)m->device.blocked_ns, 0);
}

double sp_device_launch_bound_ns(const struct sp_metric_sums *m)
{
	const struct sp_device_calls *d = &m->device;
	bool would_wait = d->syncs || d->blocking_copies || d->launches > QUEUE_LAUNCHES;
	double ns = sp_device_host_ns(m);

	if (!d->launches || !(would_wait || d->has_gpu_idle))
		return UNKNOWN;
	/* Faster launching could win at most the device's idle time, and gaps between works that
	 * kept up. */
	if (d->has_gpu_idle)
		ns = fmin(ns, (double)(d->gpu_idle_ns + d->gpu_paced_ns));
	return sp_device_synced_ns(d) + (double)d->blocked_ns < DEVICE_WAIT_MOST * m->time.total
		       ? ns
		       : 0;
}

/* With times measured on the device, counts the loader's waits that were lost. */
static void use_gpu_time(struct sp_device_calls *c, const struct sp_report *report)
{
	struct sp_gpu_sums gpu;
	uint64_t dropped;

	if (!sp_gpu_time_sum(&report->training, &gpu, &dropped) ||
	    dropped > gpu.spans / DROPPED_MOST) {
		c->allocation_open_ns = c->allocation_wait_ns;
		return;
	}
	c->allocation_idle_ns += c->allocation_gap_ns;
	c->has_gpu_idle = true;
	c->gpu_idle_ns = gpu.wall_ns - gpu.busy_ns;
	c->gpu_idle_ns -= gpu.lost_wait_ns < c->gpu_idle_ns ? gpu.lost_wait_ns : c->gpu_idle_ns;
	c->gpu_paced_ns = gpu.paced_ns;
	c->drained_wait_ns = gpu.lost_wait_ns;
	c->hidden_wait_ns = gpu.hidden_wait_ns;
	c->wait_ns = gpu.lost_wait_ns + gpu.hidden_wait_ns;
}

/* Compiled functions that make the batches of another framework's steps say nothing of those. */
static bool are_states_of_steps(const struct sp_metric_sums *m)
{
	struct sp_frameworks frameworks;

	sp_frameworks_read(&m->report->run.metadata, &frameworks);
	return m->time.account.ns[SP_ACCOUNT_update] || sp_frameworks_are_partial(&frameworks);
}

/*
 * With the answers of compiled functions, counts the waits that were lost: they hold for a device
 * whose launches no call shows, too. Returns the time of which it is known whether the device had
 * something to do.
 */
static uint64_t use_states(struct sp_device_calls *c, const struct sp_device_states *states)
{
	c->is_used = true;
	c->wait_ns = states->wait_ns;
	c->drained_wait_ns = states->idle_ns;
	c->hidden_wait_ns = states->wait_ns - sp_device_states_lost(states);
	return states->idle_ns + states->busy_ns;
}

void sp_device_sums_read(struct sp_metric_sums *m)
{
	const struct sp_device_states *states = &m->report->device_states;
	struct sp_device_calls *d = &m->device;
	uint64_t known_ns;

	*d = m->report->device_calls;
	use_gpu_time(d, m->report);
	known_ns = d->drained_wait_ns + d->hidden_wait_ns;
	if (states->waits && !d->has_gpu_idle && are_states_of_steps(m))
		known_ns = use_states(d, states);
	m->e->is_queue_known = 2 * known_ns >= d->wait_ns;
	m->e->has_device = d->is_used;
}

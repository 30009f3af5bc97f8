/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics from CUDA calls and from times measured on the device.
 */
#ifndef STAGEPROF_ANALYZER_METRICS_DEVICE_H
#define STAGEPROF_ANALYZER_METRICS_DEVICE_H

#include "analyzer/metrics/metric_sums.h"

/* Fills sums->device, after the time, and is_queue_known: for most of the input wait, whether the
 * device had work queued. */
void sp_device_sums_read(struct sp_metric_sums *sums);

/* The host in syncs, and in copies that wait. */
static inline double sp_device_synced_ns(const struct sp_device_calls *d)
{
	return (double)(d->sync_ns + d->blocking_copy_ns);
}

/* The host's compute outside of launches that find the queue full. */
double sp_device_host_ns(const struct sp_metric_sums *sums);

/*
 * The part of it that limits the device: the host does so only where it would wait if the device
 * had more work, in syncs, in copies to the host, or in launches that find the queue full. NAN
 * where that is not known.
 */
double sp_device_launch_bound_ns(const struct sp_metric_sums *sums);

/*
 * The same in steady steps. The sums are of all training, of which validation and long first steps
 * are a part, and a what-if is about a steady step: as much of the sum is there as of the account.
 */
static inline double sp_device_steady_sync_ns(const struct sp_metric_sums *m)
{
	double synced = (double)m->time.in_steps.ns[SP_ACCOUNT_sync_wait];

	return RATIO(sp_device_synced_ns(&m->device) *
			     (double)m->time.mean.account.ns[SP_ACCOUNT_sync_wait],
		     synced);
}

/* A copy costs no more than the host waits: for room in the queue, in syncs, in copies. */
static inline double sp_device_late_copy_ns(const struct sp_device_calls *d)
{
	return fmin((double)d->copying_ns, (double)d->blocked_ns + sp_device_synced_ns(d));
}

#endif

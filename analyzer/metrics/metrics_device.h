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

#endif

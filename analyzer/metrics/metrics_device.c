/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_device.h"

#include "analyzer/gpu/gpu_sums.h"
#include "analyzer/metadata/run_frameworks.h"
#include "analyzer/gpu/device_calls.h"
#include "analyzer/gpu/device_states.h"
#include "analyzer/training/gpu_time.h"
#include "analyzer/training/step_stats.h"
#include "analyzer/training/training_account.h"
#include "analyzer/report/report.h"

/*
 * The host limits the device only where the host itself would wait if the device had more work: in
 * syncs, in copies to the host, or in launches that find the queue full.
 */
#define DEVICE_WAIT_MOST 0.2
#define QUEUE_LAUNCHES 2048.0 /* more than a queue holds */
#define DROPPED_MOST 20u      /* at most one batch of work in this many may be missing */

/* Sums over all trainers. */
struct device_time {
	const struct sp_account *account;
	double total_ns;
	uint64_t steps;
};

/* The parts of a step in which the host may launch. */
static uint64_t compute_ns(const struct sp_account *account)
{
	static const enum sp_account_phase parts[] = {
		SP_ACCOUNT_forward,   SP_ACCOUNT_loss,	    SP_ACCOUNT_backward,
		SP_ACCOUNT_optimizer, SP_ACCOUNT_zero_grad, SP_ACCOUNT_other,
	};
	uint64_t ns = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		ns += account->ns[parts[i]];
	return ns;
}

static void set_launches(struct sp_metrics *e, const struct device_time *t,
			 const struct sp_device_calls *c)
{
	double waits = (double)(c->sync_ns + c->blocking_copy_ns + c->blocked_ns);
	double compute = (double)compute_ns(t->account);
	double host = compute - (double)c->blocked_ns;
	bool would_wait = c->syncs || c->blocking_copies || (double)c->launches > QUEUE_LAUNCHES;

	if (!c->launches)
		return;
	host = host > 0 ? host : 0;
	sp_metrics_ratio(e, SP_METRIC_launches_per_step, (double)c->launches, (double)t->steps);
	sp_metrics_ratio(e, SP_METRIC_launch_ns, (double)c->launch_ns, (double)c->launches);
	sp_metrics_ratio(e, SP_METRIC_launches_per_ms, (double)c->launches * 1e6, host);
	/* Faster launching could win at most the device's idle time, and gaps between works that
	 * kept up. */
	if (c->has_gpu_idle) {
		double idle = (double)(c->gpu_idle_ns + c->gpu_paced_ns);

		host = idle < host ? idle : host;
	}
	if (would_wait || c->has_gpu_idle)
		sp_metrics_ratio(e, SP_METRIC_launch_bound_share,
				 waits < DEVICE_WAIT_MOST * t->total_ns ? host : 0, t->total_ns);
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

static void set_lost_wait(struct sp_metrics *e, const struct sp_device_calls *c)
{
	double wait = sp_metrics_value(e, SP_METRIC_loader_wait_share), hidden;

	if (!c->wait_ns || !e->of[SP_METRIC_loader_wait_share].is_known)
		return;
	hidden = wait * (double)c->hidden_wait_ns / (double)c->wait_ns;
	sp_metrics_set(e, SP_METRIC_hidden_wait_share, hidden);
	sp_metrics_set(e, SP_METRIC_lost_wait_share, wait - hidden);
}

/* Compiled functions that make the batches of another framework's steps say nothing of those. */
static bool are_states_of_steps(const struct sp_account *account, const struct sp_report *report)
{
	struct sp_frameworks frameworks;

	sp_frameworks_read(&report->run.metadata, &frameworks);
	return account->ns[SP_ACCOUNT_update] > 0 || sp_frameworks_are_partial(&frameworks);
}

/*
 * With the answers of compiled functions, counts the waits that were lost: they hold for a device
 * whose launches no call shows, too.
 */
static void use_states(struct sp_device_calls *c, const struct sp_device_states *states)
{
	if (!states->waits || c->has_gpu_idle)
		return;
	c->is_used = true;
	c->wait_ns = states->wait_ns;
	c->drained_wait_ns = states->idle_ns;
	c->hidden_wait_ns = states->wait_ns - sp_device_states_lost(states);
}

/* Without answers, the waits that were judged; with them, those in which the device surely had
 * nothing to do, or surely worked. */
static bool is_queue_known(const struct sp_device_calls *c, const struct sp_device_states *states)
{
	uint64_t known_ns = c->drained_wait_ns + c->hidden_wait_ns;

	if (states->waits && !c->has_gpu_idle)
		known_ns = states->idle_ns + states->busy_ns;
	return 2 * known_ns >= c->wait_ns;
}

/* A copy costs no more than the host waits: for room in the queue, in syncs, in copies. */
static void set_late_copies(struct sp_metrics *e, const struct device_time *t,
			    const struct sp_device_calls *c)
{
	uint64_t waited = c->blocked_ns + c->sync_ns + c->blocking_copy_ns;

	if (c->has_gpu_idle && c->copying_ns)
		sp_metrics_ratio(e, SP_METRIC_late_copy_share,
				 (double)(c->copying_ns < waited ? c->copying_ns : waited),
				 t->total_ns);
}

static double all_steps_ns(const struct sp_training *training, enum sp_account_phase phase)
{
	double ns = 0;

	for (uint32_t t = 0; t < training->count; t++)
		for (uint32_t i = 0; i < training->trainers[t].steps.count; i++)
			if (sp_step_is_selected(training, &training->trainers[t], i))
				ns += (double)training->trainers[t]
					      .steps.steps[i]
					      .account.ns[phase];
	return ns;
}

/*
 * The shares are of all training, of which validation and long first steps are a part, and a
 * what-if is about a steady step. As much of the sum is in the steady steps as of the account.
 */
static void set_steady(struct sp_metrics *e, const struct sp_training *training, double sync_ns)
{
	struct sp_step_mean mean = sp_step_mean(training);
	double synced = all_steps_ns(training, SP_ACCOUNT_sync_wait);

	if (synced > 0)
		sp_metrics_ratio(e, SP_METRIC_sync_mean_ns,
				 sync_ns * (double)mean.account.ns[SP_ACCOUNT_sync_wait] / synced,
				 (double)mean.count);
	if (e->of[SP_METRIC_copy_share].is_known)
		sp_metrics_ratio(e, SP_METRIC_copy_mean_ns,
				 (double)mean.account.ns[SP_ACCOUNT_h2d_copy], (double)mean.count);
}

static void set_device(struct sp_metrics *e, const struct device_time *t,
		       const struct sp_device_calls *c)
{
	double sync = (double)(c->sync_ns + c->blocking_copy_ns), idle = (double)c->idle_ns;

	e->has_device = c->is_used;
	if (!c->is_used) {
		/* the CPU is the only device */
		if (e->of[SP_METRIC_loader_wait_share].is_known)
			sp_metrics_set(e, SP_METRIC_lost_wait_share,
				       sp_metrics_value(e, SP_METRIC_loader_wait_share));
		return;
	}
	set_lost_wait(e, c);
	if (c->syncs || c->blocking_copies) {
		sp_metrics_ratio(e, SP_METRIC_sync_share, sync, t->total_ns);
		sp_metrics_ratio(e, SP_METRIC_sync_cost_share, idle < sync ? idle : sync,
				 t->total_ns);
		sp_metrics_ratio(e, SP_METRIC_syncs_per_step, (double)c->syncs, (double)t->steps);
		sp_metrics_ratio(e, SP_METRIC_blocking_copies_per_step, (double)c->blocking_copies,
				 (double)t->steps);
	}
	if (c->allocations) {
		sp_metrics_ratio(e, SP_METRIC_allocations_per_step, (double)c->allocations,
				 (double)t->steps);
		sp_metrics_ratio(e, SP_METRIC_allocation_share, (double)c->allocation_ns,
				 t->total_ns);
		sp_metrics_ratio(e, SP_METRIC_allocation_cost_share, (double)c->allocation_idle_ns,
				 t->total_ns);
		sp_metrics_ratio(e, SP_METRIC_allocation_open_share,
				 (double)(c->allocation_idle_ns + c->allocation_open_ns),
				 t->total_ns);
	}
	set_late_copies(e, t, c);
	sp_metrics_ratio(e, SP_METRIC_pageable_share, (double)c->h2d_pageable_ns,
			 (double)c->h2d_ns);
	set_launches(e, t, c);
}

void sp_metrics_device(struct sp_metrics *e, const struct sp_account *account, uint64_t steps,
		       const struct sp_report *report)
{
	struct device_time time = {account, (double)sp_account_total(account), steps};
	struct sp_device_calls calls = report->device_calls;
	struct sp_device_states states = report->device_states;

	if (!are_states_of_steps(account, report))
		states.waits = 0;
	use_gpu_time(&calls, report);
	use_states(&calls, &states);
	e->is_queue_known = is_queue_known(&calls, &states);
	set_device(e, &time, &calls);
	if (calls.is_used)
		set_steady(e, &report->training, (double)(calls.sync_ns + calls.blocking_copy_ns));
}

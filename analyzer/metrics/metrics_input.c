/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_input.h"

#include "analyzer/base/each.h"
#include "analyzer/report/report.h"

/* A limit, because each worker is a process with its own memory, even if it needs little of a
 * core. */
#define WORKERS_A_CORE_MOST 4
#define RELEASE_ERROR 1.5 /* of the calls of munmap: the release of what lay in the memory */
#define ROUNDING 0.001	  /* a fraction of a worker that counts as none */

bool sp_input_is_made_late(struct sp_metric_sums *m)
{
	return V(handover_wait_share) + V(sampler_wait_share) < SP_BATCH_RECEIVE_MOST;
}

double sp_input_batches_a_step(struct sp_metric_sums *m)
{
	return V(batches_per_step) > 0 ? V(batches_per_step) : 1;
}

/* The part of a batch's work that needs a core; without the kernel's counts, all work except
 * reading. */
static double batch_cpu_ns(struct sp_metric_sums *m, double batch_ns)
{
	return KNOWN(batch_cpu_ns) ? V(batch_cpu_ns) : batch_ns * (1 - V(read_share));
}

/* The shortest time between batches that the cores allow, with any number of workers; 0:
 * unknown. Other programs take as much of the cores from more workers, too. */
static double cores_batch_ns(struct sp_metric_sums *m, double batch_ns)
{
	double cpu_ns = V(trainer_cpu_ns) / sp_input_batches_a_step(m) + V(batch_ready_ns);

	if (V(cores) <= 0)
		return 0;
	if (!m->input.on_trainer)
		cpu_ns += batch_cpu_ns(m, batch_ns);
	cpu_ns /= V(cores) / fmax(V(host_trainers), 1);
	if (m->input.on_trainer || !KNOWN(worker_cores))
		return cpu_ns;
	return fmax(cpu_ns, (batch_cpu_ns(m, batch_ns) + V(batch_ready_ns)) / V(worker_cores));
}

double sp_input_busy_ns(struct sp_metric_sums *m)
{
	return (V(step_mean_ns) - V(wait_mean_ns)) / sp_input_batches_a_step(m) + V(handover_ns) +
	       V(sampler_ns);
}

double sp_input_enough(struct sp_metric_sums *m)
{
	return floor(V(batch_work_ns) / sp_input_busy_ns(m)) + 1;
}

double sp_input_wanted(struct sp_metric_sums *m)
{
	double batch_ns = V(batch_work_ns), cores = V(cores), wanted;
	double period_ns = fmax(sp_input_busy_ns(m), cores_batch_ns(m, batch_ns));

	if (!m->input.on_trainer && batch_ns < V(handover_ns))
		return 0; /* the training thread makes a batch sooner than it receives one */
	wanted = fmin(sp_input_enough(m), fmax(ceil(batch_ns / period_ns * (1 - ROUNDING)), 1));
	return cores > 0 ? fmin(wanted, cores * WORKERS_A_CORE_MOST) : wanted;
}

double sp_input_answering(struct sp_metric_sums *m)
{
	const struct sp_call_rusage_sums *u = &m->input.fetches.usage;
	double fetching = 1 - V(worker_idle_share);
	double running =
		u->wall_ns ? (double)(u->cpu_ns + u->preempted_ns) / (double)u->wall_ns : 1;

	return 1 - fetching * running;
}

/* Shared memory is given back by calls of munmap, with some work around each. */
double sp_input_release_ns(struct sp_metric_sums *m)
{
	uint64_t batches = m->report->workers.receive.all_batches;
	const struct sp_training *training = &m->report->training;
	double ns = SP_SUM(double, t, training->count,
			   (double)m->report->totals.streams[training->trainers[t].stream]
				   .stages[SP_STAGE_munmap]
				   .total_ns);

	if (!m->input.at_once || !batches || !KNOWN(loop_ns))
		return UNKNOWN;
	return fmin(RELEASE_ERROR * ns / (double)batches, V(loop_ns) / sp_input_batches_a_step(m));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of the kernel's counts of cores and their use. */
#ifndef STAGEPROF_ANALYZER_CPU_SUMS_H
#define STAGEPROF_ANALYZER_CPU_SUMS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct sp_report;

/* Sums over processes. Those whose first thread lacks a value are left out. */
struct sp_cpu_use {
	double cpu_ns, ready_ns, life_ns; /* of the process's first thread */
	double process_cpu_ns;
	double used_ns;	  /* on cores while their trainer trained */
	double demand_ns; /* the same, and ready for a core */
	double threads;	  /* the greatest number of any process */
	double batches;	  /* batches that the processes made */
};

struct sp_cpu_sums {
	struct sp_cpu_use trainers, workers, bystanders;
	struct sp_cpu_use stepped; /* trainers whose use is known of their steps alone */
	double trained_ns;	   /* when at least one trainer trained; 0: not known */
	uint32_t unaccounted;	   /* processes that were killed, so that their use is not known */
};

void sp_cpu_sums_read(struct sp_cpu_sums *sums, const struct sp_report *report);

/* Cores that the job used and wanted while it trained. */
static inline double sp_cpu_cores_used(const struct sp_cpu_sums *c)
{
	return (c->trainers.used_ns + c->workers.used_ns + c->bystanders.used_ns) / c->trained_ns;
}

static inline double sp_cpu_cores_wanted(const struct sp_cpu_sums *c)
{
	return (c->trainers.demand_ns + c->workers.demand_ns + c->bystanders.demand_ns) /
	       c->trained_ns;
}

/*
 * The part of a share of the trainers' time in which none of their threads ran or was ready, at
 * least: a wait for a batch, a sleep or a server. Several threads that run at once hide a part.
 */
static inline double sp_cpu_idle(const struct sp_cpu_sums *c, double share)
{
	return c->stepped.life_ns > 0 ? fmax(share - c->stepped.demand_ns / c->stepped.life_ns, 0)
				      : NAN;
}

/* The processors of the first trainer that knows them. */
double sp_cpu_cores(const struct sp_report *report);

/* On cores, of the processes whose first thread reported it. */
double sp_cpu_run_ns(const struct sp_report *report);

/*
 * A share of the life of `use`; NAN where it or `cores` (0) is not known. A thread waits for a core
 * only while all cores are taken. The job's other threads together take them no longer than they
 * ran, divided by the cores; other programs had them for the rest. others: the cores that other
 * programs kept busy, where the machine's own count is known, else NAN. They are then the cause of
 * a wait no more than by their share of what stood in the way.
 */
double sp_cpu_outside(const struct sp_cpu_sums *sums, const struct sp_cpu_use *use, double cores,
		      double others);

/* True where another thread of a training process computes meanwhile. Threads that record nothing
 * (of OpenMP) do not count. */
bool sp_metrics_has_busy_thread(const struct sp_report *report);

/* The time on cores, and in wait for one, of a process's threads beside the given one. A trainer's
 * covers the steps. 0: none, or not known. */
struct sp_beside {
	double cpu_ns, ready_ns;
};

struct sp_beside sp_metrics_beside(const struct sp_report *report, uint32_t stream,
				   bool is_trainer);

#endif

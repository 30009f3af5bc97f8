/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics: numbers with names that say what holds training back. A number that the trace does not
 * give is not known, which is never 0.
 */
#ifndef STAGEPROF_ANALYZER_METRIC_H
#define STAGEPROF_ANALYZER_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sp_metric_id {
#define SP_METRIC(name, unit, title, row, of, value) SP_METRIC_##name,
#include "analyzer/metrics/metric.def"
#undef SP_METRIC
	SP_METRICS
};

enum sp_metric_kind {
	SP_IN_SHARE, /* of 1 */
	SP_IN_NS,
	SP_IN_COUNT,
	SP_IN_RATIO,
	SP_IN_BYTES,
	SP_IN_TEXT,
};

/* Shares from which on a metric means something to rules and to what-ifs alike. */

/* A share of the wait for a batch: from here on the trainer does not wait for the making. */
#define SP_BATCH_RECEIVE_MOST 0.5
/* A share of the trainer's waits: with less, workers are too busy to hand over. */
#define SP_ANSWERING_LEAST 0.5
/* A share of the time that the trainer waits: workers are not what is short. */
#define SP_WORKERS_IDLE 0.7
/* A share of making batches: workers wait for each other, or for another process. */
#define SP_FETCHES_LOCKED 0.3
/* A share of the training time: what may be other code than the model's. */
#define SP_UNMARKED_MUCH 0.2
/* Forward divided by backward, and a share of the training time: forward may hold other work. */
#define SP_FORWARD_LONG 1
#define SP_FORWARD_RARE 0.1

/* Cores: from here on threads that wait for a core could have had an idle one. */
#define SP_CORES_IDLE 0.3
/* Cores: a thread more would compute with one; other programs take some of it. */
#define SP_CORES_MOSTLY_IDLE 0.75
/* HDF5's bytes for one of the dataset's: fewer of them save more than a faster unpacking. */
#define SP_AMPLIFIED_MUCH 2
/* A share of the periods of a quota: the group would use more cores than it has. */
#define SP_CORES_THROTTLED 0.2

#define SP_METRIC_TEXT_BYTES 512u

struct sp_metric {
	bool is_known;
	double value;			 /* 0 where the unit is TEXT */
	char text[SP_METRIC_TEXT_BYTES]; /* escaped; "" where the unit is not TEXT */
};

struct sp_metrics {
	struct sp_metric of[SP_METRICS];
	/* Values that limit the trust in the metrics. */
	uint64_t events_lost;	 /* recorded nowhere, damaged or missing */
	uint64_t events_unknown; /* of a newer version */
	uint32_t files_unread;
	uint32_t tails_away; /* threads whose last events are in the memory of another machine */
	uint32_t trainers;
	bool is_fed_by_thread;	/* or there is no loader, and another thread computes meanwhile */
	bool is_unfed;		/* sp_training_is_unfed() */
	double unfed_seen;	/* visible input, of the training time: too little to be a cost */
	bool has_loader_calls;	/* a DataLoader was iterated, with or without steps */
	bool has_forwards;	/* calls of a model, with or without steps */
	bool gives_steps;	/* steps of a loaded framework are recorded: none means none */
	bool trains_unseen;	/* a loaded framework trains without recorded steps */
	bool is_mixed;		/* some steps are rounds of boosting, others are none */
	bool has_whole_calls;	/* a call of a compiled function was a step; a round has its data */
	bool has_device;	/* CUDA calls */
	bool is_queue_known;	/* for most of the input wait, whether the device had work queued */
	bool hides_waits;	/* a step is one call; not known what the device did meanwhile */
	bool is_keras_on_torch; /* Keras runs its own code between PyTorch's calls */
	bool is_forward_left_over; /* no call of the model was observed, or not for all backwards */
	bool is_from_digest;	   /* an input is one: only what accounts and ranks give is known */
};

/* A line of metric.def. */
struct sp_metric_about {
	const char *name, *title, *row; /* title: for people, not yet translated */
	enum sp_metric_kind unit;
};

const struct sp_metric_about *sp_metric_about(enum sp_metric_id metric);

/* SP_METRICS where there is none of this name. */
enum sp_metric_id sp_metric_find(const char *name, size_t bytes);

/* "41.2%", "12.3 ms", …; "not known". */
void sp_metric_text(const struct sp_metrics *metrics, enum sp_metric_id metric, char *ret,
		    size_t ret_bytes);

static inline void sp_metrics_set(struct sp_metrics *e, enum sp_metric_id metric, double value)
{
	e->of[metric].is_known = true;
	e->of[metric].value = value;
}

static inline double sp_metrics_value(const struct sp_metrics *e, enum sp_metric_id metric)
{
	return e->of[metric].is_known ? e->of[metric].value : 0;
}

/* Where it is not known: one. */
static inline double sp_batches_a_step(const struct sp_metrics *e)
{
	double batches = sp_metrics_value(e, SP_METRIC_batches_per_step);

	return batches > 0 ? batches : 1;
}

#endif

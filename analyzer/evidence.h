/*
 * What a finished report says about what holds training back, as numbers with names; one that the
 * trace does not tell is not known, which is never 0.
 */
#ifndef STAGEPROF_ANALYZER_EVIDENCE_H
#define STAGEPROF_ANALYZER_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sp_report;

enum sp_measure_id {
#define SP_MEASURE(name, unit, title, row) SP_MEASURE_##name,
#include "analyzer/measure.def"
#undef SP_MEASURE
	SP_MEASURES
};

enum sp_measure_kind {
	SP_IN_SHARE, /* of 1 */
	SP_IN_NS,
	SP_IN_COUNT,
	SP_IN_RATIO,
	SP_IN_BYTES,
	SP_IN_TEXT,
};

/* Of the wait for a batch: from here on the trainer does not wait for the making. */
#define SP_HANDOVER_MOST 0.5
#define SP_ANSWERING_LEAST 0.5 /* of the trainer's waits: with less, workers are too busy to hand over */
#define SP_WORKERS_IDLE 0.7   /* of the time that the trainer waits: they are not what is short */
#define SP_FETCHES_LOCKED 0.3 /* of making batches: workers wait for each other, or for another process */

#define SP_EVIDENCE_TEXT_BYTES 256u

struct sp_measure {
	bool is_known;
	double value;			   /* 0 where the unit is TEXT */
	char text[SP_EVIDENCE_TEXT_BYTES]; /* escaped; "" but for TEXT */
};

struct sp_evidence {
	struct sp_measure of[SP_MEASURES];
	/* What bears on how far the measures can be trusted. */
	uint64_t events_lost;	 /* recorded nowhere, damaged or missing */
	uint64_t events_unknown; /* of a newer version */
	uint32_t files_unread;
	uint32_t trainers;
	bool is_unfed;	       /* sp_training_is_unfed() */
	bool has_loader_calls; /* a DataLoader was iterated, with or without steps */
	bool has_device;       /* CUDA calls */
	bool is_queue_known;   /* for most of the loader wait, whether the device had work queued */
};

/* The report has its steps and workers, and ranks where there are several. Returns 0 or -ENOMEM. */
int sp_evidence_gather(struct sp_evidence *evidence, const struct sp_report *report);

const char *sp_measure_name(enum sp_measure_id measure);
const char *sp_measure_title(enum sp_measure_id measure); /* for people, in their language */
const char *sp_measure_row(enum sp_measure_id measure);
enum sp_measure_kind sp_measure_kind(enum sp_measure_id measure);

/* SP_MEASURES where there is none of this name. */
enum sp_measure_id sp_measure_find(const char *name, size_t bytes);

/* "41.2 %", "12.3 ms", …; "not known". */
void sp_measure_text(const struct sp_evidence *evidence, enum sp_measure_id measure, char *ret,
		     size_t ret_bytes);

static inline void sp_evidence_set(struct sp_evidence *e, enum sp_measure_id measure, double value)
{
	e->of[measure].is_known = true;
	e->of[measure].value = value;
}

/* part / whole; not known where whole is 0 */
static inline void sp_evidence_ratio(struct sp_evidence *e, enum sp_measure_id measure, double part,
				     double whole)
{
	if (whole > 0)
		sp_evidence_set(e, measure, part / whole);
}

static inline double sp_evidence_value(const struct sp_evidence *e, enum sp_measure_id measure)
{
	return e->of[measure].is_known ? e->of[measure].value : 0;
}

/* Where it is not known: one. */
static inline double sp_batches_a_step(const struct sp_evidence *e)
{
	double batches = sp_evidence_value(e, SP_MEASURE_batches_per_step);

	return batches > 0 ? batches : 1;
}

#endif

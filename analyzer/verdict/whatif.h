/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predicts the time of a step with one thing changed: a range, from the same metrics as the
 * verdict.
 */
#ifndef STAGEPROF_ANALYZER_WHATIF_H
#define STAGEPROF_ANALYZER_WHATIF_H

#include "analyzer/metrics/metrics.h"

enum sp_what_if_id {
#define SP_WHAT_IF(id, title, change, when, makes, missing) SP_WHAT_IF_##id,
#include "analyzer/verdict/whatif.def"
	SP_WHAT_IFS
};

#define SP_WORKERS_UNASKED UINT32_MAX

/* The mean of a steady step: measured, and predicted as a range. */
struct sp_what_if {
	bool is_known;
	double now_ns, low_ns, high_ns; /* low <= high */
	double usual_ns; /* high_ns, if a collate_fn of the program's own copies no large tensors */
	uint32_t workers; /* the number of workers, for SP_WHAT_IF_workers only */
};

/* workers: the number asked for; SP_WORKERS_UNASKED: as many as would keep up. */
struct sp_what_if sp_what_if_make(const struct sp_metrics *metrics, enum sp_what_if_id id,
				  uint32_t workers);

/* The what-if with the greatest sure gain, by its high bound. SP_WHAT_IFS: none gains 5%. */
enum sp_what_if_id sp_what_if_best(const struct sp_metrics *metrics);

const char *sp_what_if_name(enum sp_what_if_id id);
const char *sp_what_if_missing(const struct sp_metrics *metrics, enum sp_what_if_id id);
#define SP_WHAT_IF_TEXT_BYTES 512u

/* "num_workers=4" */
void sp_what_if_change(enum sp_what_if_id id, const struct sp_what_if *what_if, char *ret,
		       size_t ret_bytes);
/* "num_workers were 4" */
void sp_what_if_title(const struct sp_metrics *metrics, enum sp_what_if_id id,
		      const struct sp_what_if *what_if, char ret[SP_WHAT_IF_TEXT_BYTES]);

/* The share of a step that its other work saves where the training thread no longer makes batches,
 * at most. */
double sp_what_if_cache_share(const struct sp_metrics *e);

#endif

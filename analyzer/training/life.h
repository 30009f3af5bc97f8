/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole time of the training processes, from their first event to their last, divided into
 * parts. The parts add up to the whole. The user's selection has no influence on them. Where a
 * process has several training threads, the first one counts.
 */
#ifndef STAGEPROF_ANALYZER_LIFE_H
#define STAGEPROF_ANALYZER_LIFE_H

#include "analyzer/totals/totals.h"
#include "analyzer/training/training.h"

enum sp_life_part {
#define SP_LIFE(name, title) SP_LIFE_##name,
#include "analyzer/training/life.def"
#undef SP_LIFE
	SP_LIFE_PARTS
};

struct sp_life {
	uint64_t ns[SP_LIFE_PARTS];
	uint64_t total_ns;
	uint64_t passes_ns; /* of start_up: passes over a loader in which no model is called */
	uint32_t processes;
};

struct sp_life sp_training_life(const struct sp_training *training, const struct sp_totals *totals);

const char *sp_life_name(enum sp_life_part part);  /* the contract of JSON */
const char *sp_life_title(enum sp_life_part part); /* for people, in their language */

#endif

/*
 * What a step would take, were one thing different: a range, from the same evidence as the verdict.
 */
#ifndef STAGEPROF_ANALYZER_WHATIF_H
#define STAGEPROF_ANALYZER_WHATIF_H

#include "analyzer/evidence.h"

enum sp_what_if_id {
#define SP_WHAT_IF(id, title, missing) SP_WHAT_IF_##id,
#include "analyzer/whatif.def"
#undef SP_WHAT_IF
	SP_WHAT_IFS
};

#define SP_WORKERS_UNASKED UINT32_MAX

/* Of a steady step's mean: now, and between which bounds it would be. */
struct sp_what_if {
	bool is_known;
	double now_ns, low_ns, high_ns; /* low <= high */
	uint32_t workers;		/* SP_WHAT_IF_workers alone: how many */
};

/* workers: how many are asked for; SP_WORKERS_UNASKED: as many as would keep up. */
struct sp_what_if sp_what_if_make(const struct sp_evidence *evidence, enum sp_what_if_id id,
				  uint32_t workers);

/* Which of them gains most for certain: by its high bound. SP_WHAT_IFS: none gains 5 %. */
enum sp_what_if_id sp_what_if_best(const struct sp_evidence *evidence);

const char *sp_what_if_name(enum sp_what_if_id id);
const char *sp_what_if_missing(enum sp_what_if_id id);
/* "num_workers were 4" */
void sp_what_if_title(enum sp_what_if_id id, const struct sp_what_if *what_if, char *ret,
		      size_t ret_bytes);

#endif

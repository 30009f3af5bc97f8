/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Libraries of looks that did not ask for theirs. Chance chose the looks that did, so in a function
 * with some of them they stand for all looks that found a thread running there. A table without
 * functions divides the time of a phase in the same way: sp_asked_division_next().
 */
#ifndef STAGEPROF_ANALYZER_LIBRARY_SPREAD_H
#define STAGEPROF_ANALYZER_LIBRARY_SPREAD_H

#include <stdint.h>

#include "analyzer/samples/samples.h"

#define SP_LIBRARY_ASKED_MIN 10u /* looks that know their library, to stand for others */

/* A sum that is divided like the looks that asked. */
struct sp_asked_division {
	uint64_t whole;
	uint64_t asked; /* looks in all libraries; not 0 */
	uint64_t looks; /* in the libraries so far */
	uint64_t given;
};

/* The next library's part. Parts add up to the whole: each is what is due so far less `given`. */
uint64_t sp_asked_division_next(struct sp_asked_division *division, uint64_t looks);

/* The sums of samples with the time and the looks of each function divided by its libraries, where
 * SP_LIBRARY_ASKED_MIN looks of a phase asked. Returns 0 or -ENOMEM; the caller sets nothing
 * before, and frees `sums` in both cases. */
int sp_library_spread(struct sp_sample_table *ret, const struct sp_samples *samples);

#endif

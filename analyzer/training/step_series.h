/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of one trainer as columns: what ranks are compared by, in some ten bytes a step. A job
 * of ten thousand ranks fits in memory in this form.
 *
 * Blocks hold the steps whose numbers lie in the same SP_SERIES_STEPS, so steps of the same number
 * are in blocks of the same number in every rank. Durations keep four digits, instants whole
 * microseconds. The form is that of a digest, too; its bytes are those that any machine makes.
 *
 * A block is
 *	number		varint: the block's, minus that of the block before it minus 1
 *	steps		varint: how many, from 1 to SP_SERIES_STEPS
 *	first start	zigzag varint: µs, minus that of the block before
 *	bytes		for each column, varint
 *	columns		in the order of enum sp_series_column, each as sp_numbers_pack() packs
 */
#ifndef STAGEPROF_ANALYZER_STEP_SERIES_H
#define STAGEPROF_ANALYZER_STEP_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/steps/account.h"

struct sp_spill;

#define SP_SERIES_STEPS 128u

enum sp_series_column {
	SP_SERIES_NUMBER, /* in its block */
	SP_SERIES_START,  /* CLOCK_REALTIME ns of the host */
	SP_SERIES_WALL,
	SP_SERIES_STAY, /* in the last collective of the step; -1: it has none */
	SP_SERIES_LEFT, /* the end of that collective, CLOCK_REALTIME ns */
	SP_SERIES_KIND, /* enum sp_step_kind */
	SP_SERIES_EPOCH,
	SP_SERIES_PHASE,
	SP_SERIES_COLUMNS = SP_SERIES_PHASE + SP_ACCOUNT_PHASES
};

/* One step of them. */
struct sp_series_step {
	uint32_t number;
	int64_t of[SP_SERIES_COLUMNS]; /* but SP_SERIES_NUMBER */
};

struct sp_series_block {
	uint32_t number, steps; /* the block holds numbers from number * SP_SERIES_STEPS on */
	uint32_t at;		/* where it begins, in bytes */
	int64_t start_us;	/* of its first step */
};

struct sp_step_series {
	struct sp_spill *spill; /* borrowed: it keeps both lists; NULL: memory */
	uint8_t *bytes;
	uint32_t size, room;
	struct sp_series_block *blocks; /* in the order of numbers */
	uint32_t block_count, block_room;
	uint32_t steps;
};

/* Adds steps in the order of their numbers; those of one block at a time. */
struct sp_series_writer {
	struct sp_step_series *series;
	struct sp_series_step steps[SP_SERIES_STEPS];
	uint32_t count;
};

/* Returns 0 or -ENOMEM. Ignores a step whose number is not above the last one's. */
int sp_series_writer_take(struct sp_series_writer *writer, const struct sp_series_step *step);
int sp_series_writer_finish(struct sp_series_writer *writer);

/* From bytes of a digest. Returns 0, -ENOMEM, or -EBADMSG where they are no blocks. */
int sp_series_read(struct sp_step_series *series, const uint8_t *bytes, size_t n);

/* Gives the lists to a spill, after the last change of them. */
void sp_series_keep(struct sp_step_series *series, struct sp_spill *spill);

void sp_series_finish(struct sp_step_series *series);

/* One column of one block; ret has SP_SERIES_STEPS. Returns 0, or -EBADMSG. */
int sp_series_column(const struct sp_step_series *series, uint32_t block,
		     enum sp_series_column column, int64_t *ret);

/* A duration with the digits that a series keeps. */
int64_t sp_series_round(int64_t ns);

#endif

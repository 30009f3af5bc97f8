/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/view.h"

#include <errno.h>

enum { PID, TID, EPOCH, START, STEPS, WALL, TRAIN, VALID, VALID_WAIT, SAVE, WAIT, CELLS };

static const struct sp_column columns[CELLS] = {
	[PID] = {"pid", NULL, SP_CELL_ID},
	[TID] = {"tid", N_("thread"), SP_CELL_ID},
	[EPOCH] = {"epoch", N_("epoch"), SP_CELL_ID},
	[START] = {"start_ns", N_("at"), SP_CELL_AT_NS},
	[STEPS] = {"steps", N_("steps"), SP_CELL_COUNT},
	[WALL] = {"wall_ns", N_("total"), SP_CELL_NS},
	[TRAIN] = {"training_ns", N_("training"), SP_CELL_NS},
	[VALID] = {"validation_ns", N_("validation"), SP_CELL_NS},
	[VALID_WAIT] = {"validation_wait_ns", N_("validation wait"), SP_CELL_NS},
	[SAVE] = {"checkpoint_ns", N_("checkpoint"), SP_CELL_NS},
	[WAIT] = {"loader_wait_ns", N_("input wait"), SP_CELL_NS},
};

static const unsigned char importance[CELLS] = {
	[PID] = 4,   [TID] = 4,	  [EPOCH] = 4, [STEPS] = 3,	 [WALL] = 3,
	[TRAIN] = 2, [VALID] = 2, [WAIT] = 2,  [VALID_WAIT] = 1, [SAVE] = 1,
};

static struct sp_cell known(const struct sp_steps *s, enum sp_account_phase part, uint64_t ns)
{
	if (ns == 0 && s->sources[part] == SP_FROM_NOTHING)
		return sp_cell_null();
	return sp_cell_count(ns);
}

static int show_epoch(const struct sp_report *report, struct sp_out *out,
		      const struct sp_trainer *trainer, uint32_t i)
{
	const struct sp_stream *stream = report->run.index.streams[trainer->stream];
	const struct sp_steps *s = &trainer->steps;
	const struct sp_epoch *e = &s->epochs[i];
	struct sp_cell cells[CELLS] = {
		[PID] = sp_cell_count(report->run.index.images[stream->image].pid),
		[TID] = sp_cell_count(stream->tid),
		[EPOCH] = sp_cell_count(i),
		[START] = sp_cell_signed(e->start_ns - report->run.begin_ns),
		[STEPS] = sp_cell_count(e->steps),
		[WALL] = sp_cell_count((uint64_t)(e->end_ns - e->start_ns)),
		[TRAIN] = sp_cell_count(e->training_ns),
		[VALID] = known(s, SP_ACCOUNT_validation, e->validation_ns),
		[VALID_WAIT] =
			e->validation_ns ? sp_cell_count(e->validation_wait_ns) : sp_cell_null(),
		[SAVE] = known(s, SP_ACCOUNT_checkpoint, e->checkpoint_ns),
		[WAIT] = known(s, SP_ACCOUNT_loader_wait, e->wait_ns),
	};

	return sp_out_row(out, cells);
}

int sp_view_epochs(const struct sp_report *report, struct sp_out *out,
		   const struct sp_view_options *options)
{
	int64_t only = report->training.selection.epoch;
	uint32_t rows = 0;
	int r;

	if (options->sort)
		return -EINVAL;
	sp_run_json(report, out);
	out->importance = importance;
	r = sp_out_table(out, "epochs", NULL, columns, CELLS, true);
	for (uint32_t t = 0; t < report->training.count; t++) {
		const struct sp_trainer *trainer = &report->training.trainers[t];

		for (uint32_t i = 0; r == 0 && i < trainer->steps.epoch_count; i++)
			if ((only < 0 || only == i) && rows++ < options->limit)
				r = show_epoch(report, out, trainer, i);
	}
	sp_out_table_end(out);
	sp_view_more(out, rows > options->limit ? rows - options->limit : 0);
	if (rows == 0)
		sp_out_line(out, "no epochs: no optimizer step was seen");
	return r;
}

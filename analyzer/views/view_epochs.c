/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/view.h"
#include "analyzer/views/run_json.h"

#include <errno.h>

static struct sp_cell known(const struct sp_steps *s, enum sp_account_phase part, uint64_t ns)
{
	if (ns == 0 && s->sources[part] == SP_FROM_NOTHING)
		return sp_cell_null();
	return sp_cell_count(ns);
}

#define COLUMNS(X)                                                                                 \
	X("pid", NULL, ID, sp_cell_count(report->run.index.images[stream->image].pid))             \
	X("tid", N_("thread"), ID, sp_cell_count(stream->tid))                                     \
	X("epoch", N_("epoch"), ID, sp_cell_count(i))                                              \
	X("start_ns", N_("at"), AT_NS, sp_cell_signed(e->start_ns - report->run.begin_ns))         \
	X("steps", N_("steps"), COUNT, sp_cell_count(e->steps))                                    \
	X("wall_ns", N_("total"), NS, sp_cell_count((uint64_t)(e->end_ns - e->start_ns)))          \
	X("training_ns", N_("training"), NS, sp_cell_count(e->training_ns))                        \
	X("validation_ns", N_("validation"), NS,                                                   \
	  known(s, SP_ACCOUNT_validation, e->validation_ns))                                       \
	X("validation_wait_ns", N_("validation wait"), NS,                                         \
	  sp_cell_if(e->validation_ns, e->validation_wait_ns))                                     \
	X("checkpoint_ns", N_("checkpoint"), NS,                                                   \
	  known(s, SP_ACCOUNT_checkpoint, e->checkpoint_ns))                                       \
	X("loader_wait_ns", N_("input wait"), NS, known(s, SP_ACCOUNT_loader_wait, e->wait_ns))

static const struct sp_column columns[] = {COLUMNS(SP_COLUMN)};
static const unsigned char importance[] = {4, 4, 4, 0, 3, 3, 2, 2, 1, 1, 2};
_Static_assert(sizeof(importance) == sizeof(columns) / sizeof(columns[0]), "one for each column");

static int show_epoch(const struct sp_report *report, struct sp_out *out,
		      const struct sp_trainer *trainer, uint32_t i)
{
	const struct sp_stream *stream = report->run.index.streams[trainer->stream];
	const struct sp_steps *s = &trainer->steps;
	const struct sp_epoch *e = &s->epochs[i];
	const struct sp_cell cells[] = {COLUMNS(SP_CELL)};

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
	r = sp_out_table(out, "epochs", NULL, SP_COLUMNS_OF(columns), true);
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

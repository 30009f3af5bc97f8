/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/page/heat_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/ranks/rank_heat.h"
#include "analyzer/text/translate.h"
#include "analyzer/training/training.h"

/* A cell is a character: its place in this text, from the least value to the greatest. */
static const char levels[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
#define LEVELS (sizeof(levels) - 1)

static const struct sp_process_image *image_of(const struct sp_report *report, uint32_t rank)
{
	return sp_trainer_image(&report->training, report->ranks.list[rank].trainer);
}

static void put_number(struct sp_json *j, const char *key, uint64_t number)
{
	if (number) /* as in the header */
		sp_json_count(j, key, number - 1);
	else
		sp_json_null(j, key);
}

static void put_rank(struct sp_json *j, const char *key, const struct sp_report *report,
		     uint32_t rank)
{
	const struct sp_process_image *image = image_of(report, rank);
	const struct sp_host *host = &report->run.index.hosts[image->host];

	sp_json_open(j, key, '{');
	put_number(j, "rank", image->rank);
	put_number(j, "local_rank", image->local_rank);
	sp_json_string(j, "host", host->name, strnlen(host->name, sizeof(host->name)));
	sp_json_count(j, "pid", image->pid);
	if (sp_rank_is_judged(&report->ranks, &report->ranks.list[rank]))
		sp_json_bool(j, "straggler", report->ranks.list[rank].is_straggler);
	else
		sp_json_null(j, "straggler");
	sp_json_close(j, '}');
}

static void put_cells(struct sp_json *j, const struct sp_rank_heat *heat,
		      const struct sp_heat_measure *measure, int order)
{
	size_t n = (size_t)heat->row_count * heat->column_count;
	float span = measure->high - measure->low;
	char text[SP_HEAT_COLUMNS];

	sp_json_open(j, NULL, '[');
	for (size_t at = 0; at < n; at += heat->column_count) {
		for (uint32_t c = 0; c < heat->column_count; c++) {
			float x = measure->cells[order][at + c] - measure->low;
			unsigned level = span > 0 ? (unsigned)(x / span * (LEVELS - 1) + 0.5f) : 0;

			text[c] = levels[level < LEVELS ? level : LEVELS - 1];
		}
		sp_json_string(j, NULL, text, heat->column_count);
	}
	sp_json_close(j, ']');
}

static const char *title_of(int what)
{
	if (what == SP_HEAT_LATENESS)
		return _("later than the others");
	return what == SP_HEAT_STEP
		       ? _("whole step")
		       : sp_account_title((enum sp_account_phase)(what - SP_HEAT_PHASE));
}

static void put_measures(struct sp_json *j, const struct sp_rank_heat *heat)
{
	sp_json_open(j, "measures", '[');
	for (uint32_t i = 0; i < heat->measure_count; i++) {
		const struct sp_heat_measure *measure = &heat->measures[i];
		const char *name = measure->what == SP_HEAT_LATENESS ? "lateness"
				   : measure->what == SP_HEAT_STEP
					   ? "wall"
					   : sp_account_name((enum sp_account_phase)(
						     measure->what - SP_HEAT_PHASE));

		sp_json_open(j, NULL, '{');
		sp_json_string(j, "name", name, strlen(name));
		sp_json_string(j, "title", title_of(measure->what),
			       strlen(title_of(measure->what)));
		sp_json_signed(j, "low_ns", (int64_t)measure->low);
		sp_json_signed(j, "high_ns", (int64_t)measure->high);
		sp_json_open(j, "cells", '[');
		for (int order = 0; order < SP_HEAT_ORDERS; order++)
			put_cells(j, heat, measure, order);
		sp_json_close(j, ']');
		sp_json_close(j, '}');
	}
	sp_json_close(j, ']');
}

static void put_rows(struct sp_json *j, const struct sp_report *report,
		     const struct sp_rank_heat *heat)
{
	sp_json_open(j, "rows", '[');
	for (int order = 0; order < SP_HEAT_ORDERS; order++) {
		sp_json_open(j, NULL, '[');
		for (uint32_t r = 0; r < heat->row_count; r++) {
			const struct sp_heat_row *row = &heat->rows[order][r];

			sp_json_open(j, NULL, '{');
			sp_json_count(j, "ranks", row->ranks);
			put_rank(j, "first", report, row->first);
			put_rank(j, "latest", report, row->latest);
			sp_json_close(j, '}');
		}
		sp_json_close(j, ']');
	}
	sp_json_close(j, ']');
}

static void put_heat(struct sp_json *j, const struct sp_report *report,
		     const struct sp_rank_heat *heat)
{
	const struct sp_ranks *ranks = &report->ranks;

	sp_json_open(j, NULL, '{');
	sp_json_count(j, "ranks", ranks->compared);
	sp_json_string(j, "levels", levels, LEVELS);
	sp_json_open(j, "columns", '[');
	for (uint32_t c = 0; c < heat->column_count; c++) {
		sp_json_open(j, NULL, '{');
		sp_json_count(j, "first_step", ranks->steps[heat->from[c]]);
		sp_json_count(j, "last_step", ranks->steps[heat->from[c + 1] - 1]);
		sp_json_close(j, '}');
	}
	sp_json_close(j, ']');
	put_rows(j, report, heat);
	put_measures(j, heat);
	sp_json_close(j, '}');
}

int sp_heat_json(const struct sp_report *report, struct sp_json *j)
{
	struct sp_rank_heat *heat = malloc(sizeof(*heat));
	int r = heat ? sp_rank_heat_make(heat, &report->ranks, &report->training) : -ENOMEM;

	if (r == 0)
		put_heat(j, report, heat);
	if (heat)
		sp_rank_heat_finish(heat);
	free(heat);
	return r;
}

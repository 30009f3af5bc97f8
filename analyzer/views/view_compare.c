/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/each.h"
#include "analyzer/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/training/step_stats.h"
#include "analyzer/text/text.h"
#include "analyzer/training/training_account.h"
#include "analyzer/verdict/advice_line.h"
#include "analyzer/verdict/judge.h"
#include "analyzer/verdict/saving.h"
#include "analyzer/verdict/step_change.h"
#include "analyzer/verdict/verdict_text.h"

#define NAME_BYTES 1024u
#define CHANGE_BYTES 48u
#define BRIEF_BYTES 96u

/* The result of comparing a run with the first run. */
enum outcome {
	FIRST,
	SAME,
	SLOWER,
	FASTER,
	TOO_FEW_STEPS, /* this run or the first has too few steps */
};

struct run {
	const struct sp_report *report;
	const char *name;
	struct sp_step_stats all, steady;
	struct sp_verdict *verdict;	    /* owned */
	const struct sp_sampled_line *line; /* of the first advice that names one; or NULL */
	struct sp_account account;	    /* of all steps and the time between them */
	struct sp_step_mean mean;
	struct sp_ratio
		ratio; /* of the means to the first run's; not for FIRST and TOO_FEW_STEPS */
	enum outcome outcome;
	bool of_steady; /* ratio: of steady steps; else of all. The first: as for any other */
};

struct comparison {
	struct run runs[SP_RUNS_MAX];
	uint32_t count;
};

static const struct outcome_words {
	const char *code, *title; /* the contract of JSON and CSV; for people */
} outcomes[] = {
	[FIRST] = {"baseline", N_("baseline")},
	[SAME] = {"same", N_("no difference")},
	[SLOWER] = {"slower", N_("slower")},
	[FASTER] = {"faster", N_("faster")},
	[TOO_FEW_STEPS] = {"too-few-steps", N_("too few steps")},
};

static int judge(struct run *run, const struct run *first)
{
	static const enum outcome of[] = {
		[SP_CHANGE_SAME] = SAME,
		[SP_CHANGE_SLOWER] = SLOWER,
		[SP_CHANGE_FASTER] = FASTER,
		[SP_CHANGE_UNKNOWN] = TOO_FEW_STEPS,
	};
	struct sp_step_change change;
	int r = sp_step_change_find(first->report, run->report, &change);

	run->ratio = change.ratio;
	run->of_steady = change.of_steady;
	run->outcome = of[change.change];
	return r;
}

static const struct sp_sampled_line *first_line(const struct sp_verdict *v)
{
	enum sp_advice_id order[SP_ADVICES];
	const struct sp_sampled_line *ret = NULL;

	sp_advice_by_saving(v, order);
	for (uint32_t i = 0; i < v->advice_count && !ret; i++)
		ret = sp_advice_line(v, order[i]);
	return ret;
}

static int gather_run(struct run *run, const struct sp_report *report, const char *name)
{
	int r = sp_step_stats(&report->training, SP_STEP_WALL, SP_STEP_KINDS_ALL, &run->all);

	run->report = report;
	run->name = name;
	run->mean = sp_step_mean(&report->training);
	run->account = sp_training_account(&report->training);
	run->verdict = calloc(1, sizeof(*run->verdict));
	if (r == 0)
		r = run->verdict ? sp_verdict_make(run->verdict, report, &report->wait_thresholds)
				 : -ENOMEM;
	if (r == 0) {
		run->line = first_line(run->verdict);
		r = sp_step_stats(&report->training, SP_STEP_WALL, 1u << SP_STEP_STEADY,
				  &run->steady);
	}
	return r;
}

static int gather(struct comparison *c, const struct sp_view_options *options)
{
	int r = 0;

	*c = (struct comparison){.count = options->run_count};
	for (uint32_t i = 0; r == 0 && i < c->count; i++)
		r = gather_run(&c->runs[i], &options->runs[i], options->run_names[i]);
	for (uint32_t i = 1; r == 0 && i < c->count; i++)
		r = judge(&c->runs[i], &c->runs[0]);
	for (uint32_t i = 1; r == 0 && i < c->count; i++)
		c->runs[0].of_steady |= c->runs[i].of_steady;
	return r;
}

static const struct sp_step_stats *compared(const struct run *run)
{
	return run->of_steady ? &run->steady : &run->all;
}

enum {
	NUMBER,
	NAME,
	STEPS,
	STEADY,
	STEP,
	COMPARED,
	MEDIAN,
	P50,
	P95,
	SPEED,
	RANGE,
	RATIO,
	LOW,
	HIGH,
	SPEEDUP,
	SPEEDUP_LOW,
	SPEEDUP_HIGH,
	OF,
	RESULT,
	OUTCOME,
	VERDICT,
	REASON,
	BRIEF,
	LINE,
	LINE_SHARE,
	CELLS
};

static const struct sp_column columns[CELLS] = {
	[NUMBER] = {"run", N_("run"), SP_CELL_ID},
	[NAME] = {"path", N_("path"), SP_CELL_TEXT},
	[STEPS] = {"steps", N_("steps"), SP_CELL_COUNT},
	[STEADY] = {"steady_steps", NULL, SP_CELL_COUNT},
	[STEP] = {"step_mean_ns", NULL, SP_CELL_NS},
	[COMPARED] = {"compared_wall_ns_mean", N_("a step"), SP_CELL_NS},
	[MEDIAN] = {"compared_wall_ns_p50", NULL, SP_CELL_NS},
	[P50] = {"wall_ns_p50", NULL, SP_CELL_NS},
	[P95] = {"wall_ns_p95", N_("p95 of all"), SP_CELL_NS},
	[SPEED] = {NULL, N_("speed-up"), SP_CELL_WORD},
	[RANGE] = {NULL, N_("95% interval"), SP_CELL_WORD},
	[RATIO] = {"ratio", NULL, SP_CELL_SHARE},
	[LOW] = {"ratio_low", NULL, SP_CELL_SHARE},
	[HIGH] = {"ratio_high", NULL, SP_CELL_SHARE},
	[SPEEDUP] = {"speedup", NULL, SP_CELL_SHARE},
	[SPEEDUP_LOW] = {"speedup_low", NULL, SP_CELL_SHARE},
	[SPEEDUP_HIGH] = {"speedup_high", NULL, SP_CELL_SHARE},
	[OF] = {"ratio_of", NULL, SP_CELL_TEXT},
	[RESULT] = {"result", NULL, SP_CELL_TEXT},
	[OUTCOME] = {NULL, N_("steps are"), SP_CELL_WORD},
	[VERDICT] = {"verdict", NULL, SP_CELL_TEXT},
	[REASON] = {"verdict_reason", NULL, SP_CELL_TEXT},
	[BRIEF] = {NULL, N_("verdict"), SP_CELL_WORD},
	[LINE] = {"line", NULL, SP_CELL_TEXT},
	[LINE_SHARE] = {"line_share", NULL, SP_CELL_SHARE},
};

static const unsigned char importance[CELLS] = {
	[NUMBER] = 4, [STEPS] = 1,   [COMPARED] = 3, [SPEED] = 4,
	[RANGE] = 2,  [OUTCOME] = 3, [BRIEF] = 1,
};

static bool has_few_steps(const struct run *run)
{
	return run->all.count < SP_COMPARED_STEPS_MIN;
}

static const char *outcome_text(const struct run *run)
{
	if (run->outcome == FIRST && has_few_steps(run))
		return _("baseline, too few steps");
	return _(outcomes[run->outcome].title);
}

static int show_run(const struct run *run, uint32_t number, struct sp_out *out)
{
	bool has_ratio = run->outcome != FIRST && run->outcome != TOO_FEW_STEPS;
	bool has_steps = run->all.count != 0;
	const struct sp_step_stats *steps = compared(run);
	char speed[CHANGE_BYTES], range[CHANGE_BYTES], brief[BRIEF_BYTES];
	struct sp_cell cells[CELLS] = {
		[NUMBER] = sp_cell_count(number),
		[NAME] = sp_cell_text(run->name),
		[STEPS] = sp_cell_count(run->all.count),
		[STEADY] = sp_cell_count(run->steady.count),
		[STEP] = has_steps ? sp_cell_count(sp_step_mean_ns(&run->mean)) : sp_cell_null(),
		[COMPARED] = steps->count ? sp_cell_count(steps->total_ns / steps->count)
					  : sp_cell_null(),
		[MEDIAN] = steps->count ? sp_cell_count(steps->p50_ns) : sp_cell_null(),
		[P50] = has_steps ? sp_cell_count(run->all.p50_ns) : sp_cell_null(),
		[P95] = has_steps ? sp_cell_count(run->all.p95_ns) : sp_cell_null(),
		[RESULT] = sp_cell_text(outcomes[run->outcome].code),
		[OUTCOME] = sp_cell_text(outcome_text(run)),
		[VERDICT] = sp_cell_text(sp_rule_of(run->verdict->id)->code),
		[REASON] = sp_cell_text(sp_rule_of(run->verdict->id)->reason),
		[LINE] = run->line ? sp_cell_text(run->line->place) : sp_cell_null(),
		[LINE_SHARE] = run->line ? sp_cell_share(run->line->share) : sp_cell_null(),
	};

	sp_verdict_brief(run->verdict, brief, sizeof(brief));
	cells[BRIEF] = sp_cell_text(brief);
	for (int i = SPEED; i <= OF; i++)
		cells[i] = sp_cell_null();
	if (has_ratio) {
		snprintf(speed, sizeof(speed), "%.3f", 1 / run->ratio.value);
		snprintf(range, sizeof(range), _("%.3f to %.3f"), 1 / run->ratio.high,
			 1 / run->ratio.low);
		cells[SPEED] = sp_cell_text(speed);
		cells[RANGE] = sp_cell_text(range);
		cells[RATIO] = sp_cell_share(run->ratio.value);
		cells[LOW] = sp_cell_share(run->ratio.low);
		cells[HIGH] = sp_cell_share(run->ratio.high);
		cells[SPEEDUP] = sp_cell_share(1 / run->ratio.value);
		cells[SPEEDUP_LOW] = sp_cell_share(1 / run->ratio.high);
		cells[SPEEDUP_HIGH] = sp_cell_share(1 / run->ratio.low);
		cells[OF] = sp_cell_text(run->of_steady ? "steady" : "all");
	}
	return sp_out_row(out, cells);
}

static int show_runs(const struct comparison *c, struct sp_out *out)
{
	int r;

	out->importance = importance;
	r = sp_out_table(out, "runs", NULL, columns, CELLS, true);
	for (uint32_t i = 0; r == 0 && i < c->count; i++)
		r = show_run(&c->runs[i], i + 1, out);
	if (r == 0)
		sp_out_table_end(out);
	return r;
}

/* A table with a column for each run, followed, except for the first, by its change to the first
 * run. */
struct side_by_side {
	struct sp_column columns[1 + 2 * SP_RUNS_MAX];
	char titles[SP_RUNS_MAX][32];
	char changes[SP_RUNS_MAX][CHANGE_BYTES];
	struct sp_cell cells[1 + 2 * SP_RUNS_MAX];
	size_t width;
};

static void side_init(struct side_by_side *s, const char *title, uint32_t runs)
{
	*s = (struct side_by_side){.width = 1};
	s->columns[0] = (struct sp_column){NULL, title, SP_CELL_TEXT};
	for (uint32_t i = 0; i < runs; i++) {
		snprintf(s->titles[i], sizeof(s->titles[i]), _("run %u"), i + 1);
		s->columns[s->width++] = (struct sp_column){NULL, s->titles[i], SP_CELL_NS};
		if (i)
			s->columns[s->width++] =
				(struct sp_column){NULL, N_("change"), SP_CELL_TEXT};
	}
}

static void signed_ns_text(char ret[CHANGE_BYTES], uint64_t ns, uint64_t first_ns)
{
	char text[SP_NUMBER_BYTES];

	snprintf(ret, CHANGE_BYTES, "%c%s", ns < first_ns ? '-' : '+',
		 sp_text_ns(text, ns < first_ns ? first_ns - ns : ns - first_ns));
}

/* ns: one a run; UINT64_MAX where the run has no such time. */
static int side_row(struct side_by_side *s, struct sp_out *out, const char *title,
		    const uint64_t *ns, uint32_t runs)
{
	size_t at = 0;

	s->cells[at++] = sp_cell_text(title);
	for (uint32_t i = 0; i < runs; i++) {
		bool differs = i && ns[i] != UINT64_MAX && ns[0] != UINT64_MAX;

		s->cells[at++] = ns[i] == UINT64_MAX ? sp_cell_null() : sp_cell_count(ns[i]);
		if (differs)
			signed_ns_text(s->changes[i], ns[i], ns[0]);
		if (i)
			s->cells[at++] = differs ? sp_cell_text(s->changes[i]) : sp_cell_null();
	}
	return sp_out_row(out, s->cells);
}

/* Formats for machines get one object a row, with a list of the runs' values. */
static void side_json(struct sp_out *out, const char *key, const char *name, const char *value,
		      const uint64_t *ns, uint32_t runs)
{
	struct sp_json *j = &out->json;

	sp_json_open(j, NULL, '{');
	sp_json_string(j, key, name, strlen(name));
	sp_json_open(j, value, '[');
	for (uint32_t i = 0; i < runs; i++) {
		if (ns[i] == UINT64_MAX)
			sp_json_null(j, NULL);
		else
			sp_json_count(j, NULL, ns[i]);
	}
	sp_json_close(j, ']');
	sp_json_close(j, '}');
}

static uint64_t phase_ns(const struct run *run, enum sp_account_phase part)
{
	if (run->all.count == 0 ||
	    sp_training_source(&run->report->training, part) == SP_FROM_NOTHING)
		return UINT64_MAX;
	return run->account.ns[part] / run->all.count;
}

static bool part_values(const struct comparison *c, enum sp_account_phase part, uint64_t *ns)
{
	bool has_any = false;

	for (uint32_t i = 0; i < c->count; i++) {
		ns[i] = phase_ns(&c->runs[i], part);
		has_any |= ns[i] != UINT64_MAX;
	}
	return has_any;
}

static bool has_phases(const struct comparison *c)
{
	return SP_ANY(i, c->count, c->runs[i].all.count);
}

static int show_account(const struct comparison *c, struct sp_out *out)
{
	struct side_by_side side;
	int r;

	if (sp_out_is_read(out) && !has_phases(c))
		return 0;
	side_init(&side, N_("training / steps"), c->count);
	r = sp_out_table(out, "account", NULL, side.columns, side.width, false);
	for (int part = 0; r == 0 && part < SP_ACCOUNT_PHASES; part++) {
		uint64_t ns[SP_RUNS_MAX];

		if (!part_values(c, (enum sp_account_phase)part, ns))
			continue;
		if (out->format == SP_FORMAT_JSON)
			side_json(out, "part", sp_account_name((enum sp_account_phase)part),
				  "per_step_ns", ns, c->count);
		else
			r = side_row(&side, out, sp_account_title((enum sp_account_phase)part), ns,
				     c->count);
	}
	if (r < 0)
		return r;
	sp_out_table_end(out);
	sp_out_wrapped(out, "training / steps: ",
		       _("all time of a phase, first steps, validation and the time between steps "
			 "included, by the number of steps"));
	sp_out_line(out, "%s", "");
	return 0;
}

/* The time in the run that spends most on it. */
static uint64_t stage_most(const void *context, uint32_t stage)
{
	const struct comparison *c = context;
	uint64_t most = 0;

	for (uint32_t i = 0; i < c->count; i++) {
		uint64_t ns = c->runs[i].report->totals.stages[stage].total_ns;

		most = ns > most ? ns : most;
	}
	return most;
}

static bool stage_values(const struct comparison *c, uint32_t stage, uint64_t *ns)
{
	bool has_any = false;

	for (uint32_t i = 0; i < c->count; i++) {
		const struct sp_sums *sums = &c->runs[i].report->totals.stages[stage];

		ns[i] = sums->calls ? sums->total_ns : UINT64_MAX;
		has_any |= sums->calls != 0;
	}
	return has_any;
}

static int show_stages(const struct comparison *c, struct sp_out *out, uint32_t limit)
{
	uint32_t *order = sp_order_by(SP_STAGES, stage_most, c);
	struct side_by_side side;
	uint32_t shown = 0;
	int r = order ? 0 : -ENOMEM;

	side_init(&side, N_("all threads"), c->count);
	if (r == 0)
		r = sp_out_table(out, "stages", NULL, side.columns, side.width, false);
	for (uint32_t i = 0; r == 0 && i < SP_STAGES && shown < limit; i++) {
		enum sp_stage stage = (enum sp_stage)order[i];
		uint64_t ns[SP_RUNS_MAX];

		if (!stage_values(c, order[i], ns))
			continue;
		shown++;
		if (out->format == SP_FORMAT_JSON)
			side_json(out, "stage", sp_stage_name(stage), "total_ns", ns, c->count);
		else
			r = side_row(&side, out, sp_stage_title(stage), ns, c->count);
	}
	if (r == 0)
		sp_out_table_end(out);
	free(order);
	return r;
}

/* The program of the first trainer, else of the first process. */
static const char *program_of(const struct sp_report *report)
{
	uint32_t image = 0;

	if (report->training.count)
		image = report->run.index.streams[report->training.trainers[0].stream]->image;
	return report->run.index.image_count ? report->run.index.images[image].exe : "";
}

enum { NOTE_BYTES = 256 };

/* Reasons why the runs may differ too much to compare; "" after the last one. */
static void note_of(const struct comparison *c, uint32_t i, int which, char ret[NOTE_BYTES])
{
	const struct run *run = &c->runs[i], *first = &c->runs[0];
	uint32_t threads = run->report->training.count, before = first->report->training.count;
	char a[96], b[96];

	ret[0] = '\0';
	sp_text_escape(a, sizeof(a), program_of(run->report), strlen(program_of(run->report)));
	sp_text_escape(b, sizeof(b), program_of(first->report), strlen(program_of(first->report)));
	if (which == 0 && run->all.count == 0)
		snprintf(ret, NOTE_BYTES, _("run %u has no steps: no optimizer step was seen"),
			 i + 1);
	else if (which == 1 && threads && before && threads != before)
		snprintf(ret, NOTE_BYTES,
			 sp_translate_plural("run %u trains in %u thread, run 1 in %u",
					     "run %u trains in %u threads, run 1 in %u", threads),
			 i + 1, threads, before);
	else if (which == 2 && strcmp(a, b) != 0)
		snprintf(ret, NOTE_BYTES, _("run %u was made by %s, run 1 by %s"), i + 1, a, b);
	else if (which == 3 && run->all.count && has_few_steps(run))
		snprintf(ret, NOTE_BYTES,
			 sp_translate_plural("run %u has %u step: a comparison needs %u of each "
					     "run",
					     "run %u has %u steps: a comparison needs %u of each "
					     "run",
					     run->all.count),
			 i + 1, (unsigned)run->all.count, SP_COMPARED_STEPS_MIN);
	else if (which == 4 && run->report->totals.lost)
		snprintf(ret, NOTE_BYTES, _("run %u lost events: its totals are too small"), i + 1);
}

enum { NOTES = 5 };

static void show_notes(const struct comparison *c, struct sp_out *out)
{
	bool is_json = out->format == SP_FORMAT_JSON;

	if (is_json)
		sp_json_open(&out->json, "notes", '[');
	for (uint32_t i = 0; i < c->count; i++)
		for (int which = 0; which < NOTES; which++) {
			char note[NOTE_BYTES];

			note_of(c, i, which, note);
			if (note[0] && is_json)
				sp_json_string(&out->json, NULL, note, strlen(note));
			else if (note[0])
				sp_out_line(out, "note: %s", note);
		}
	if (is_json)
		sp_json_close(&out->json, ']');
}

/* The low end of the interval decides, so that chance does not fail a build. */
static int judge_limit(const struct comparison *c, double limit)
{
	int status = 0;

	for (uint32_t i = 1; limit >= 0 && i < c->count; i++) {
		const struct run *run = &c->runs[i];

		if (run->outcome == TOO_FEW_STEPS && status == 0)
			status = SP_EXIT_FAILED;
		else if (run->outcome == SLOWER && run->ratio.low > 1 + limit)
			status = SP_EXIT_SLOWER;
	}
	return status;
}

static void show_limit(const struct comparison *c, struct sp_out *out, double limit)
{
	int status = judge_limit(c, limit);

	if (limit < 0)
		return;
	if (out->format == SP_FORMAT_JSON)
		sp_json_bool(&out->json, "is_slower", status == SP_EXIT_SLOWER);
	else if (status == SP_EXIT_SLOWER)
		sp_out_line(out, "slower by more than %g%%", 100 * limit);
	else if (status == 0)
		sp_out_line(out, "not slower by more than %g%%, or not beyond chance", 100 * limit);
}

static void show_meaning(const struct comparison *c, struct sp_out *out)
{
	sp_out_wrapped(out, "",
		       c->runs[0].of_steady ? _("a step: the mean of the steady steps; speed-up: "
						"that of run 1 "
						"divided by the run's; no difference: the interval "
						"contains 1")
					    : _("a step: the mean of all steps; speed-up: that of "
						"run 1 divided "
						"by the run's; no difference: the interval "
						"contains 1"));
	sp_out_line(out, "%s", "");
}

static void show_lines(const struct comparison *c, struct sp_out *out)
{
	bool has_any = false;

	for (uint32_t i = 0; i < c->count; i++) {
		char head[32], text[SP_LINE_TEXT_BYTES];

		if (!c->runs[i].line)
			continue;
		has_any = true;
		snprintf(head, sizeof(head), _("run %u"), i + 1);
		strcat(head, "  ");
		sp_sampled_line_text(c->runs[i].line, true, text);
		sp_out_wrapped(out, head, text);
	}
	if (has_any)
		sp_out_line(out, "%s", "");
}

static int show_all(const struct comparison *c, struct sp_out *out,
		    const struct sp_view_options *options)
{
	int r = show_runs(c, out);

	if (r == 0) {
		show_meaning(c, out);
		show_lines(c, out);
		r = show_account(c, out);
	}
	if (r == 0)
		r = show_stages(c, out, options->limit);
	if (r < 0)
		return r;
	show_notes(c, out);
	show_limit(c, out, options->slower_limit);
	return judge_limit(c, options->slower_limit);
}

int sp_view_compare(const struct sp_report *report, struct sp_out *out,
		    const struct sp_view_options *options)
{
	struct comparison c = {.count = 0};
	int r = options->sort ? -EINVAL : gather(&c, options);

	(void)report;
	if (r == 0)
		r = show_all(&c, out, options);
	for (uint32_t i = 0; i < c.count; i++)
		free(c.runs[i].verdict);
	return r;
}

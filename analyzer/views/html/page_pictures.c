/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/html/page_pictures.h"

#include <string.h>

#include "analyzer/base/intervals.h"
#include "analyzer/page/drawing.h"
#include "analyzer/page/flame_json.h"
#include "analyzer/page/heat_json.h"
#include "analyzer/page/timeline_json.h"
#include "analyzer/text/translate.h"
#include "analyzer/training/step_stats.h"
#include "analyzer/views/html/page_fit.h"

#define PAUSES_MAX 500u
#define PHASES_MAX 5000u /* segments of a training thread; of more, those of the window */

/* The element for the script's drawing, and the content without a script. */
static void put_picture_begin(FILE *f, const char *id)
{
	fprintf(f, "<div class=\"live\" id=\"%s\" hidden></div>\n<div class=\"still\">\n", id);
}

static uint64_t slow_ns(const struct sp_report *report)
{
	struct sp_step_stats stats;

	if (sp_step_stats(&report->training, SP_STEP_WALL, SP_STEP_KINDS_ALL, &stats) < 0)
		return UINT64_MAX;
	return SP_STEP_SLOW_FACTOR * stats.p50_ns;
}

int sp_page_steps_put(FILE *f, const struct sp_report *report)
{
	uint64_t steps = 0;
	int r;

	for (uint32_t t = 0; t < report->training.count; t++)
		steps += report->training.trainers[t].steps.count;
	if (steps == 0)
		return 0;
	put_picture_begin(f, "steps-chart");
	r = sp_draw_steps(f, report, slow_ns(report));
	fputs("</div>\n", f);
	if (steps > SP_PAGE_STEPS_MAX) {
		fputs("<p class=\"left-out\">", f);
		fprintf(f,
			_("%llu steps, of which this page has at most %u: the shortest and the "
			  "longest of each stretch of the run. Left out are only steps between "
			  "those two."),
			(unsigned long long)steps, SP_PAGE_STEPS_MAX);
		fputs("</p>\n", f);
	}
	return r;
}

/* A picture that the page's script draws from `data-NAME`. */
static int put_live(FILE *f, const struct sp_report *report, const char *name,
		    int (*write)(const struct sp_report *report, struct sp_json *j))
{
	struct sp_json j = {.file = f};
	int r;

	fprintf(f,
		"<div class=\"live\" id=\"%s-chart\" hidden></div>\n"
		"<script type=\"application/json\" id=\"data-%s\">",
		name, name);
	r = write(report, &j);
	fputs("</script>\n", f);
	return r;
}

int sp_page_flame_put(FILE *f, const struct sp_report *report)
{
	return put_live(f, report, "flame", sp_flame_json);
}

int sp_page_heat_put(FILE *f, const struct sp_report *report)
{
	return put_live(f, report, "heat", sp_heat_json);
}

static void put_pause(struct sp_json *j, const struct sp_report *report,
		      const struct sp_pause_part *part)
{
	sp_json_open(j, NULL, '{');
	sp_json_signed(j, "start_ns", part->start_ns - report->run.begin_ns);
	sp_json_signed(j, "end_ns", part->end_ns - report->run.begin_ns);
	sp_json_bool(j, "is_validation", part->is_validation);
	sp_json_close(j, '}');
}

static void put_pauses(struct sp_json *j, const struct sp_report *report,
		       const struct sp_steps *steps)
{
	struct sp_pause_part part;

	sp_json_open(j, "pauses", '[');
	for (uint32_t i = 0; i < steps->pause_count && i < PAUSES_MAX; i++)
		for (int64_t at = steps->pauses[i].start_ns;
		     sp_pause_next(steps, &steps->pauses[i], at, &part); at = part.end_ns)
			put_pause(j, report, &part);
	sp_json_close(j, ']');
}

static bool begins_step(const struct sp_steps *steps, int64_t at_ns)
{
	uint32_t after = SP_UPPER_BOUND(steps->steps, steps->count, start_ns, at_ns);

	return after && steps->steps[after - 1].start_ns == at_ns;
}

/* [start_ns, ns, part] of the thread's timeline, one after the other, none of them in two steps;
 * SP_NO_PHASE has none. */
static void put_phases(struct sp_json *j, const struct sp_report *report,
		       const struct sp_steps *steps)
{
	const struct sp_thread_timeline *timeline = &steps->timeline;
	bool is_whole = timeline->count <= PHASES_MAX;
	int64_t from_ns = is_whole ? 0 : report->timeline.from_ns;
	int64_t to_ns = is_whole ? INT64_MAX : report->timeline.to_ns;

	sp_json_open(j, "phases", '[');
	for (uint32_t i = 0, put = 0; i + 1 < timeline->count && put < PHASES_MAX; i++) {
		const struct sp_phase_segment *s = &timeline->list[i];
		int64_t start_ns = s->start_ns;

		if (start_ns >= to_ns)
			break;
		if (s->phase == SP_NO_PHASE || start_ns < from_ns)
			continue;
		while (i + 2 < timeline->count && s[1].phase == s->phase && s[1].start_ns < to_ns &&
		       !begins_step(steps, s[1].start_ns)) {
			s++;
			i++;
		}
		sp_json_open(j, NULL, '[');
		sp_json_signed(j, NULL, start_ns - report->run.begin_ns);
		sp_json_signed(j, NULL, s[1].start_ns - start_ns);
		sp_json_count(j, NULL, s->phase);
		sp_json_close(j, ']');
		put++;
	}
	sp_json_close(j, ']');
}

void sp_page_training_put(FILE *f, const struct sp_report *report)
{
	struct sp_json j = {.file = f};

	fputs("<script type=\"application/json\" id=\"data-training\">", f);
	sp_json_open(&j, NULL, '{');
	sp_json_count(&j, "slow_ns", slow_ns(report));
	sp_json_open(&j, "parts", '[');
	for (int part = 0; part < SP_ACCOUNT_PHASES; part++) {
		const char *name = sp_account_name((enum sp_account_phase)part);
		const char *title = sp_account_title((enum sp_account_phase)part);

		sp_json_open(&j, NULL, '{');
		sp_json_string(&j, "part", name, strlen(name));
		sp_json_string(&j, "title", title, strlen(title));
		sp_json_close(&j, '}');
	}
	sp_json_close(&j, ']');
	sp_json_open(&j, "trainers", '[');
	for (uint32_t t = 0; t < report->training.count && t < SP_TIMELINE_LANES_MAX; t++) {
		const struct sp_trainer *trainer = &report->training.trainers[t];
		const struct sp_stream *stream = report->run.index.streams[trainer->stream];

		sp_json_open(&j, NULL, '{');
		sp_json_count(&j, "pid", report->run.index.images[stream->image].pid);
		sp_json_count(&j, "tid", stream->tid);
		sp_json_count(&j, "steps", trainer->steps.count);
		put_pauses(&j, report, &trainer->steps);
		put_phases(&j, report, &trainer->steps);
		sp_json_close(&j, '}');
	}
	sp_json_close(&j, ']');
	sp_json_close(&j, '}');
	fputs("</script>\n", f);
}

void sp_page_timeline_put(FILE *f, const struct sp_report *report)
{
	struct sp_json j = {.file = f};

	if (sp_index_has_digested(&report->run.index)) {
		sp_page_section_begin(f, "timeline", _("Timeline"),
				      _("A timeline needs events, and a digest has none."));
		fputs("</section>\n", f);
		return;
	}
	sp_page_section_begin(f, "timeline", _("Timeline"),
			      _("The training thread, the workers that make its batches, and the "
				"busiest other threads."));
	fprintf(f,
		"<div class=\"live\" id=\"lanes-chart\" hidden></div>\n"
		"<noscript><p class=\"line\">%s</p></noscript>\n"
		"<script type=\"application/json\" id=\"data-timeline\">",
		_("This page's script draws the timeline. Without scripts: stageprof-report "
		  "dump."));
	sp_timeline_json(&report->timeline, report, &j);
	fputs("</script></section>\n", f);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/sections/own_cost.h"

#include "analyzer/report/report.h"
#include "analyzer/text/text.h"

/* Only a checksum protects the header, so its values may be any numbers. */
#define EVENT_PS_MAX UINT64_C(1000000000)
#define OUTSIDE_NS_MAX UINT64_C(60000000000) /* on files, before and after the threads' lives */

/* The recorder reports blocks for a whole process. */
static bool is_whole(const struct sp_run *run)
{
	return !run->selection.tid && !sp_run_is_cut(run);
}

static uint64_t events_ns(uint64_t events, uint64_t event_ps)
{
	return (uint64_t)((unsigned __int128)events * event_ps / 1000);
}

static void add_image(const struct sp_report *report, uint32_t i, struct sp_own_cost *cost)
{
	const struct sp_process_image *image = &report->run.index.images[i];
	uint64_t most_ns = cost->thread_ns + OUTSIDE_NS_MAX;

	cost->unpriced += image->event_ps == 0 || image->event_ps > EVENT_PS_MAX;
	if (!image->own_ns || !is_whole(&report->run) ||
	    (image->own_ns > image->stall_ns ? image->own_ns : image->stall_ns) > most_ns)
		return;
	cost->has_blocks = true;
	cost->block_ns += image->own_ns;
	if (image->stall_ns > cost->stall_ns)
		cost->stall_ns = image->stall_ns;
}

struct sp_own_cost sp_own_cost_of(const struct sp_report *report)
{
	struct sp_own_cost cost = {.thread_ns = report->totals.thread_ns};
	uint32_t last = UINT32_MAX;

	for (uint32_t i = 0; i < report->run.index.stream_count; i++) {
		uint32_t image = report->run.index.streams[i]->image;
		uint64_t event_ps = report->run.index.images[image].event_ps;

		if (!sp_run_selects(&report->run, i))
			continue;
		if (image != last) /* streams are in the order of their images */
			add_image(report, image, &cost);
		last = image;
		if (event_ps == 0 || event_ps > EVENT_PS_MAX)
			continue;
		cost.events += report->totals.streams[i].events;
		cost.record_ns += events_ns(report->totals.streams[i].events, event_ps);
	}
	return cost;
}

static void show_lines(const struct sp_own_cost *cost, struct sp_out *out)
{
	uint64_t total_ns = cost->record_ns + cost->block_ns;
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES], c[SP_NUMBER_BYTES];

	sp_out_line(out,
		    cost->has_blocks ? _("overhead   %s for %s events, blocks and files: %.2f%% of "
					 "the threads' time")
				     : _("overhead   %s for %s events: %.2f%% of the threads' "
					 "time"),
		    sp_text_ns(a, total_ns), sp_text_count(b, cost->events),
		    cost->thread_ns ? 100.0 * (double)total_ns / (double)cost->thread_ns : 0.0);
	sp_out_line(out, "           %s ns an event, longest stall %s",
		    sp_text_count(a, cost->events ? cost->record_ns / cost->events : 0),
		    cost->has_blocks ? sp_text_ns(c, cost->stall_ns) : _("not known"));
	if (cost->unpriced)
		sp_out_line(out,
			    sp_translate_plural("           without %s process that did not report "
						"it",
						"           without %s processes that did not "
						"report it",
						cost->unpriced),
			    sp_text_count(a, cost->unpriced));
}

static void count_or_null(struct sp_json *j, const char *key, bool is_known, uint64_t n)
{
	if (is_known)
		sp_json_count(j, key, n);
	else
		sp_json_null(j, key);
}

static void show_json(const struct sp_own_cost *cost, uint64_t lost, struct sp_json *j)
{
	bool is_known = cost->events != 0;
	uint64_t total_ns = cost->record_ns + cost->block_ns;

	sp_json_open(j, "own_cost", '{');
	sp_json_count(j, "events", cost->events);
	count_or_null(j, "event_ps", is_known,
		      is_known
			      ? (uint64_t)((unsigned __int128)cost->record_ns * 1000 / cost->events)
			      : 0);
	count_or_null(j, "record_ns", is_known, cost->record_ns);
	count_or_null(j, "block_ns", cost->has_blocks, cost->block_ns);
	count_or_null(j, "total_ns", is_known, total_ns);
	if (is_known && cost->thread_ns)
		sp_json_share(j, "share", (double)total_ns / (double)cost->thread_ns);
	else
		sp_json_null(j, "share");
	count_or_null(j, "stall_ns_max", cost->has_blocks, cost->stall_ns);
	sp_json_count(j, "events_lost", lost);
	sp_json_count(j, "processes_unreported", cost->unpriced);
	sp_json_close(j, '}');
}

void sp_own_cost_show(const struct sp_report *report, struct sp_out *out)
{
	struct sp_own_cost cost = sp_own_cost_of(report);

	if (out->format == SP_FORMAT_JSON)
		show_json(&cost, report->totals.lost, &out->json);
	else if (cost.events)
		show_lines(&cost, out);
	else
		sp_out_line(out, "overhead   not known: no process of this trace reported it");
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/sections/run_section.h"

#include <string.h>

#include "analyzer/sections/coverage_section.h"
#include "analyzer/sections/ending.h"
#include "analyzer/sections/own_cost.h"
#include "analyzer/sections/shown_part.h"
#include "analyzer/text/text.h"

#define LINE_BYTES 1024u

static void show_hosts(const struct sp_report *report, struct sp_out *out)
{
	char name[LINE_BYTES];

	for (uint32_t i = 0; i < report->run.index.host_count && i < 4; i++) {
		const struct sp_host *h = &report->run.index.hosts[i];

		sp_text_escape(name, sizeof(name), h->name, strnlen(h->name, sizeof(h->name)));
		sp_out_line(out, "host       %s", name);
	}
	if (report->run.index.host_count > 4)
		sp_out_line(out, "           and %u more", report->run.index.host_count - 4);
}

static void show_command(const struct sp_report *report, struct sp_out *out)
{
	char line[LINE_BYTES], words[LINE_BYTES];

	for (uint32_t i = 0; i < report->run.index.image_count; i++) {
		const struct sp_process_metadata *image = &report->run.metadata.images[i];
		size_t n = image->command_bytes < sizeof(words) ? image->command_bytes
								: sizeof(words) - 1;

		if (!image->command)
			continue;
		memcpy(words, image->command, n);
		while (n && words[n - 1] == '\0')
			n--;
		for (size_t k = 0; k < n; k++)
			words[k] = words[k] ? words[k] : ' ';
		sp_text_escape(line, sizeof(line), words, n);
		sp_out_line(out, "command    %s", line);
		return;
	}
}

static void show_totals(const struct sp_report *report, struct sp_out *out)
{
	struct sp_traffic traffic = sp_stages_traffic(report->totals.stages);
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES];

	sp_out_line(out, "duration   %s",
		    sp_text_ns(a, (uint64_t)(report->totals.end_ns - report->run.begin_ns)));
	sp_out_line(out, "processes  %s, threads %s", sp_text_count(a, report->totals.processes),
		    sp_text_count(b, report->totals.threads));
	sp_out_line(out, "events     %s", sp_text_count(a, report->totals.events));
	sp_out_line(out, "files      %s read, %s written", sp_text_bytes(a, traffic.read_bytes),
		    sp_text_bytes(b, traffic.written_bytes));
	if (traffic.received_bytes || traffic.sent_bytes)
		sp_out_line(out, "network    %s received, %s sent (the view stages)",
			    sp_text_bytes(a, traffic.received_bytes),
			    sp_text_bytes(b, traffic.sent_bytes));
}

static void show_cause(struct sp_out *out, uint64_t n, const char *cause)
{
	char a[SP_NUMBER_BYTES];

	if (n)
		sp_out_line(out, "           %s %s", sp_text_count(a, n), _(cause));
}

static void show_part(const struct sp_report *report, struct sp_out *out)
{
	char text[LINE_BYTES];

	if (sp_selection_text(report, text, sizeof(text)))
		sp_out_line(out, "only       %s; the lines below are of the whole run", text);
}

static void show_off(const struct sp_report *report, struct sp_out *out)
{
	char text[LINE_BYTES];

	if (sp_off_text(report, text, sizeof(text)))
		sp_out_line(out, "off        %s", text);
}

/* Threads that still run when their process ends are the usual case. */
static void show_ends(const struct sp_report *report, struct sp_out *out)
{
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES], c[SP_NUMBER_BYTES];

	sp_text_count(a, report->totals.threads - report->totals.not_ended -
				 report->totals.ended_with_process);
	sp_text_count(b, report->totals.threads);
	sp_text_count(c, report->totals.ended_with_process);
	if (report->totals.not_ended && report->totals.ended_with_process)
		sp_out_line(out,
			    "ended      %s of %s threads, %s more with their process; the others "
			    "were killed, or still run",
			    a, b, c);
	else if (report->totals.not_ended)
		sp_out_line(out,
			    sp_translate_plural("ended      %s of %s thread; it was killed, or "
						"still runs",
						"ended      %s of %s threads; the others were "
						"killed, or still run",
						report->totals.threads),
			    a, b);
}

static void show_ending(const struct sp_report *report, struct sp_out *out)
{
	char text[LINE_BYTES];

	sp_ending_text(report, text, sizeof(text));
	if (*text)
		sp_out_line(out, "ending     %s", text);
}

static void show_losses(const struct sp_report *report, struct sp_out *out)
{
	uint64_t by_cause =
		report->totals.lost_full + report->totals.lost_nested + report->totals.lost_no_file;
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES];

	sp_out_line(out,
		    sp_translate_plural("lost       %s event", "lost       %s events",
					report->totals.lost),
		    sp_text_count(a, report->totals.lost));
	show_cause(out, report->totals.lost_full, N_("because the trace could not grow"));
	show_cause(out, report->totals.lost_nested,
		   N_("in signal handlers, while a block was being written"));
	show_cause(out, report->totals.lost_no_file, N_("of threads that could not have a file"));
	if (by_cause)
		show_cause(out, report->totals.lost > by_cause ? report->totals.lost - by_cause : 0,
			   N_("of unknown cause"));
	show_cause(out, report->totals.missing,
		   N_("slots missing: damaged or lost parts of the trace"));
	show_cause(out, report->totals.holes,
		   N_("slots never committed: calls cut off, or damage"));
	show_cause(out, report->totals.unknown,
		   N_("events of kinds that this version does not know"));
	show_cause(out, sp_metadata_refused(&report->run.metadata),
		   N_("names found no room in the report: others stands for them"));
	if (sp_index_unread(&report->run.index))
		sp_out_line(out,
			    "unread     %s of %s files: of another version of the format, or not "
			    "to be opened; see the view info",
			    sp_text_count(a, sp_index_unread(&report->run.index)),
			    sp_text_count(b, report->run.index.file_count));
	show_ends(report, out);
	show_off(report, out);
}

/* A missing row is not a zero here either. */
static void show_digests(const struct sp_report *report, struct sp_out *out)
{
	const struct sp_index *index = &report->run.index;
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES];
	uint32_t n = 0;

	for (uint32_t i = 0; i < index->stream_count; i++)
		n += index->streams[i]->digested != NULL;
	if (n)
		sp_out_line(out,
			    "digests    %s of %s threads are from digests, which have no events: "
			    "verdict, workers, what-ifs, GPU and functions need the runs",
			    sp_text_count(a, n), sp_text_count(b, index->stream_count));
}

void sp_run_section(const struct sp_report *report, struct sp_out *out)
{
	show_part(report, out);
	show_command(report, out);
	show_hosts(report, out);
	show_totals(report, out);
	show_ending(report, out);
	show_losses(report, out);
	show_digests(report, out);
	sp_own_cost_show(report, out);
	sp_coverage_section(report, out);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/run_json.h"

#include <string.h>

static void commands_json(const struct sp_report *report, struct sp_out *out)
{
	sp_json_open(&out->json, "commands", '[');
	for (uint32_t i = 0; i < report->run.index.image_count; i++) {
		const struct sp_process_metadata *image = &report->run.metadata.images[i];
		const char *p = image->command, *end;

		if (!p)
			continue;
		end = p + image->command_bytes;
		sp_json_open(&out->json, NULL, '{');
		sp_json_count(&out->json, "pid", report->run.index.images[i].pid);
		sp_json_open(&out->json, "argv", '[');
		while (p < end) {
			const char *next = memchr(p, '\0', (size_t)(end - p));

			next = next ? next : end;
			sp_json_string(&out->json, NULL, p, (size_t)(next - p));
			p = next + 1;
		}
		sp_json_close(&out->json, ']');
		sp_json_close(&out->json, '}');
	}
	sp_json_close(&out->json, ']');
}

static void losses_json(const struct sp_report *report, struct sp_json *j)
{
	uint64_t by_cause =
		report->totals.lost_full + report->totals.lost_nested + report->totals.lost_no_file;

	sp_json_count(j, "events_lost", report->totals.lost);
	sp_json_open(j, "events_lost_by", '{');
	sp_json_count(j, "full", report->totals.lost_full);
	sp_json_count(j, "nested", report->totals.lost_nested);
	sp_json_count(j, "no_file", report->totals.lost_no_file);
	sp_json_count(j, "unknown",
		      report->totals.lost > by_cause ? report->totals.lost - by_cause : 0);
	sp_json_close(j, '}');
}

static void damage_json(const struct sp_report *report, struct sp_json *j)
{
	uint32_t files = 0;
	uint64_t places = 0, bytes = 0;

	for (uint32_t i = 0; i < report->run.index.file_count; i++) {
		const struct sp_file *f = &report->run.index.files[i];

		files += f->damage.places || f->error || f->truncated;
		places += f->damage.places;
		bytes += f->damage.bytes;
	}
	sp_json_open(j, "damage", '{');
	sp_json_count(j, "files", files);
	sp_json_count(j, "places", places);
	sp_json_count(j, "bytes", bytes);
	sp_json_count(j, "slots_missing", report->totals.missing);
	sp_json_count(j, "slots_torn", report->totals.holes);
	sp_json_count(j, "slots_unfinished", report->totals.unfinished);
	sp_json_count(j, "threads_truncated", report->totals.truncated);
	sp_json_count(j, "threads_tails_away", report->totals.tails_away);
	sp_json_close(j, '}');
}

static void others_json(const struct sp_report *report, struct sp_json *j)
{
	uint64_t others = sp_metadata_refused(&report->run.metadata);

	if (others)
		sp_json_count(j, "names_in_others", others);
}

/* Null where nothing of the network was met: older recorders did not look. */
static void network_json(const struct sp_report *report, struct sp_json *j,
			 const struct sp_traffic *traffic)
{
	const struct sp_sums *stages = report->totals.stages;

	if (stages[SP_STAGE_net_read].calls || stages[SP_STAGE_net_write].calls ||
	    stages[SP_STAGE_net_connect].calls) {
		sp_json_count(j, "received_bytes", traffic->received_bytes);
		sp_json_count(j, "sent_bytes", traffic->sent_bytes);
	} else {
		sp_json_null(j, "received_bytes");
		sp_json_null(j, "sent_bytes");
	}
}

void sp_run_json(const struct sp_report *report, struct sp_out *out)
{
	struct sp_traffic traffic = sp_stages_traffic(report->totals.stages);
	struct sp_json *j = &out->json;

	if (out->format != SP_FORMAT_JSON || out->is_part)
		return;
	sp_json_open(j, "run", '{');
	sp_json_open(j, "hosts", '[');
	for (uint32_t i = 0; i < report->run.index.host_count; i++) {
		const char *name = report->run.index.hosts[i].name;

		sp_json_string(j, NULL, name,
			       strnlen(name, sizeof(report->run.index.hosts[i].name)));
	}
	sp_json_close(j, ']');
	commands_json(report, out);
	sp_json_signed(j, "begin_realtime_ns", report->run.begin_ns);
	sp_json_signed(j, "wall_ns", report->totals.end_ns - report->run.begin_ns);
	sp_json_count(j, "thread_time_ns", report->totals.thread_ns);
	sp_json_count(j, "processes", report->totals.processes);
	sp_json_count(j, "threads", report->totals.threads);
	sp_json_count(j, "threads_not_ended", report->totals.not_ended);
	sp_json_count(j, "threads_ended_with_process", report->totals.ended_with_process);
	sp_json_count(j, "events_recorded", report->totals.events);
	losses_json(report, j);
	sp_json_count(j, "events_unknown", report->totals.unknown);
	sp_json_count(j, "read_bytes", traffic.read_bytes);
	sp_json_count(j, "written_bytes", traffic.written_bytes);
	network_json(report, j, &traffic);
	sp_json_count(j, "jpeg_lines", report->totals.lines);
	sp_json_count(j, "jpeg_pixels", report->totals.pixels);
	damage_json(report, j);
	others_json(report, j);
	sp_json_close(j, '}');
}

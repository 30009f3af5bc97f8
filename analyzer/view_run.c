#include "analyzer/view.h"

#include <string.h>

static void commands_json(const struct sp_report *report, struct sp_out *out)
{
	sp_json_open(&out->json, "commands", '[');
	for (uint32_t i = 0; i < report->index.image_count; i++) {
		const struct sp_image_facts *image = &report->facts.images[i];
		const char *p = image->command, *end;

		if (!p)
			continue;
		end = p + image->command_bytes;
		sp_json_open(&out->json, NULL, '{');
		sp_json_count(&out->json, "pid", report->index.images[i].pid);
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
	uint64_t told = report->lost_full + report->lost_nested + report->lost_no_file;

	sp_json_count(j, "events_lost", report->lost);
	sp_json_open(j, "events_lost_by", '{');
	sp_json_count(j, "full", report->lost_full);
	sp_json_count(j, "nested", report->lost_nested);
	sp_json_count(j, "no_file", report->lost_no_file);
	sp_json_count(j, "untold", report->lost > told ? report->lost - told : 0);
	sp_json_close(j, '}');
}

static void damage_json(const struct sp_report *report, struct sp_json *j)
{
	uint32_t files = 0;
	uint64_t places = 0, bytes = 0;

	for (uint32_t i = 0; i < report->index.file_count; i++) {
		const struct sp_file *f = &report->index.files[i];

		files += f->damage.places || f->error || f->truncated;
		places += f->damage.places;
		bytes += f->damage.bytes;
	}
	sp_json_open(j, "damage", '{');
	sp_json_count(j, "files", files);
	sp_json_count(j, "places", places);
	sp_json_count(j, "bytes", bytes);
	sp_json_count(j, "slots_missing", report->missing);
	sp_json_count(j, "slots_torn", report->holes);
	sp_json_count(j, "slots_unfinished", report->unfinished);
	sp_json_count(j, "threads_truncated", report->truncated);
	sp_json_close(j, '}');
}

void sp_run_json(const struct sp_report *report, struct sp_out *out)
{
	struct sp_traffic traffic = sp_stages_traffic(report->stages);
	struct sp_json *j = &out->json;

	if (out->format != SP_FORMAT_JSON || out->is_part)
		return;
	sp_json_open(j, "run", '{');
	sp_json_open(j, "hosts", '[');
	for (uint32_t i = 0; i < report->index.host_count; i++) {
		const char *name = report->index.hosts[i].name;

		sp_json_string(j, NULL, name, strnlen(name, sizeof(report->index.hosts[i].name)));
	}
	sp_json_close(j, ']');
	commands_json(report, out);
	sp_json_signed(j, "begin_realtime_ns", report->begin_ns);
	sp_json_signed(j, "wall_ns", report->end_ns - report->begin_ns);
	sp_json_count(j, "thread_time_ns", report->thread_ns);
	sp_json_count(j, "processes", report->processes);
	sp_json_count(j, "threads", report->threads);
	sp_json_count(j, "threads_not_ended", report->not_ended);
	sp_json_count(j, "threads_ended_with_process", report->ended_with_process);
	sp_json_count(j, "events_recorded", report->events);
	losses_json(report, j);
	sp_json_count(j, "events_unknown", report->unknown);
	sp_json_count(j, "read_bytes", traffic.read_bytes);
	sp_json_count(j, "written_bytes", traffic.written_bytes);
	sp_json_count(j, "jpeg_lines", report->lines);
	sp_json_count(j, "jpeg_pixels", report->pixels);
	damage_json(report, j);
	sp_json_close(j, '}');
}

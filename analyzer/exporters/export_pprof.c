/* SPDX-License-Identifier: Apache-2.0 */
/*
 * https://github.com/google/pprof, proto/profile.proto: sampled functions; labels have the phase
 * and whether the thread ran. A location, and its function, is a frame's number plus 1.
 */
#include <errno.h>
#include <string.h>

#include "analyzer/exporters/export.h"
#include "analyzer/exporters/gzip.h"
#include "analyzer/exporters/proto.h"
#include "analyzer/samples/sampled_stacks.h"

/* Fields of the messages. */
enum { SAMPLE_TYPE = 1, SAMPLE, LOCATION = 4, FUNCTION, STRING, TIME_NANOS = 9, DURATION_NANOS };
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT };
enum { LOCATION_ID = 1, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE, FUNCTION_LINE };

/* Numbers of strings; two of each frame follow the phases. */
enum { EMPTY, SAMPLES, COUNT, TIME, NANOSECONDS, PHASE, THREAD, RUNS, WAITS, PHASES };
static const char *const strings[PHASES] = {
	[EMPTY] = "",
	[SAMPLES] = "samples",
	[COUNT] = "count",
	[TIME] = "time",
	[NANOSECONDS] = "nanoseconds",
	[PHASE] = "phase",
	[THREAD] = "thread",
	[RUNS] = "runs",
	[WAITS] = "waits",
};

struct pprof {
	FILE *file;
	struct sp_sampled_stacks stacks;
	struct sp_proto message;
	int r;
};

static void put_message(struct pprof *p, uint32_t field)
{
	if (p->r == 0)
		p->r = sp_proto_write(&p->message, field, p->file);
	sp_proto_begin(&p->message);
}

/* A field of the profile itself is as a message of one field, without a length. */
static void put_number(struct pprof *p, uint32_t field, uint64_t n)
{
	sp_proto_number(&p->message, field, n);
	fwrite(p->message.bytes, 1, p->message.used, p->file);
	sp_proto_begin(&p->message);
}

static void put_type(struct pprof *p, uint32_t type, uint32_t unit)
{
	sp_proto_number(&p->message, TYPE_TYPE, type);
	sp_proto_number(&p->message, TYPE_UNIT, unit);
	put_message(p, SAMPLE_TYPE);
}

static void put_label(struct pprof *p, uint32_t key, uint32_t text)
{
	size_t mark = sp_proto_open(&p->message, SAMPLE_LABEL);

	sp_proto_number(&p->message, LABEL_KEY, key);
	sp_proto_number(&p->message, LABEL_TEXT, text);
	sp_proto_close(&p->message, mark);
}

static void put_sample(struct pprof *p, const struct sp_sample_sums *sums)
{
	uint32_t frames[SP_SAMPLE_DEPTH_MAX + 1];
	uint32_t count = sp_sampled_stacks_get(&p->stacks, sums, frames);

	for (uint32_t i = 0; i < count; i++)
		sp_proto_number(&p->message, SAMPLE_LOCATION, frames[i] + 1u);
	sp_proto_number(&p->message, SAMPLE_VALUE, sums->samples);
	sp_proto_number(&p->message, SAMPLE_VALUE, sums->ns);
	put_label(p, PHASE, PHASES + sums->phase);
	put_label(p, THREAD, sums->is_waiting ? WAITS : RUNS);
	put_message(p, SAMPLE);
}

static uint32_t string_of_frame(uint32_t frame)
{
	return PHASES + SP_SAMPLE_PHASES + 2 * frame;
}

static void put_frame(struct pprof *p, uint32_t frame)
{
	struct sp_frame_text text;
	size_t mark;

	sp_sampled_stacks_text(&p->stacks, frame, &text);
	sp_proto_number(&p->message, LOCATION_ID, frame + 1u);
	mark = sp_proto_open(&p->message, LOCATION_LINE);
	sp_proto_number(&p->message, LINE_FUNCTION, frame + 1u);
	sp_proto_number(&p->message, LINE_LINE, text.line);
	sp_proto_close(&p->message, mark);
	put_message(p, LOCATION);
	sp_proto_number(&p->message, FUNCTION_ID, frame + 1u);
	sp_proto_number(&p->message, FUNCTION_NAME, string_of_frame(frame));
	sp_proto_number(&p->message, FUNCTION_SYSTEM_NAME, string_of_frame(frame));
	sp_proto_number(&p->message, FUNCTION_FILE, string_of_frame(frame) + 1);
	sp_proto_number(&p->message, FUNCTION_LINE, text.first_line);
	put_message(p, FUNCTION);
}

static void put_string(struct pprof *p, const char *text)
{
	sp_proto_bytes(&p->message, STRING, text, strlen(text));
	fwrite(p->message.bytes, 1, p->message.used, p->file);
	sp_proto_begin(&p->message);
}

static void put_strings(struct pprof *p)
{
	struct sp_frame_text text;

	for (int i = 0; i < PHASES; i++)
		put_string(p, strings[i]);
	for (int i = 0; i < SP_SAMPLE_PHASES; i++)
		put_string(p, sp_sample_phase_name((enum sp_sample_phase)i));
	for (uint32_t i = 0; i < sp_sampled_stacks_frames(&p->stacks); i++) {
		sp_sampled_stacks_text(&p->stacks, i, &text);
		put_string(p, text.name);
		put_string(p, text.file);
	}
}

static void write_all(struct pprof *p, const struct sp_report *report)
{
	const struct sp_sample_table *spread = &p->stacks.spread;

	sp_proto_begin(&p->message);
	put_type(p, SAMPLES, COUNT);
	put_type(p, TIME, NANOSECONDS);
	for (uint32_t i = 0; i < spread->count; i++)
		if (sp_sample_counts(&spread->sums[i]))
			put_sample(p, &spread->sums[i]);
	for (uint32_t i = 0; i < sp_sampled_stacks_frames(&p->stacks); i++)
		put_frame(p, i);
	put_strings(p);
	put_number(p, TIME_NANOS, (uint64_t)report->run.begin_ns);
	put_number(p, DURATION_NANOS, report->samples.counts.wall_ns);
}

int sp_export_pprof(struct sp_export *export)
{
	struct pprof p = {.file = sp_gzip_open(export->file)};

	if (!p.file)
		return -ENOMEM;
	p.r = sp_sampled_stacks_init(&p.stacks, &export->report->samples);
	if (p.r == 0)
		write_all(&p, export->report);
	sp_sampled_stacks_finish(&p.stacks);
	if (p.r == 0 && ferror(p.file))
		p.r = -EIO;
	return fclose(p.file) != 0 && p.r == 0 ? -EIO : p.r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * https://github.com/jlfwong/speedscope, src/lib/file-format-spec.ts: sampled functions, one
 * profile for each phase.
 */
#include <errno.h>
#include <string.h>

#include "analyzer/exporters/export.h"
#include "analyzer/samples/sampled_stacks.h"
#include "analyzer/text/json.h"

static void put_word(struct sp_json *j, const char *key, const char *text)
{
	sp_json_string(j, key, text, strlen(text));
}

static void put_frames(struct sp_json *j, const struct sp_sampled_stacks *stacks)
{
	struct sp_frame_text text;

	sp_json_open(j, "shared", '{');
	sp_json_open(j, "frames", '[');
	for (uint32_t i = 0; i < sp_sampled_stacks_frames(stacks); i++) {
		sp_sampled_stacks_text(stacks, i, &text);
		sp_json_open(j, NULL, '{');
		put_word(j, "name", text.name);
		if (*text.file)
			put_word(j, "file", text.file);
		if (text.line)
			sp_json_count(j, "line", text.line);
		sp_json_close(j, '}');
	}
	sp_json_close(j, ']');
	sp_json_close(j, '}');
}

static bool is_of(const struct sp_sample_sums *sums, enum sp_sample_phase phase)
{
	return sums->phase == phase && sp_sample_counts(sums) && sums->ns;
}

static uint64_t phase_ns(const struct sp_sample_table *spread, enum sp_sample_phase phase)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < spread->count; i++)
		if (is_of(&spread->sums[i], phase))
			ns += spread->sums[i].ns;
	return ns;
}

/* Outermost first. */
static void put_stack(struct sp_json *j, const struct sp_sampled_stacks *stacks,
		      const struct sp_sample_sums *sums)
{
	uint32_t frames[SP_SAMPLE_DEPTH_MAX + 1];

	sp_json_open(j, NULL, '[');
	for (uint32_t i = sp_sampled_stacks_get(stacks, sums, frames); i > 0; i--)
		sp_json_count(j, NULL, frames[i - 1]);
	sp_json_close(j, ']');
}

static void put_profile(struct sp_json *j, const struct sp_sampled_stacks *stacks,
			enum sp_sample_phase phase)
{
	const struct sp_sample_table *spread = &stacks->spread;
	uint64_t ns = phase_ns(spread, phase);

	if (!ns)
		return;
	sp_json_open(j, NULL, '{');
	put_word(j, "type", "sampled");
	put_word(j, "name", sp_sample_phase_name(phase));
	put_word(j, "unit", "nanoseconds");
	sp_json_count(j, "startValue", 0);
	sp_json_count(j, "endValue", ns);
	sp_json_open(j, "samples", '[');
	for (uint32_t i = 0; i < spread->count; i++)
		if (is_of(&spread->sums[i], phase))
			put_stack(j, stacks, &spread->sums[i]);
	sp_json_close(j, ']');
	sp_json_open(j, "weights", '[');
	for (uint32_t i = 0; i < spread->count; i++)
		if (is_of(&spread->sums[i], phase))
			sp_json_count(j, NULL, spread->sums[i].ns);
	sp_json_close(j, ']');
	sp_json_close(j, '}');
}

int sp_export_speedscope(struct sp_export *export)
{
	struct sp_json j = {.file = export->file};
	struct sp_sampled_stacks stacks;
	char exporter[64];
	int r = sp_sampled_stacks_init(&stacks, &export->report->samples);

	if (r == 0) {
		snprintf(exporter, sizeof(exporter), "stageprof %s", export->version);
		sp_json_open(&j, NULL, '{');
		put_word(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
		put_word(&j, "exporter", exporter);
		put_frames(&j, &stacks);
		sp_json_open(&j, "profiles", '[');
		for (int phase = 0; phase < SP_SAMPLE_PHASES; phase++)
			put_profile(&j, &stacks, (enum sp_sample_phase)phase);
		sp_json_close(&j, ']');
		sp_json_close(&j, '}');
	}
	sp_sampled_stacks_finish(&stacks);
	return r == 0 && ferror(export->file) ? -EIO : r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folded stacks of sampled functions: "phase;function (file:line);… NANOSECONDS".
 */
#include <errno.h>
#include <inttypes.h>

#include "analyzer/exporters/export.h"
#include "analyzer/samples/sampled_stacks.h"

/* A semicolon separates frames. */
static void put_text(FILE *file, const char *text)
{
	for (; *text; text++)
		if (*text == ';')
			fputs("\\x3B", file);
		else
			putc(*text, file);
}

static void put_frame(FILE *file, const struct sp_frame_text *text)
{
	putc(';', file);
	put_text(file, text->name);
	if (!*text->file)
		return;
	fputs(" (", file);
	put_text(file, text->file);
	fprintf(file, ":%" PRIu32 ")", text->first_line);
}

static void put_stack(FILE *file, const struct sp_sampled_stacks *stacks,
		      const struct sp_sample_sums *sums)
{
	uint32_t frames[SP_SAMPLE_DEPTH_MAX + 1];
	struct sp_frame_text text;

	fputs(sp_sample_phase_name(sums->phase), file);
	for (uint32_t i = sp_sampled_stacks_get(stacks, sums, frames); i > 0; i--) {
		sp_sampled_stacks_text(stacks, frames[i - 1], &text);
		put_frame(file, &text);
	}
	fprintf(file, " %" PRIu64 "\n", sums->ns);
}

int sp_export_folded_functions(struct sp_export *export)
{
	struct sp_sampled_stacks stacks;
	int r = sp_sampled_stacks_init(&stacks, &export->report->samples);
	const struct sp_sample_table *spread = &stacks.spread;

	for (uint32_t i = 0; r == 0 && i < spread->count; i++)
		if (sp_sample_counts(&spread->sums[i]) && spread->sums[i].ns)
			put_stack(export->file, &stacks, &spread->sums[i]);
	sp_sampled_stacks_finish(&stacks);
	return r == 0 && ferror(export->file) ? -EIO : r;
}

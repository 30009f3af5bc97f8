/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/samples/sampled_stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/text/text.h"

/* Calls and libraries have few names. */
static uint32_t leaf_number(const struct sp_sampled_stacks *stacks, uint32_t text)
{
	uint32_t i = 0;

	while (i < stacks->leaf_count && stacks->leaves[i] != text)
		i++;
	return i;
}

/* The text of what lies inside of the innermost frame: a recorded call, or else the library whose
 * code it called; 0: neither is known. */
static uint32_t leaf_of(const struct sp_samples *samples, const struct sp_sample_sums *sums)
{
	if (sums->call || !sp_sample_is_native(samples, sums->object))
		return sums->call;
	return sums->object;
}

int sp_sampled_stacks_init(struct sp_sampled_stacks *stacks, const struct sp_samples *samples)
{
	int r;

	*stacks = (struct sp_sampled_stacks){.samples = samples};
	r = sp_library_spread(&stacks->spread, samples);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < samples->table.count; i++) {
		uint32_t leaf = leaf_of(samples, &samples->table.sums[i]), *added;

		if (!leaf || leaf_number(stacks, leaf) < stacks->leaf_count)
			continue;
		added = SP_LIST_ADD(stacks->leaves, stacks->leaf_count, stacks->leaf_room);
		if (!added)
			return -ENOMEM;
		*added = leaf;
	}
	return 0;
}

void sp_sampled_stacks_finish(struct sp_sampled_stacks *stacks)
{
	free(stacks->spread.sums);
	free(stacks->leaves);
}

uint32_t sp_sampled_stacks_frames(const struct sp_sampled_stacks *stacks)
{
	return stacks->samples->frame_count + stacks->leaf_count;
}

/* A library is a frame without a function: "[libjpeg.so.62]". */
static void library_text(const char *file, size_t bytes, struct sp_frame_text *ret)
{
	char text[SP_FRAME_TEXT_BYTES / 4];
	bool is_marked = bytes && *file == '['; /* "[vdso]" */
	int n = snprintf(text, sizeof(text), is_marked ? "%.*s" : "[%.*s]", (int)bytes, file);

	sp_text_escape(ret->name, sizeof(ret->name), text,
		       n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1);
	*ret->file = '\0';
}

void sp_sampled_stacks_text(const struct sp_sampled_stacks *stacks, uint32_t frame,
			    struct sp_frame_text *ret)
{
	const struct sp_samples *samples = stacks->samples;
	bool is_leaf = frame >= samples->frame_count;
	const struct sp_sampled_frame *f = is_leaf ? NULL : &samples->frames[frame];
	size_t bytes, file;
	const char *text = sp_string_table_text(&samples->texts,
						f ? f->text
						  : stacks->leaves[frame - samples->frame_count],
						&bytes),
		   *tab = memchr(text, '\t', bytes);

	ret->line = f ? f->line : 0;
	ret->first_line = f ? f->first_line : 0;
	file = tab ? (size_t)(tab - text) : bytes;
	if (is_leaf && tab && file == bytes - 1) {
		library_text(text, file, ret);
		return;
	}
	sp_text_escape(ret->file, sizeof(ret->file), text, file);
	if (tab)
		sp_text_escape(ret->name, sizeof(ret->name), tab + 1, bytes - file - 1);
	else
		sp_text_escape(ret->name, sizeof(ret->name), "(no Python)", strlen("(no Python)"));
}

uint32_t sp_sampled_stacks_get(const struct sp_sampled_stacks *stacks,
			       const struct sp_sample_sums *sums,
			       uint32_t ret[SP_SAMPLE_DEPTH_MAX + 1])
{
	const struct sp_samples *samples = stacks->samples;
	const struct sp_sampled_stack *stack = &samples->stacks[sums->stack];
	uint32_t n = 0, leaf = leaf_of(samples, sums);

	if (leaf)
		ret[n++] = samples->frame_count + leaf_number(stacks, leaf);
	for (uint32_t i = 0; i < stack->frames; i++)
		ret[n++] = samples->frame_numbers[stack->frame_at + i];
	if (stack->frames == 0)
		ret[n++] = 0;
	return n;
}

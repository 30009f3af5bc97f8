/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/samples/sampled_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/text/text.h"

/* Calls have few names. */
static uint32_t call_of(const struct sp_sampled_stacks *stacks, uint32_t text)
{
	uint32_t i = 0;

	while (i < stacks->call_count && stacks->calls[i] != text)
		i++;
	return i;
}

int sp_sampled_stacks_init(struct sp_sampled_stacks *stacks, const struct sp_samples *samples)
{
	*stacks = (struct sp_sampled_stacks){.samples = samples};
	for (uint32_t i = 0; i < samples->sum_count; i++) {
		uint32_t *list;

		if (!samples->sums[i].call ||
		    call_of(stacks, samples->sums[i].call) < stacks->call_count)
			continue;
		list = sp_list_grow(stacks->calls, stacks->call_count, &stacks->call_room,
				    sizeof(*list));
		if (!list)
			return -ENOMEM;
		stacks->calls = list;
		list[stacks->call_count++] = samples->sums[i].call;
	}
	return 0;
}

void sp_sampled_stacks_finish(struct sp_sampled_stacks *stacks)
{
	free(stacks->calls);
}

uint32_t sp_sampled_stacks_frames(const struct sp_sampled_stacks *stacks)
{
	return stacks->samples->frame_count + stacks->call_count;
}

void sp_sampled_stacks_text(const struct sp_sampled_stacks *stacks, uint32_t frame,
			    struct sp_frame_text *ret)
{
	bool is_call = frame >= stacks->samples->frame_count;
	const struct sp_sampled_frame *f = is_call ? NULL : &stacks->samples->frames[frame];
	size_t bytes, file;
	const char *text = sp_string_table_text(
			   &stacks->samples->texts,
			   f ? f->text : stacks->calls[frame - stacks->samples->frame_count],
			   &bytes),
		   *tab = memchr(text, '\t', bytes);

	file = tab ? (size_t)(tab - text) : bytes;
	sp_text_escape(ret->file, sizeof(ret->file), text, file);
	if (tab)
		sp_text_escape(ret->name, sizeof(ret->name), tab + 1, bytes - file - 1);
	else
		sp_text_escape(ret->name, sizeof(ret->name), "(no Python)", strlen("(no Python)"));
	ret->line = f ? f->line : 0;
	ret->first_line = f ? f->first_line : 0;
}

uint32_t sp_sampled_stacks_get(const struct sp_sampled_stacks *stacks,
			       const struct sp_sample_sums *sums,
			       uint32_t ret[SP_SAMPLE_DEPTH_MAX + 1])
{
	const struct sp_samples *samples = stacks->samples;
	const struct sp_sampled_stack *stack = &samples->stacks[sums->stack];
	uint32_t n = 0;

	if (sums->call)
		ret[n++] = samples->frame_count + call_of(stacks, sums->call);
	for (uint32_t i = 0; i < stack->frames; i++)
		ret[n++] = samples->frame_numbers[stack->frame_at + i];
	if (n == 0)
		ret[n++] = 0;
	return n;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/samples/top_function.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/text/text.h"

#define SAMPLES_LEAST 50u
#define SHARE_LEAST 0.1
#define NAMED_PARTS 2u /* of a path: the file and its folder */

/* Time with one function innermost, called from one place of the program's own files. */
struct sampled_place {
	uint32_t function, caller; /* frames; caller: UINT32_MAX: none, or the function itself */
	uint64_t ns;
};

static const char *text_of(const struct sp_samples *samples, uint32_t frame, size_t *ret_bytes)
{
	return sp_string_table_text(&samples->texts, samples->frames[frame].text, ret_bytes);
}

static bool has_part(const char *text, size_t bytes, const char *part)
{
	return memmem(text, bytes, part, strlen(part)) != NULL;
}

/* A file of the program, and not of a package or of Python. */
static bool is_own(const struct sp_samples *samples, uint32_t frame)
{
	size_t bytes;
	const char *text = text_of(samples, frame, &bytes);
	const char *tab = memchr(text, '\t', bytes);

	if (!tab || tab == text || *text == '<')
		return false;
	bytes = (size_t)(tab - text);
	return !has_part(text, bytes, "/site-packages/") &&
	       !has_part(text, bytes, "/dist-packages/") && !has_part(text, bytes, "/lib/python3");
}

/* With workers they make the batches; without, the trainer does while it waits for one. */
static bool makes_batches(enum sp_sample_phase phase, bool has_workers)
{
	if (!has_workers)
		return phase == SP_SAMPLE_ACCOUNT + SP_ACCOUNT_loader_wait;
	return phase == SP_SAMPLE_FETCH || phase == SP_SAMPLE_DECODE ||
	       phase == SP_SAMPLE_TRANSFORM || phase == SP_SAMPLE_COLLATE;
}

static bool is_named(const struct sp_sample_sums *sums)
{
	return !sums->call && sums->phase != SP_SAMPLE_DECODE && sums->phase != SP_SAMPLE_COLLATE;
}

static struct sampled_place place_of(const struct sp_samples *samples,
				     const struct sp_sample_sums *sums)
{
	const struct sp_sampled_stack *stack = &samples->stacks[sums->stack];
	const uint32_t *frames = samples->frame_numbers + stack->frame_at;
	struct sampled_place place = {.function = frames[0], .caller = UINT32_MAX, .ns = sums->ns};

	for (uint32_t i = 0; i < stack->frames; i++)
		if (is_own(samples, frames[i])) {
			place.caller = i ? frames[i] : UINT32_MAX;
			break;
		}
	return place;
}

static int compare_places(const void *a, const void *b, void *context)
{
	const struct sp_samples *samples = context;
	const struct sampled_place *x = a, *y = b;
	uint32_t left = samples->frames[x->function].text,
		 right = samples->frames[y->function].text;

	if (left != right)
		return left < right ? -1 : 1;
	return (x->caller > y->caller) - (x->caller < y->caller);
}

/* Adds up equal places, which are sorted. Returns the one with most time. */
static struct sampled_place most_of(const struct sp_samples *samples,
				    const struct sampled_place *places, uint32_t count)
{
	struct sampled_place most = {.ns = 0}, now = {.ns = 0};

	for (uint32_t i = 0; i < count; i++) {
		bool is_next =
			i && compare_places(&places[i], &places[i - 1], (void *)samples) == 0;
		uint64_t ns = is_next ? now.ns + places[i].ns : places[i].ns;

		now = places[i];
		now.ns = ns;
		if (now.ns > most.ns)
			most = now;
	}
	return most;
}

static void put_name(char ret[SP_TOP_NAME_BYTES], const struct sp_samples *samples, uint32_t frame,
		     uint32_t line)
{
	size_t bytes, from;
	const char *text = text_of(samples, frame, &bytes);
	const char *tab = memchr(text, '\t', bytes);
	char name[SP_TOP_NAME_BYTES / 2], file[SP_TOP_NAME_BYTES / 2];

	if (!tab)
		tab = text + bytes;
	from = (size_t)(tab - text);
	for (uint32_t parts = 0; from > 0; from--)
		if (text[from - 1] == '/' && ++parts == NAMED_PARTS)
			break;
	sp_text_escape(file, sizeof(file), text + from, (size_t)(tab - text) - from);
	sp_text_escape(name, sizeof(name), tab + (tab < text + bytes),
		       (size_t)(text + bytes - tab) - (tab < text + bytes));
	snprintf(ret, SP_TOP_NAME_BYTES, "%.100s (%.100s:%" PRIu32 ")", name, file, line);
}

static void name_place(struct sp_top_function *ret, const struct sp_samples *samples,
		       const struct sampled_place *place)
{
	put_name(ret->name, samples, place->function, samples->frames[place->function].first_line);
	if (place->caller != UINT32_MAX)
		put_name(ret->caller, samples, place->caller, samples->frames[place->caller].line);
}

static bool has_workers(const struct sp_samples *samples)
{
	for (uint32_t i = 0; i < samples->table.count; i++)
		if (makes_batches(samples->table.sums[i].phase, true))
			return true;
	return false;
}

int sp_top_function_find(struct sp_top_function *ret, const struct sp_samples *samples)
{
	struct sampled_place *places = malloc((samples->table.count + 1u) * sizeof(*places)), most;
	bool by_workers = has_workers(samples);
	uint32_t count = 0;
	uint64_t ns = 0, taken = 0;

	*ret = (struct sp_top_function){.samples = 0};
	if (!places)
		return -ENOMEM;
	for (uint32_t i = 0; i < samples->table.count; i++) {
		const struct sp_sample_sums *sums = &samples->table.sums[i];

		if (!makes_batches(sums->phase, by_workers))
			continue;
		ns += sums->ns;
		taken += sums->samples;
		if (is_named(sums) && samples->stacks[sums->stack].frames)
			places[count++] = place_of(samples, sums);
	}
	qsort_r(places, count, sizeof(*places), compare_places, (void *)samples);
	most = most_of(samples, places, count);
	free(places);
	if (taken < SAMPLES_LEAST || (double)most.ns < SHARE_LEAST * (double)ns)
		return 0;
	ret->samples = taken;
	ret->share = (double)most.ns / (double)ns;
	name_place(ret, samples, &most);
	return 0;
}

/* Returns UINT32_MAX where the stack has no frame of the program's own files. */
static uint32_t own_frame(const struct sp_samples *samples, const struct sp_sampled_stack *stack)
{
	const uint32_t *frames = samples->frame_numbers + stack->frame_at;

	for (uint32_t i = 0; i < stack->frames; i++)
		if (is_own(samples, frames[i]))
			return frames[i];
	return UINT32_MAX;
}

int sp_top_line_find(struct sp_top_function *ret, const struct sp_samples *samples)
{
	uint64_t *by_frame = calloc(samples->frame_count + 1u, sizeof(*by_frame));
	uint64_t ns = 0, taken = 0;
	uint32_t most = 0;

	*ret = (struct sp_top_function){.samples = 0};
	if (!by_frame)
		return -ENOMEM;
	for (uint32_t i = 0; i < samples->table.count; i++) {
		const struct sp_sample_sums *sums = &samples->table.sums[i];
		uint32_t frame = own_frame(samples, &samples->stacks[sums->stack]);

		if (sums->phase != SP_SAMPLE_ACCOUNT + SP_ACCOUNT_other)
			continue;
		ns += sums->ns;
		taken += sums->samples;
		if (frame != UINT32_MAX)
			by_frame[frame] += sums->ns;
		if (frame != UINT32_MAX && by_frame[frame] > by_frame[most])
			most = frame;
	}
	if (taken >= SAMPLES_LEAST && (double)by_frame[most] >= SHARE_LEAST * (double)ns) {
		ret->samples = taken;
		ret->share = (double)by_frame[most] / (double)ns;
		put_name(ret->name, samples, most, samples->frames[most].line);
	}
	free(by_frame);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/page/flame_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "analyzer/base/order.h"
#include "analyzer/samples/sampled_stacks.h"
#include "analyzer/text/text.h"

#define STACKS_MAX 1500u
#define NUMBERS_MAX 40000u /* frames of all of them */
#define FILE_WIDTH 60u
#define FILES_MAX 1000u
#define FRAMES_MAX (SP_SAMPLE_DEPTH_MAX + 1)

struct flame {
	struct sp_sampled_stacks stacks;
	uint32_t *order;   /* sums, most time first */
	uint32_t *numbers; /* of a frame on the page, plus 1; 0: none of its stacks is there */
	uint32_t *shown;   /* frames, by that number */
	uint32_t *firsts;  /* the first frame of a function, by its text */
	uint32_t count, shown_count;
	uint64_t left_out_ns;
	uint64_t files[FILES_MAX]; /* hashes of their names */
	uint32_t file_count;
};

SP_ORDER_IN(compare_sums, uint32_t, struct sp_sample_sums,
	    SP_COMPARE(in[*y].ns, in[*x].ns) ?: SP_COMPARE(*x, *y))
/* Stacks that were first seen one after the other share most of their frames. */
SP_ORDER_IN(by_stack, uint32_t, struct sp_sample_sums,
	    SP_COMPARE(in[*x].stack, in[*y].stack) ?: SP_COMPARE(*x, *y))

/* One frame for all lines of a function. */
static uint32_t function_of(const struct flame *f, uint32_t frame)
{
	const struct sp_sampled_frame *frames = f->stacks.samples->frames;
	uint32_t first;

	if (frame >= f->stacks.samples->frame_count)
		return frame;
	first = f->firsts[frames[frame].text];
	return frames[first].first_line == frames[frame].first_line ? first : frame;
}

static void find_functions(struct flame *f)
{
	for (uint32_t i = f->stacks.samples->frame_count; i > 0; i--)
		f->firsts[f->stacks.samples->frames[i - 1].text] = i - 1;
}

/* Python's own frames of an import lie between the one that imports and the module. */
static bool is_of_import(const struct flame *f, uint32_t frame)
{
	static const char file[] = "<frozen importlib";
	const struct sp_samples *samples = f->stacks.samples;
	size_t bytes;
	const char *text;

	if (frame >= samples->frame_count)
		return false;
	text = sp_string_table_text(&samples->texts, samples->frames[frame].text, &bytes);
	return bytes > sizeof(file) && memcmp(text, file, sizeof(file) - 1) == 0;
}

/* The frames of sums, outermost first. Returns their number. */
static uint32_t frames_of(const struct flame *f, const struct sp_sample_sums *sums,
			  uint32_t ret[FRAMES_MAX])
{
	uint32_t all[FRAMES_MAX], n = 0;

	for (uint32_t k = sp_sampled_stacks_get(&f->stacks, sums, all); k > 0; k--)
		if (!is_of_import(f, all[k - 1]))
			ret[n++] = function_of(f, all[k - 1]);
	return n;
}

/* Returns the number of the stack's frames. */
static uint32_t take_frames(struct flame *f, const struct sp_sample_sums *sums)
{
	uint32_t frames[FRAMES_MAX];
	uint32_t n = frames_of(f, sums, frames);

	for (uint32_t i = 0; i < n; i++)
		if (!f->numbers[frames[i]]) {
			f->shown[f->shown_count++] = frames[i];
			f->numbers[frames[i]] = f->shown_count;
		}
	return n;
}

static void choose(struct flame *f)
{
	const struct sp_sample_table *spread = &f->stacks.spread;
	uint32_t counted = 0, numbers = 0;

	for (uint32_t i = 0; i < spread->count; i++)
		if (sp_sample_counts(&spread->sums[i]) && spread->sums[i].ns)
			f->order[counted++] = i;
	qsort_r(f->order, counted, sizeof(*f->order), compare_sums, spread->sums);
	for (uint32_t i = 0; i < counted; i++)
		if (f->count < STACKS_MAX && numbers < NUMBERS_MAX) {
			numbers += take_frames(f, &spread->sums[f->order[i]]);
			f->count++;
		} else {
			f->left_out_ns += spread->sums[f->order[i]].ns;
		}
	qsort_r(f->order, f->count, sizeof(*f->order), by_stack, spread->sums);
}

/* A file that is known has a number; a new one is written. */
static void put_file(struct flame *f, struct sp_json *j, const char *file)
{
	uint64_t hash = XXH3_64bits(file, strlen(file));
	uint32_t i = 0;

	while (i < f->file_count && f->files[i] != hash)
		i++;
	if (i < f->file_count) {
		sp_json_count(j, NULL, i);
		return;
	}
	if (f->file_count < FILES_MAX)
		f->files[f->file_count++] = hash;
	sp_json_string(j, NULL, file, strlen(file));
}

static void put_frames(struct flame *f, struct sp_json *j)
{
	struct sp_frame_text text;

	sp_json_open(j, "frames", '[');
	for (uint32_t i = 0; i < f->shown_count; i++) {
		sp_sampled_stacks_text(&f->stacks, f->shown[i], &text);
		sp_text_shorten_path(text.file, FILE_WIDTH);
		sp_json_open(j, NULL, '[');
		sp_json_string(j, NULL, text.name, strlen(text.name));
		sp_json_count(j, NULL, text.first_line);
		put_file(f, j, text.file);
		sp_json_close(j, ']');
	}
	sp_json_close(j, ']');
}

static void put_stacks(const struct flame *f, struct sp_json *j)
{
	uint32_t frames[2][FRAMES_MAX], counts[2] = {0, 0};

	sp_json_open(j, "stacks", '[');
	for (uint32_t i = 0; i < f->count; i++) {
		const struct sp_sample_sums *sums = &f->stacks.spread.sums[f->order[i]];
		unsigned now = i % 2, before = 1 - now;
		uint32_t same = 0;

		counts[now] = frames_of(f, sums, frames[now]);
		while (same < counts[now] && same < counts[before] &&
		       frames[now][same] == frames[before][same])
			same++;
		sp_json_open(j, NULL, '[');
		sp_json_count(j, NULL, sums->phase);
		sp_json_count(j, NULL, sums->ns);
		sp_json_count(j, NULL, same);
		for (uint32_t k = same; k < counts[now]; k++)
			sp_json_count(j, NULL, f->numbers[frames[now][k]] - 1);
		sp_json_close(j, ']');
	}
	sp_json_close(j, ']');
}

static void put_all(struct flame *f, struct sp_json *j)
{
	sp_json_open(j, NULL, '{');
	sp_json_count(j, "left_out_ns", f->left_out_ns);
	sp_json_open(j, "phases", '[');
	for (int i = 0; i < SP_SAMPLE_PHASES; i++) {
		const char *name = sp_sample_phase_name((enum sp_sample_phase)i);

		sp_json_string(j, NULL, name, strlen(name));
	}
	sp_json_close(j, ']');
	put_frames(f, j);
	put_stacks(f, j);
	sp_json_close(j, '}');
}

int sp_flame_json(const struct sp_report *report, struct sp_json *j)
{
	struct flame f = {.count = 0};
	int r = sp_sampled_stacks_init(&f.stacks, &report->samples);
	uint32_t frames = sp_sampled_stacks_frames(&f.stacks) + 1;

	f.order = malloc((f.stacks.spread.count + 1u) * sizeof(*f.order));
	f.numbers = calloc(frames, sizeof(*f.numbers));
	f.shown = malloc(frames * sizeof(*f.shown));
	f.firsts = malloc((report->samples.texts.count + 1u) * sizeof(*f.firsts));
	if (!f.order || !f.numbers || !f.shown || !f.firsts)
		r = -ENOMEM;
	if (r == 0) {
		find_functions(&f);
		choose(&f);
		put_all(&f, j);
	}
	sp_sampled_stacks_finish(&f.stacks);
	free(f.order);
	free(f.numbers);
	free(f.shown);
	free(f.firsts);
	return r;
}

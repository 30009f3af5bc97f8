/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/page/flame_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/order.h"
#include "analyzer/samples/sampled_stacks.h"
#include "analyzer/text/text.h"

#define STACKS_MAX 1500u
#define NUMBERS_MAX 40000u /* frames of all of them */
#define FILE_WIDTH 60u

struct flame {
	struct sp_sampled_stacks stacks;
	uint32_t *order;   /* sums, most time first */
	uint32_t *numbers; /* of a frame on the page, plus 1; 0: none of its stacks is there */
	uint32_t *shown;   /* frames, by that number */
	uint32_t count, shown_count;
	uint64_t left_out_ns;
};

SP_ORDER_IN(compare_sums, uint32_t, struct sp_sample_sums,
	    SP_COMPARE(in[*y].ns, in[*x].ns) ?: SP_COMPARE(*x, *y))

/* Returns the number of the stack's frames. */
static uint32_t take_frames(struct flame *f, const struct sp_sample_sums *sums)
{
	uint32_t frames[SP_SAMPLE_DEPTH_MAX + 1];
	uint32_t n = sp_sampled_stacks_get(&f->stacks, sums, frames);

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
}

static void put_frames(const struct flame *f, struct sp_json *j)
{
	struct sp_frame_text text;

	sp_json_open(j, "frames", '[');
	for (uint32_t i = 0; i < f->shown_count; i++) {
		sp_sampled_stacks_text(&f->stacks, f->shown[i], &text);
		sp_text_shorten_path(text.file, FILE_WIDTH);
		sp_json_open(j, NULL, '{');
		sp_json_string(j, "name", text.name, strlen(text.name));
		if (*text.file) {
			sp_json_string(j, "file", text.file, strlen(text.file));
			sp_json_count(j, "line", text.first_line);
		}
		sp_json_close(j, '}');
	}
	sp_json_close(j, ']');
}

static void put_stacks(const struct flame *f, struct sp_json *j)
{
	uint32_t frames[SP_SAMPLE_DEPTH_MAX + 1];

	sp_json_open(j, "stacks", '[');
	for (uint32_t i = 0; i < f->count; i++) {
		const struct sp_sample_sums *sums = &f->stacks.spread.sums[f->order[i]];

		sp_json_open(j, NULL, '{');
		sp_json_count(j, "phase", sums->phase);
		sp_json_count(j, "ns", sums->ns);
		sp_json_open(j, "frames", '[');
		for (uint32_t k = sp_sampled_stacks_get(&f->stacks, sums, frames); k > 0; k--)
			sp_json_count(j, NULL, f->numbers[frames[k - 1]] - 1);
		sp_json_close(j, ']');
		sp_json_close(j, '}');
	}
	sp_json_close(j, ']');
}

static void put_all(const struct flame *f, struct sp_json *j)
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
	if (!f.order || !f.numbers || !f.shown)
		r = -ENOMEM;
	if (r == 0) {
		choose(&f);
		put_all(&f, j);
	}
	sp_sampled_stacks_finish(&f.stacks);
	free(f.order);
	free(f.numbers);
	free(f.shown);
	return r;
}

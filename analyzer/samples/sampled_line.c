/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/samples/sampled_line.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/each.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"

#define SAMPLES_LEAST 30u
#define SAMPLES_FEWEST 8u /* of a function that takes most of the time */
#define MOST_SURE 0.98	  /* half the width of a share's interval (95%) of one sample, at a half */
#define SHARE_LEAST 0.1
#define SHARE_CLEAR 0.25 /* of a function with what it calls in packages */
#define SHARE_CALLER 0.5 /* of a function with all that it calls */
#define CALLEE_LEAST 0.5 /* of the function's time */
#define CALLER_LEAST 0.9 /* of the function's time */
#define OUTSIDE_MOST 0.5 /* of its time there: longer in other parts is the loop's own function */
#define NO_FRAME UINT32_MAX

/* Whose lines are taken: the program's; where it has none, those of packages. */
enum whose { OF_PROGRAM, OF_PACKAGES, WHOSE };

struct line_search {
	const struct sp_samples *samples;
	enum sp_sampled_part part;
	bool by_workers; /* make the batches */
	enum whose whose;
	uint64_t *by_text, *inner; /* time of functions, by the text of their frames; inner: with no
				      other one of `whose` inside */
	uint64_t *by_line;	   /* of the function that was chosen, by frame */
	uint32_t *seen;		   /* number of the last stack that a text was counted for */
	bool *is_taken;		   /* frames of `whose` */
	uint64_t ns, taken;
};

static const char *text_of(const struct sp_samples *samples, uint32_t frame, size_t *ret_bytes)
{
	return sp_string_table_text(&samples->texts, samples->frames[frame].text, ret_bytes);
}

/* Returns the bytes of the file's name; 0: the frame has no file. */
static size_t file_of(const struct sp_samples *samples, uint32_t frame, const char **ret)
{
	size_t bytes;
	const char *text = text_of(samples, frame, &bytes), *tab = memchr(text, '\t', bytes);

	*ret = text;
	return tab && *text != '<' ? (size_t)(tab - text) : 0;
}

static bool has_part(const char *text, size_t bytes, const char *part)
{
	return memmem(text, bytes, part, strlen(part)) != NULL;
}

static bool is_of_package(const char *file, size_t bytes)
{
	return has_part(file, bytes, "/site-packages/") || has_part(file, bytes, "/dist-packages/");
}

/* Neither Python's own library nor what only hands batches on. */
static bool is_of(enum whose whose, const struct sp_samples *samples, uint32_t frame)
{
	const char *file;
	size_t bytes = file_of(samples, frame, &file);
	bool is_package = is_of_package(file, bytes);

	if (!bytes || (!is_package && has_part(file, bytes, "/lib/python3")))
		return false;
	return whose == OF_PROGRAM ? !is_package : !has_part(file, bytes, "/torch/utils/data/");
}

static bool is_loader(const struct sp_samples *samples, uint32_t frame)
{
	const char *file;
	size_t bytes = file_of(samples, frame, &file);

	return has_part(file, bytes, "/torch/utils/data/");
}

static bool is_workers(enum sp_sample_phase phase)
{
	return phase == SP_SAMPLE_FETCH || phase == SP_SAMPLE_DECODE ||
	       phase == SP_SAMPLE_TRANSFORM || phase == SP_SAMPLE_COLLATE;
}

static const uint32_t *frames_of(const struct sp_samples *samples,
				 const struct sp_sample_sums *sums, uint32_t *ret_count)
{
	const struct sp_sampled_stack *stack = &samples->stacks[sums->stack];

	*ret_count = stack->frames;
	return samples->frame_numbers + stack->frame_at;
}

/* The loader asks its sampler for the indices of a batch. */
static bool asks_sampler(const struct sp_samples *samples, const struct sp_sample_sums *sums)
{
	static const char name[] = "._next_index";
	uint32_t count;
	const uint32_t *frames = frames_of(samples, sums, &count);
	bool asks = false;

	for (uint32_t i = 0; i < count && !asks; i++) {
		size_t bytes, end = sizeof(name) - 1;
		const char *text = text_of(samples, frames[i], &bytes);

		asks = bytes > end && memcmp(text + bytes - end, name, end) == 0 &&
		       is_loader(samples, frames[i]);
	}
	return asks;
}

#define BATCHES                                                                                    \
	(s->by_workers ? is_workers(sums->phase)                                                   \
		       : sums->phase == SP_SAMPLE_ACCOUNT + SP_ACCOUNT_loader_wait)
#define AT(row) (sums->phase == SP_SAMPLE_ACCOUNT + SP_ACCOUNT_##row)
#define ALL true
#define CALLS (sums->call || sums->phase == SP_SAMPLE_DECODE)
#define SAMPLER asks_sampler(s->samples, sums)
#define OWN (!CALLS && sums->phase != SP_SAMPLE_COLLATE)

/* How samples belong to the part that is searched. */
struct belonging {
	bool is_in, names_line;
};

static struct belonging belonging_of(const struct line_search *s, const struct sp_sample_sums *sums)
{
	switch (s->part) {
#define SP_SAMPLED_PART(name, whole, named, caller, of)                                            \
	case SP_SAMPLED_##name:                                                                    \
		return (struct belonging){whole, (whole) && (named)};
#include "analyzer/samples/sampled_part.def"
	case SP_SAMPLED_PARTS:
		break;
	}
	return (struct belonging){false, false};
}

#define ALONE false
#define CALLED true

static bool has_caller(enum sp_sampled_part part)
{
	static const bool are_called[] = {
#define SP_SAMPLED_PART(name, whole, named, caller, of) caller,
#include "analyzer/samples/sampled_part.def"
	};

	return are_called[part];
}

static const char *part_of(const struct line_search *s)
{
	static const char *const of_parts[] = {
#define SP_SAMPLED_PART(name, whole, named, caller, of) of,
#include "analyzer/samples/sampled_part.def"
	};
	const char *of = of_parts[s->part];

	return of ? of : s->by_workers ? N_("making batches") : N_("the input wait");
}

const char *sp_sampled_part_name(enum sp_sampled_part part)
{
	static const char *const names[] = {
#define SP_SAMPLED_PART(name, whole, named, caller, of) #name,
#include "analyzer/samples/sampled_part.def"
	};

	return part < SP_SAMPLED_PARTS ? names[part] : NULL;
}

bool sp_sampled_part_is_whole(enum sp_sampled_part part)
{
	static const char *const named_by[] = {
#define SP_SAMPLED_PART(name, whole, named, caller, of) #named,
#include "analyzer/samples/sampled_part.def"
	};

	return strcmp(named_by[part], "ALL") == 0;
}

/* Adds the time of one stack to its functions, each once. */
static void add_stack(struct line_search *s, const struct sp_sample_sums *sums, uint32_t number)
{
	uint32_t count;
	const uint32_t *frames = frames_of(s->samples, sums, &count);
	bool is_inner = true;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t text = s->samples->frames[frames[i]].text;

		if (!s->is_taken[frames[i]])
			continue;
		s->inner[text] += is_inner ? sums->ns : 0;
		is_inner = false;
		s->by_text[text] += s->seen[text] == number ? 0 : sums->ns;
		s->seen[text] = number;
	}
}

static void add_stacks(struct line_search *s)
{
	s->ns = s->taken = 0;
	for (uint32_t i = 0; i < s->samples->table.count; i++) {
		const struct sp_sample_sums *sums = &s->samples->table.sums[i];
		struct belonging belonging = belonging_of(s, sums);

		if (!belonging.is_in)
			continue;
		s->ns += sums->ns;
		s->taken += sums->samples;
		if (belonging.names_line)
			add_stack(s, sums, i + 1);
	}
}

/* The function in which most time is; where it is spread over many, the innermost one with half of
 * it. Returns a text; 0: none. */
static uint32_t choose(const struct line_search *s)
{
	uint32_t most = 0, caller = 0;

	for (uint32_t text = 1; text < s->samples->texts.count; text++) {
		if (s->inner[text] > s->inner[most])
			most = text;
		if ((double)s->by_text[text] >= SHARE_CALLER * (double)s->ns &&
		    (!caller || s->by_text[text] < s->by_text[caller]))
			caller = text;
	}
	if (caller && (double)s->inner[most] < SHARE_CLEAR * (double)s->ns)
		return caller;
	return (double)s->inner[most] >= SHARE_LEAST * (double)s->ns ? most : 0;
}

/* Points to the innermost frame of the function, and returns the number of frames inside of it;
 * NO_FRAME: the samples do not count, or are not in the function. */
static uint32_t place_in(const struct line_search *s, const struct sp_sample_sums *sums,
			 uint32_t function, const uint32_t **ret)
{
	uint32_t count, i = 0;
	const uint32_t *frames = frames_of(s->samples, sums, &count);

	if (!belonging_of(s, sums).names_line)
		return NO_FRAME;
	while (i < count && s->samples->frames[frames[i]].text != function)
		i++;
	*ret = frames + i;
	return i < count ? i : NO_FRAME;
}

/* The frame of the function with most time. */
static uint32_t line_of(const struct line_search *s, uint32_t function)
{
	uint32_t best = 0;

	for (uint32_t i = 0; i < s->samples->table.count; i++) {
		const struct sp_sample_sums *sums = &s->samples->table.sums[i];
		const uint32_t *at;

		if (place_in(s, sums, function, &at) == NO_FRAME)
			continue;
		s->by_line[*at] += sums->ns;
		if (s->by_line[*at] > s->by_line[best])
			best = *at;
	}
	return best;
}

/* The function of a package that this one calls. A loader stands between the loop's line and the
 * functions that work for it: then it is the innermost one. */
static uint32_t callee_in(const struct line_search *s, const uint32_t *at, uint32_t inside)
{
	uint32_t direct = inside ? at[-1] : NO_FRAME;

	if (direct == NO_FRAME || is_of(OF_PROGRAM, s->samples, direct))
		return NO_FRAME;
	return is_loader(s->samples, direct) ? *(at - inside) : direct;
}

/* Returns a frame, or NO_FRAME where no callee takes half of the function's time. */
static uint32_t callee_of(struct line_search *s, uint32_t function, double *ret_share)
{
	uint32_t best = NO_FRAME;
	uint64_t whole = 0;

	memset(s->by_text, 0, s->samples->texts.count * sizeof(*s->by_text));
	for (uint32_t i = 0; i < s->samples->table.count; i++) {
		const struct sp_sample_sums *sums = &s->samples->table.sums[i];
		const uint32_t *at;
		uint32_t callee, inside = place_in(s, sums, function, &at);

		if (inside == NO_FRAME)
			continue;
		whole += sums->ns;
		callee = callee_in(s, at, inside);
		if (callee == NO_FRAME)
			continue;
		s->by_text[s->samples->frames[callee].text] += sums->ns;
		if (best == NO_FRAME || s->by_text[s->samples->frames[callee].text] >
						s->by_text[s->samples->frames[best].text])
			best = callee;
	}
	if (best == NO_FRAME)
		return best;
	*ret_share = (double)s->by_text[s->samples->frames[best].text] / (double)whole;
	return *ret_share >= CALLEE_LEAST ? best : NO_FRAME;
}

/* The loop's own function is in other parts of the steps, too. */
static bool is_of_loop(const struct line_search *s, uint32_t function)
{
	uint64_t outside = 0;

	for (uint32_t i = 0; i < s->samples->table.count; i++) {
		const struct sp_sample_sums *sums = &s->samples->table.sums[i];
		uint32_t count, k = 0;
		const uint32_t *frames = frames_of(s->samples, sums, &count);

		while (k < count && s->samples->frames[frames[k]].text != function)
			k++;
		outside += k < count && sums->phase >= SP_SAMPLE_ACCOUNT &&
					   !belonging_of(s, sums).is_in
				   ? sums->ns
				   : 0;
	}
	return (double)outside > OUTSIDE_MOST * (double)s->by_text[function];
}

/* The frame of the program that calls the function; NO_FRAME: several do, or none. */
static uint32_t caller_of(struct line_search *s, uint32_t function)
{
	uint32_t best = NO_FRAME;
	uint64_t whole = 0;

	memset(s->by_line, 0, s->samples->frame_count * sizeof(*s->by_line));
	for (uint32_t i = 0; i < s->samples->table.count; i++) {
		const struct sp_sample_sums *sums = &s->samples->table.sums[i];
		const uint32_t *at;
		uint32_t count, inside = place_in(s, sums, function, &at);

		if (inside == NO_FRAME)
			continue;
		whole += sums->ns;
		frames_of(s->samples, sums, &count);
		while (++inside < count &&
		       (!s->is_taken[*++at] || s->samples->frames[*at].text == function))
			;
		if (inside >= count)
			continue;
		s->by_line[*at] += sums->ns;
		if (best == NO_FRAME || s->by_line[*at] > s->by_line[best])
			best = *at;
	}
	return best != NO_FRAME && (double)s->by_line[best] >= CALLER_LEAST * (double)whole
		       ? best
		       : NO_FRAME;
}

static void put_place(char ret[SP_LINE_PLACE_BYTES], const struct sp_samples *samples,
		      uint32_t frame, uint32_t line)
{
	size_t bytes, from;
	const char *text = text_of(samples, frame, &bytes);
	const char *tab = memchr(text, '\t', bytes);
	char name[SP_LINE_PLACE_BYTES / 2], file[SP_LINE_PLACE_BYTES / 2];

	if (!tab)
		tab = text + bytes;
	from = sp_text_path_from(text, (size_t)(tab - text));
	sp_text_escape(file, sizeof(file), text + from, (size_t)(tab - text) - from);
	sp_text_escape(name, sizeof(name), tab + (tab < text + bytes),
		       (size_t)(text + bytes - tab) - (tab < text + bytes));
	snprintf(ret, SP_LINE_PLACE_BYTES, "%.100s (%.100s:%" PRIu32 ")", name, file, line);
}

static void put_caller(struct sp_sampled_line *ret, struct line_search *s, uint32_t function)
{
	uint32_t caller = NO_FRAME;

	if (has_caller(s->part) && s->whose == OF_PROGRAM && !is_of_loop(s, function))
		caller = caller_of(s, function);
	if (caller != NO_FRAME)
		put_place(ret->caller, s->samples, caller, s->samples->frames[caller].line);
}

static void tell(struct sp_sampled_line *ret, struct line_search *s, uint32_t function)
{
	double share = (double)s->by_text[function] / (double)s->ns;
	uint32_t callee;

	ret->samples = s->taken;
	ret->is_rough = s->taken < SAMPLES_LEAST;
	ret->share = share;
	ret->of = part_of(s);
	ret->frame = line_of(s, function);
	put_place(ret->place, s->samples, ret->frame, s->samples->frames[ret->frame].line);
	put_caller(ret, s, function);
	callee = callee_of(s, function, &share);
	if (callee == NO_FRAME || ret->is_rough)
		return;
	ret->callee_share = share;
	put_place(ret->callee, s->samples, callee, s->samples->frames[callee].first_line);
}

static bool has_workers(const struct sp_samples *samples)
{
	return SP_ANY(i, samples->table.count, is_workers(samples->table.sums[i].phase));
}

/* Few samples show no more than that a function takes most of the time. */
static bool is_shown(const struct line_search *s, uint32_t function)
{
	double share = (double)s->by_text[function] / (double)s->ns;

	return s->taken >= SAMPLES_LEAST || share >= 0.5 + MOST_SURE / sqrt((double)s->taken);
}

static void find(struct sp_sampled_line *ret, struct line_search *s)
{
	uint32_t texts = s->samples->texts.count;

	for (int whose = OF_PROGRAM; whose < WHOSE; whose++) {
		uint32_t function;

		s->whose = (enum whose)whose;
		memset(s->by_text, 0, texts * sizeof(*s->by_text));
		memset(s->inner, 0, texts * sizeof(*s->inner));
		memset(s->seen, 0, texts * sizeof(*s->seen));
		for (uint32_t i = 0; i < s->samples->frame_count; i++)
			s->is_taken[i] = is_of(s->whose, s->samples, i);
		add_stacks(s);
		function = s->taken >= SAMPLES_FEWEST ? choose(s) : 0;
		if (function && is_shown(s, function)) {
			tell(ret, s, function);
			return;
		}
	}
}

int sp_sampled_line_find(struct sp_sampled_line *ret, const struct sp_samples *samples,
			 enum sp_sampled_part part)
{
	size_t texts = samples->texts.count + 1u;
	struct line_search s = {
		.samples = samples,
		.part = part,
		.by_workers = has_workers(samples),
		.by_text = malloc(texts * sizeof(*s.by_text)),
		.inner = malloc(texts * sizeof(*s.inner)),
		.seen = malloc(texts * sizeof(*s.seen)),
		.by_line = calloc(samples->frame_count + 1u, sizeof(*s.by_line)),
		.is_taken = malloc(samples->frame_count + 1u),
	};
	int r = s.by_text && s.inner && s.seen && s.by_line && s.is_taken ? 0 : -ENOMEM;

	*ret = (struct sp_sampled_line){.samples = 0};
	if (r == 0)
		find(ret, &s);
	free(s.by_text);
	free(s.inner);
	free(s.seen);
	free(s.by_line);
	free(s.is_taken);
	return r;
}

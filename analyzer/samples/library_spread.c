/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/samples/library_spread.h"

#include <errno.h>
#include <stdlib.h>
#include <uthash.h>

#include "analyzer/base/hash_free.h"

#define LIBRARIES_MAX 16u /* of one function; a trace may name any number */

struct asked_function {
	struct {
		uint32_t phase, text; /* of the innermost frame */
	} key;
	uint64_t looks;
	struct {
		uint32_t object;
		uint64_t looks;
	} libraries[LIBRARIES_MAX];
	uint32_t count;
	UT_hash_handle hh;
};

struct spreading {
	const struct sp_samples *samples;
	struct sp_sample_table *ret;
	struct asked_function *functions;
};

static uint32_t innermost(const struct sp_samples *samples, uint32_t stack)
{
	const struct sp_sampled_stack *s = &samples->stacks[stack];

	return s->frames ? samples->frames[samples->frame_numbers[s->frame_at]].text : 0;
}

static struct asked_function *function_of(const struct spreading *s,
					  const struct sp_sample_sums *sums)
{
	struct asked_function *function, key = {.key.phase = (uint32_t)sums->phase};

	key.key.text = innermost(s->samples, sums->stack);
	HASH_FIND(hh, s->functions, &key.key, sizeof(key.key), function);
	return function;
}

static struct asked_function *function_add(struct spreading *s, const struct sp_sample_sums *sums)
{
	struct asked_function *function = function_of(s, sums);

	if (function)
		return function;
	function = calloc(1, sizeof(*function));
	if (!function)
		return NULL;
	function->key.phase = (uint32_t)sums->phase;
	function->key.text = innermost(s->samples, sums->stack);
	HASH_ADD(hh, s->functions, key, sizeof(function->key), function);
	return function;
}

static int add_asked(struct spreading *s, const struct sp_sample_sums *sums)
{
	struct asked_function *function = function_add(s, sums);
	uint32_t i = 0;

	if (!function)
		return -ENOMEM;
	while (i < function->count && function->libraries[i].object != sums->object)
		i++;
	if (i == LIBRARIES_MAX)
		return 0;
	function->libraries[i].object = sums->object;
	function->libraries[i].looks += sums->samples;
	function->looks += sums->samples;
	function->count += i == function->count;
	return 0;
}

uint64_t sp_asked_division_next(struct sp_asked_division *division, uint64_t looks)
{
	double share;
	uint64_t part;

	division->looks += looks;
	share = (double)division->looks / (double)division->asked;
	part = (uint64_t)((double)division->whole * share) - division->given;
	division->given += part;
	return part;
}

static int divide(struct spreading *s, const struct sp_sample_sums *whole,
		  const struct asked_function *function)
{
	struct sp_asked_division samples = {.whole = whole->samples, .asked = function->looks};
	struct sp_asked_division ns = {.whole = whole->ns, .asked = function->looks};
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < function->count; i++) {
		struct sp_sample_sums sums = *whole;

		sums.object = function->libraries[i].object;
		sums.samples = sp_asked_division_next(&samples, function->libraries[i].looks);
		sums.ns = sp_asked_division_next(&ns, function->libraries[i].looks);
		r = sp_sample_table_add(s->ret, &sums);
	}
	return r;
}

static int spread_all(struct spreading *s)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < s->samples->table.count; i++)
		if (s->samples->table.sums[i].object && !s->samples->table.sums[i].call)
			r = add_asked(s, &s->samples->table.sums[i]);
	for (uint32_t i = 0; r >= 0 && i < s->samples->table.count; i++) {
		const struct sp_sample_sums *sums = &s->samples->table.sums[i];
		const struct asked_function *function = function_of(s, sums);
		bool is_unasked = !sums->object && !sums->call && !sums->is_waiting;

		r = is_unasked && function && function->looks >= SP_LIBRARY_ASKED_MIN
			    ? divide(s, sums, function)
			    : sp_sample_table_add(s->ret, sums);
	}
	return r < 0 ? r : 0;
}

int sp_library_spread(struct sp_sample_table *ret, const struct sp_samples *samples)
{
	struct spreading s = {.samples = samples, .ret = ret};
	int r;

	*ret = (struct sp_sample_table){.most = UINT32_MAX};
	r = spread_all(&s);
	SP_HASH_FREE(s.functions);
	sp_sample_table_close(ret);
	return r;
}

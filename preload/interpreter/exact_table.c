/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/interpreter/exact_table.h"

#include <stddef.h>

/* A quarter stays free, so that a search ends soon. */
#define COUNT_MOST (SP_EXACT_FUNCTIONS / 4 * 3)

static uint32_t place_of(const struct sp_exact_table *table, const void *key)
{
	uint32_t at = ((uint32_t)((uintptr_t)key >> 4) + table->phase) * 2654435761u;

	at %= SP_EXACT_FUNCTIONS;
	while (table->functions[at].key &&
	       (table->functions[at].key != key || table->functions[at].phase != table->phase))
		at = (at + 1) % SP_EXACT_FUNCTIONS;
	return at;
}

static struct sp_exact_function *function_of(struct sp_exact_table *table, void *key, int is_c,
					     uint32_t *ret_at, int *ret_is_new)
{
	uint32_t at = place_of(table, key);

	*ret_at = at;
	*ret_is_new = !table->functions[at].key;
	if (table->functions[at].key)
		return &table->functions[at];
	if (table->count >= COUNT_MOST)
		return NULL;
	table->used[table->count++] = at;
	table->functions[at] = (struct sp_exact_function){.key = key,
							  .is_c = (uint32_t)is_c,
							  .phase = table->phase};
	return &table->functions[at];
}

void sp_exact_charge(struct sp_exact_table *table, uint64_t now)
{
	struct sp_exact_function *function;
	uint64_t ticks = now - table->last;

	table->events++;
	if (!table->depth)
		return;
	function = &table->functions[table->stack[table->depth - 1].function];
	function->own += ticks;
	function->fetch_own += ticks;
	function->own_spans++;
	table->run += ticks;
	table->spans++;
}

static struct sp_exact_function *begin(struct sp_exact_table *table, void *key, int is_c,
				       int *ret_is_new)
{
	struct sp_exact_function *function;
	uint32_t at;

	function = key && table->depth < SP_EXACT_DEPTH
			   ? function_of(table, key, is_c, &at, ret_is_new)
			   : NULL;
	if (!function) {
		table->is_full = 1;
		return NULL;
	}
	function->open++;
	table->stack[table->depth].function = at;
	table->stack[table->depth].run = table->run;
	table->stack[table->depth].spans = table->spans;
	table->depth++;
	return function;
}

int sp_exact_push(struct sp_exact_table *table, void *key, int is_c, uint64_t now)
{
	struct sp_exact_function *function;
	int is_new = 0;

	sp_exact_charge(table, now);
	function = begin(table, key, is_c, &is_new);
	if (!function)
		return 0;
	function->calls++;
	function->fetch_calls++;
	return is_new;
}

int sp_exact_open(struct sp_exact_table *table, void *key)
{
	int is_new = 0;

	begin(table, key, 0, &is_new);
	return is_new;
}

/* A function that calls itself has the time of its outermost call. */
static void end(struct sp_exact_table *table)
{
	struct sp_exact_function *function;

	table->depth--;
	function = &table->functions[table->stack[table->depth].function];
	if (--function->open)
		return;
	function->total += table->run - table->stack[table->depth].run;
	function->total_spans += table->spans - table->stack[table->depth].spans;
}

void sp_exact_pop(struct sp_exact_table *table, const void *key, uint64_t now)
{
	sp_exact_charge(table, now);
	if (table->depth && table->functions[table->stack[table->depth - 1].function].key == key)
		end(table);
}

void sp_exact_close(struct sp_exact_table *table, uint64_t now)
{
	sp_exact_charge(table, now);
	while (table->depth)
		end(table);
}

void sp_exact_fetch_end(struct sp_exact_table *table)
{
	for (uint32_t i = 0; i < table->count; i++) {
		struct sp_exact_function *function = &table->functions[table->used[i]];
		uint64_t us = function->fetch_own / table->ticks_in_us;

		function->calls_squares += function->fetch_calls * function->fetch_calls;
		function->own_squares += us * us;
		function->fetch_calls = function->fetch_own = 0;
	}
}

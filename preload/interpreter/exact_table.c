/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/interpreter/exact_table.h"

#include <stddef.h>

/* A quarter stays free, so that a search ends soon. */
#define COUNT_MOST (SP_EXACT_FUNCTIONS / 4 * 3)

static struct sp_exact_function *function_of(struct sp_exact_table *table, void *key, int is_c,
					     uint32_t *ret_at, int *ret_is_new)
{
	uint32_t at = (uint32_t)(((uintptr_t)key >> 4) * 2654435761u) % SP_EXACT_FUNCTIONS;

	while (table->functions[at].key && table->functions[at].key != key)
		at = (at + 1) % SP_EXACT_FUNCTIONS;
	*ret_at = at;
	*ret_is_new = !table->functions[at].key;
	if (table->functions[at].key)
		return &table->functions[at];
	if (table->count >= COUNT_MOST)
		return NULL;
	table->used[table->count++] = at;
	table->functions[at] = (struct sp_exact_function){.key = key, .is_c = (uint32_t)is_c};
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

int sp_exact_push(struct sp_exact_table *table, void *key, int is_c, uint64_t now)
{
	struct sp_exact_function *function;
	int is_new = 0;
	uint32_t at;

	sp_exact_charge(table, now);
	function = key && table->depth < SP_EXACT_DEPTH
			   ? function_of(table, key, is_c, &at, &is_new)
			   : NULL;
	if (!function) {
		table->is_full = 1;
		return 0;
	}
	function->calls++;
	function->fetch_calls++;
	function->open++;
	table->stack[table->depth].function = at;
	table->stack[table->depth].run = table->run;
	table->stack[table->depth].spans = table->spans;
	table->depth++;
	return is_new;
}

/* A function that calls itself has the time of its outermost call. */
void sp_exact_pop(struct sp_exact_table *table, uint64_t now)
{
	struct sp_exact_function *function;

	sp_exact_charge(table, now);
	if (!table->depth)
		return;
	table->depth--;
	function = &table->functions[table->stack[table->depth].function];
	if (--function->open)
		return;
	function->total += table->run - table->stack[table->depth].run;
	function->total_spans += table->spans - table->stack[table->depth].spans;
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/function_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/hash_free.h"
#include "analyzer/samples/library_spread.h"

#define FILES_MAX (1u << 16)

struct row_place {
	struct sp_function_key key;
	uint32_t at;
	UT_hash_handle hh;
};

/* The looks at one row in one library. */
struct library_place {
	struct {
		uint32_t row, object;
	} key;
	uint64_t ns;
	UT_hash_handle hh;
};

static struct sp_function_row *row_of(struct sp_function_table *rows, struct sp_function_key key)
{
	struct sp_function_row *list;
	struct row_place *place;

	HASH_FIND(hh, rows->places, &key, sizeof(key), place);
	if (place)
		return &rows->list[place->at];
	list = sp_list_grow(rows->list, rows->count, &rows->room, sizeof(*list));
	place = calloc(1, sizeof(*place));
	if (list)
		rows->list = list;
	if (!list || !place) {
		free(place);
		return NULL;
	}
	place->key = key;
	place->at = rows->count;
	HASH_ADD(hh, rows->places, key, sizeof(place->key), place);
	list[rows->count] = (struct sp_function_row){.key = key};
	return &list[rows->count++];
}

static uint32_t file_of(struct sp_function_table *rows, uint32_t number)
{
	size_t bytes;
	const char *text = sp_string_table_text(&rows->samples->texts, number, &bytes);
	const char *tab = memchr(text, '\t', bytes);

	return sp_string_table_add(&rows->files, text, tab ? (size_t)(tab - text) : bytes);
}

static struct sp_function_key key_of(struct sp_function_table *rows, uint32_t frame, uint32_t phase)
{
	const struct sp_sampled_frame *f = &rows->samples->frames[frame];
	struct sp_function_key key = {.text = f->text, .line = f->first_line, .phase = phase};

	if (rows->by == SP_ROWS_LINE)
		key.line = f->line;
	if (rows->by == SP_ROWS_MODULE)
		key = (struct sp_function_key){.text = file_of(rows, f->text), .phase = phase};
	return key;
}

static struct library_place *library_place_of(struct sp_function_table *rows,
					      const struct sp_function_row *row, uint32_t library)
{
	struct library_place *place,
		key = {.key = {.row = (uint32_t)(row - rows->list), .object = library}};

	HASH_FIND(hh, rows->libraries, &key.key, sizeof(key.key), place);
	if (place)
		return place;
	place = calloc(1, sizeof(*place));
	if (!place)
		return NULL;
	place->key = key.key;
	HASH_ADD(hh, rows->libraries, key, sizeof(place->key), place);
	return place;
}

/* Without memory the row has no library. */
static void add_library(struct sp_function_table *rows, struct sp_function_row *row,
			const struct sp_sample_sums *sums)
{
	struct library_place *place =
		sums->object ? library_place_of(rows, row, sums->object) : NULL;

	if (!place)
		return;
	place->ns += sums->ns;
	row->known_ns += sums->ns;
	if (place->ns > row->library_ns) {
		row->library_ns = place->ns;
		row->object = sums->object;
	}
}

static void add_own(struct sp_function_table *rows, struct sp_function_row *row,
		    const struct sp_sample_sums *sums)
{
	add_library(rows, row, sums);
	row->samples += sums->samples;
	row->own_ns += sums->ns;
	row->waited_ns += sums->is_waiting ? sums->ns : 0;
}

/* A function that is on a stack several times has the stack's time once. */
static void add_total(struct sp_function_row *row, const struct sp_sample_sums *sums,
		      uint32_t number)
{
	if (row->seen != number)
		row->total_ns += sums->ns;
	row->seen = number;
}

/* Time in a recorded call has a row of the call, but its module is the caller's. */
static int add_call(struct sp_function_table *rows, const struct sp_sample_sums *sums,
		    uint32_t number)
{
	struct sp_function_key key = {.text = sums->call, .phase = sums->phase};
	struct sp_function_row *row = row_of(rows, key);

	if (!row)
		return -ENOMEM;
	add_own(rows, row, sums);
	add_total(row, sums, number);
	return 0;
}

/* One row a library, and one without a library for threads that did not run. */
static int add_library_row(struct sp_function_table *rows, const struct sp_sample_sums *sums,
			   uint32_t number)
{
	struct sp_function_key key = {.text = sums->object,
				      .line = sums->is_waiting && !sums->object,
				      .phase = sums->phase};
	struct sp_function_row *row = row_of(rows, key);

	if (!row)
		return -ENOMEM;
	add_own(rows, row, sums);
	add_total(row, sums, number);
	rows->all_ns += sums->ns;
	return 0;
}

static int add_stack(struct sp_function_table *rows, const struct sp_sample_sums *sums,
		     uint32_t number)
{
	const struct sp_sampled_stack *stack = &rows->samples->stacks[sums->stack];
	bool in_call = sums->call && rows->by != SP_ROWS_MODULE;
	uint32_t frames = stack->frames ? stack->frames : 1;

	if (rows->by == SP_ROWS_LIBRARY)
		return add_library_row(rows, sums, number);
	if (in_call && add_call(rows, sums, number) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < frames; i++) {
		uint32_t frame =
			stack->frames ? rows->samples->frame_numbers[stack->frame_at + i] : 0;
		struct sp_function_row *row = row_of(rows, key_of(rows, frame, sums->phase));

		if (!row)
			return -ENOMEM;
		if (i == 0 && !in_call)
			add_own(rows, row, sums);
		add_total(row, sums, number);
	}
	rows->all_ns += sums->ns;
	return 0;
}

static int add_stacks(struct sp_function_table *rows, unsigned phase)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < rows->samples->table.count; i++) {
		const struct sp_sample_sums *sums = &rows->samples->table.sums[i];

		if ((!phase || sums->phase + 1u == phase) && sp_sample_counts(sums))
			r = add_stack(rows, sums, i + 1);
	}
	return r;
}

/* The looks of a phase that know their library. */
struct asked_looks {
	uint64_t samples, ns;
};

static struct asked_looks asked_in(const struct sp_function_table *rows, uint32_t phase)
{
	struct asked_looks asked = {0};

	for (uint32_t i = 0; i < rows->count; i++) {
		const struct sp_function_row *row = &rows->list[i];

		if (row->key.phase == phase && row->key.text) {
			asked.samples += row->samples;
			asked.ns += row->library_ns;
		}
	}
	return asked;
}

/* True where the libraries of the phase have the time of `unasked`, which has none then. */
static bool spread(struct sp_function_table *rows, const struct sp_function_row *unasked)
{
	struct asked_looks asked = asked_in(rows, unasked->key.phase);
	struct sp_asked_division own = {.whole = unasked->own_ns, .asked = asked.samples};

	for (uint32_t i = 0; i < rows->count && asked.samples >= SP_LIBRARY_ASKED_MIN; i++) {
		struct sp_function_row *row = &rows->list[i];

		if (row->key.phase != unasked->key.phase || !row->key.text)
			continue;
		row->known_ns = asked.ns;
		row->own_ns += sp_asked_division_next(&own, row->samples);
		row->total_ns = row->own_ns;
	}
	return asked.samples >= SP_LIBRARY_ASKED_MIN;
}

/* Chance chose the looks that asked for their library, so they stand for the other looks of their
 * phase that found the thread running. */
static void spread_unasked(struct sp_function_table *rows)
{
	for (uint32_t i = rows->count; i > 0; i--) {
		struct sp_function_row unasked = rows->list[i - 1];

		if (unasked.key.text || unasked.key.line || !spread(rows, &unasked))
			continue;
		rows->list[i - 1] = rows->list[--rows->count];
		rows->is_spread = true;
	}
}

int sp_function_table_make(struct sp_function_table *table, unsigned phase)
{
	int r = sp_string_table_init(&table->files, FILES_MAX);

	if (r == 0)
		r = add_stacks(table, phase);
	if (table->by == SP_ROWS_LIBRARY)
		spread_unasked(table);
	return r;
}

void sp_function_table_finish(struct sp_function_table *table)
{
	sp_string_table_finish(&table->files);
	SP_HASH_FREE(table->places);
	SP_HASH_FREE(table->libraries);
	free(table->list);
}

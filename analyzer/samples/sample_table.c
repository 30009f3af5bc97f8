/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/samples/sample_table.h"

#include <errno.h>
#include <stdlib.h>
#include <uthash.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/hash_free.h"

struct sp_sample_place {
	struct {
		uint32_t stack, phase, object, call,
			is_waiting; /* no padding: bytes are compared */
	} key;
	uint32_t at;
	UT_hash_handle hh;
};

int sp_sample_table_add(struct sp_sample_table *table, const struct sp_sample_sums *sums)
{
	struct sp_sample_place *place, key = {.key = {.stack = sums->stack,
						      .phase = (uint32_t)sums->phase,
						      .object = sums->object,
						      .call = sums->call,
						      .is_waiting = sums->is_waiting}};
	struct sp_sample_sums *list;

	HASH_FIND(hh, table->places, &key.key, sizeof(key.key), place);
	if (place) {
		table->sums[place->at].samples += sums->samples;
		table->sums[place->at].ns += sums->ns;
		return 1;
	}
	if (table->count == table->most)
		return 0;
	list = sp_list_grow(table->sums, table->count, &table->room, sizeof(*list));
	if (list)
		table->sums = list;
	place = list ? calloc(1, sizeof(*place)) : NULL;
	if (!place)
		return -ENOMEM;
	place->key = key.key;
	place->at = table->count;
	HASH_ADD(hh, table->places, key, sizeof(place->key), place);
	list[table->count++] = *sums;
	return 1;
}

void sp_sample_table_close(struct sp_sample_table *table)
{
	SP_HASH_FREE(table->places);
}

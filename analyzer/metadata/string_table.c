/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metadata/string_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct sp_name {
	UT_hash_handle hh;
	uint32_t number;
	uint32_t bytes;
	char text[];
};

/* malloc adds this to each text. */
#define TEXT_MALLOC_BYTES 16u

bool sp_text_budget_take(struct sp_text_budget *budget, size_t bytes)
{
	if (!budget)
		return true;
	if (budget->left_bytes < bytes + TEXT_MALLOC_BYTES) {
		budget->refused++;
		return false;
	}
	budget->left_bytes -= bytes + TEXT_MALLOC_BYTES;
	return true;
}

int sp_string_table_init(struct sp_string_table *names, uint32_t max)
{
	*names = (struct sp_string_table){.count = 1, .room = 64, .max = max};
	names->list = calloc(names->room, sizeof(struct sp_name *));
	return names->list ? 0 : -ENOMEM;
}

void sp_string_table_finish(struct sp_string_table *names)
{
	HASH_CLEAR(hh, names->by_text);
	for (uint32_t i = 1; i < names->count; i++)
		free(names->list[i]);
	free(names->list);
	*names = (struct sp_string_table){.list = NULL};
}

static int grow(struct sp_string_table *names)
{
	struct sp_name **list;

	if (names->count < names->room)
		return 0;
	list = realloc(names->list, 2 * (size_t)names->room * sizeof(struct sp_name *));
	if (!list)
		return -ENOMEM;
	names->list = list;
	names->room *= 2;
	return 0;
}

uint32_t sp_string_table_add(struct sp_string_table *names, const char *text, size_t bytes)
{
	struct sp_name *name;

	if (bytes == 0)
		text = ""; /* NULL in a digest without names */
	HASH_FIND(hh, names->by_text, text, bytes, name);
	if (name)
		return name->number;
	if (names->count > names->max || grow(names) < 0 ||
	    !sp_text_budget_take(names->budget, sizeof(*name) + bytes + 1) ||
	    !(name = malloc(sizeof(*name) + bytes + 1))) {
		names->turned_away++;
		return SP_STRINGS_REST;
	}
	memcpy(name->text, text, bytes);
	name->text[bytes] = '\0';
	name->bytes = (uint32_t)bytes;
	name->number = names->count;
	HASH_ADD_KEYPTR(hh, names->by_text, name->text, bytes, name);
	names->list[names->count++] = name;
	return name->number;
}

const char *sp_string_table_text(const struct sp_string_table *names, uint32_t number,
				 size_t *ret_bytes)
{
	if (number == SP_STRINGS_REST || number >= names->count) {
		*ret_bytes = 0;
		return "";
	}
	*ret_bytes = names->list[number]->bytes;
	return names->list[number]->text;
}

#include "analyzer/names.h"

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

int sp_names_init(struct sp_names *names, uint32_t max)
{
	*names = (struct sp_names){.count = 1, .room = 64, .max = max};
	names->list = calloc(names->room, sizeof(struct sp_name *));
	return names->list ? 0 : -ENOMEM;
}

void sp_names_finish(struct sp_names *names)
{
	HASH_CLEAR(hh, names->by_text);
	for (uint32_t i = 1; i < names->count; i++)
		free(names->list[i]);
	free(names->list);
	*names = (struct sp_names){.list = NULL};
}

static int grow(struct sp_names *names)
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

uint32_t sp_names_add(struct sp_names *names, const char *text, size_t bytes)
{
	struct sp_name *name;

	HASH_FIND(hh, names->by_text, text, bytes, name);
	if (name)
		return name->number;
	if (names->count > names->max || grow(names) < 0 ||
	    !(name = malloc(sizeof(*name) + bytes + 1))) {
		names->turned_away++;
		return SP_NAMES_REST;
	}
	memcpy(name->text, text, bytes);
	name->text[bytes] = '\0';
	name->bytes = (uint32_t)bytes;
	name->number = names->count;
	HASH_ADD_KEYPTR(hh, names->by_text, name->text, bytes, name);
	names->list[names->count++] = name;
	return name->number;
}

const char *sp_names_text(const struct sp_names *names, uint32_t number, size_t *ret_bytes)
{
	if (number == SP_NAMES_REST || number >= names->count) {
		*ret_bytes = 0;
		return "";
	}
	*ret_bytes = names->list[number]->bytes;
	return names->list[number]->text;
}

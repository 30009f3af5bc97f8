/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/grow.h"

#include <stdlib.h>
#include <string.h>

void *sp_list_grow(void *list, uint32_t count, uint32_t *room, size_t bytes)
{
	uint32_t more = *room ? 2 * *room : 64;

	if (count < *room)
		return list;
	if (more < *room)
		return NULL;
	list = realloc(list, (size_t)more * bytes);
	if (list)
		*room = more;
	return list;
}

void *sp_list_add(void *list, uint32_t *count, uint32_t *room, size_t bytes)
{
	void *grown;

	memcpy(&grown, list, sizeof(grown));
	grown = sp_list_grow(grown, *count, room, bytes);
	if (!grown)
		return NULL;
	memcpy(list, &grown, sizeof(grown));
	return memset((char *)grown + bytes * (*count)++, 0, bytes);
}

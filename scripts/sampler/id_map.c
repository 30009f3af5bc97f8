/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/sampler/id_map.h"

#include <stdlib.h>

#define ROOM_FIRST 1024u

uint64_t sp_id_hash(uint64_t hash, const void *bytes, size_t count)
{
	const uint8_t *p = bytes;

	hash ^= UINT64_C(0xCBF29CE484222325);
	for (size_t i = 0; i < count; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001B3);
	hash ^= hash >> 29;
	return hash ? hash : 1;
}

static uint32_t place_of(const struct sp_id_map *map, uint64_t hash)
{
	uint32_t i = (uint32_t)(hash * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (map->room - 1);

	while (map->hashes[i] && map->hashes[i] != hash)
		i = (i + 1) & (map->room - 1);
	return i;
}

static int grow(struct sp_id_map *map)
{
	struct sp_id_map larger = {.room = map->room ? 2 * map->room : ROOM_FIRST};

	larger.hashes = calloc(larger.room, sizeof(*larger.hashes));
	larger.ids = calloc(larger.room, sizeof(*larger.ids));
	if (!larger.hashes || !larger.ids) {
		sp_id_map_finish(&larger);
		return -1;
	}
	for (uint32_t i = 0; i < map->room; i++)
		if (map->hashes[i]) {
			uint32_t to = place_of(&larger, map->hashes[i]);

			larger.hashes[to] = map->hashes[i];
			larger.ids[to] = map->ids[i];
		}
	larger.count = map->count;
	sp_id_map_finish(map);
	*map = larger;
	return 0;
}

uint32_t *sp_id_map_at(struct sp_id_map *map, uint64_t hash)
{
	uint32_t i;

	if (2 * (map->count + 1) > map->room && grow(map) < 0)
		return NULL;
	i = place_of(map, hash);
	if (!map->hashes[i]) {
		if (map->count == SP_ID_MAP_MAX)
			return NULL;
		map->hashes[i] = hash;
		map->count++;
	}
	return &map->ids[i];
}

void sp_id_map_finish(struct sp_id_map *map)
{
	free(map->hashes);
	free(map->ids);
	*map = (struct sp_id_map){0};
}

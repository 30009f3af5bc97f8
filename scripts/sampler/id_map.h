/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of 64-bit hashes. A map of all zeros is empty.
 */
#ifndef STAGEPROF_SAMPLER_ID_MAP_H
#define STAGEPROF_SAMPLER_ID_MAP_H

#include <stddef.h>
#include <stdint.h>

#define SP_ID_MAP_MAX (1u << 18)

struct sp_id_map {
	uint64_t *hashes; /* 0: free */
	uint32_t *ids;
	uint32_t room, count;
};

/* Hashes `bytes` on; begin with 0. */
uint64_t sp_id_hash(uint64_t hash, const void *bytes, size_t count);

/* The place of the hash's number, which is 0 where the hash is new. NULL: no memory, or more than
 * SP_ID_MAP_MAX hashes. */
uint32_t *sp_id_map_at(struct sp_id_map *map, uint64_t hash);

void sp_id_map_finish(struct sp_id_map *map);

#endif

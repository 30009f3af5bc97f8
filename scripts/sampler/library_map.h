/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The libraries of another process, by the addresses of their code: /proc/PID/maps as it was read
 * last.
 */
#ifndef STAGEPROF_SAMPLER_LIBRARY_MAP_H
#define STAGEPROF_SAMPLER_LIBRARY_MAP_H

#include <stdint.h>
#include <sys/types.h>

#define SP_LIBRARY_NAME_BYTES 96u

struct sp_code_range {
	uint64_t begin, end;
	uint32_t id;			  /* the caller's; 0 at first */
	char name[SP_LIBRARY_NAME_BYTES]; /* of its file without folders; "[anonymous]": none */
};

/* Zeros: nothing was read yet. */
struct sp_library_map {
	struct sp_code_range *list; /* by address */
	uint32_t count, room;
	uint64_t read_ns; /* CLOCK_MONOTONIC */
};

/* The library that has code at this address, or NULL. Reads the file where the address is new, at
 * most ten times a second. It stays until the next call. */
struct sp_code_range *sp_library_map_find(struct sp_library_map *map, pid_t pid, uint64_t address);

void sp_library_map_finish(struct sp_library_map *map);

#endif

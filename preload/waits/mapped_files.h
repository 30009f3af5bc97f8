/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mapping of an address at a time: the last 1,024 changes that the hooks see are noted, and
 * /proc/self/maps has the others (of a parent before fork, of the dynamic linker, of malloc). A
 * mapping that mremap moved keeps its note at the old place.
 */
#ifndef STAGEPROF_PRELOAD_MAPPED_FILES_H
#define STAGEPROF_PRELOAD_MAPPED_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/blocks/thread_slots.h"

/* For the hooks: a few stores, no system call, any thread, any handler. A file was mapped at these
 * addresses. */
void sp_mapped_note(const void *at, size_t bytes, uint32_t file);

/* A mapping at these addresses ends, and the next one may go unseen. Before the call, since another
 * thread may map a file there as soon as they are free. */
void sp_mapped_end(const void *at, size_t bytes);

/* True where a file with data was mapped by this process or by its parent: one that is no shared
 * memory of processes (a file on tmpfs). */
bool sp_mapped_any(void);

enum sp_mapping {
	SP_MAPPING_UNKNOWN,
	SP_MAPPING_ASK,	   /* unknown, but the kernel may know */
	SP_MAPPING_MEMORY, /* without a file, or of a file in memory */
	SP_MAPPING_FILE,
};

struct sp_mapped_place {
	uint64_t address, at; /* at: ticks */
};

/* No system call. ret_file: an id, or 0. */
enum sp_mapping sp_mapped_find(const struct sp_mapped_place *place, uint32_t *ret_file);

/* Reads /proc/self/maps once and notes what is mapped at the places. The caller blocks signals and
 * is outside of the hook path. */
void sp_mapped_ask(struct sp_thread *t, const struct sp_mapped_place *places, uint32_t count);

#endif

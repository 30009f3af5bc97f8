/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of an address: the last 1,024 mappings that mmap made are noted, and /proc/self/maps has
 * others (of a parent before fork, of the dynamic linker).
 */
#ifndef STAGEPROF_PRELOAD_MAPPED_FILES_H
#define STAGEPROF_PRELOAD_MAPPED_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/blocks/thread_slots.h"

/* A file was mapped at these addresses, or they were unmapped. For the hooks: a few stores, no
 * system call, any thread, any handler. */
void sp_mapped_note(const void *at, size_t bytes, uint32_t file);
void sp_mapped_end(const void *at, size_t bytes);

/* True where a file with data was mapped by this process or by its parent: one that is no shared
 * memory of processes (a file on tmpfs). */
bool sp_mapped_any(void);

/*
 * The id of the file that was mapped at an address at this time (ticks); 0: none is known. Where no
 * noted mapping fits and *reads_left is not 0, it reads /proc/self/maps and lessens *reads_left.
 * The caller blocks signals and is outside of the hook path.
 */
uint32_t sp_mapped_file(struct sp_thread *t, uint64_t address, uint64_t at, uint32_t *reads_left);

#endif

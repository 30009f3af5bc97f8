/*
 * Which file a descriptor is: a number that events carry as their arg. The top four bits are the file's
 * type (enum sp_file_type), so that an event tells its stage even where the definition was lost; the
 * rest counts up from 1 in each process image. 0: not known.
 *
 * A descriptor is met at its first use: one fstat and one readlink of /proc/thread-self/fd, and a definition in
 * the calling thread's stream. It is forgotten when it is closed. Lock-free; async-signal-safe; errno kept.
 * Descriptors of 4,194,304 and beyond are never known.
 */
#ifndef STAGEPROF_PRELOAD_FILES_H
#define STAGEPROF_PRELOAD_FILES_H

#include <stdint.h>

#include "preload/record.h"

#define SP_FILES_NEAR 1024u /* descriptors whose entries need no second table */

extern uint32_t *sp_files_near __attribute__((visibility("hidden"))); /* SP_FILES_NEAR entries; wiped by fork */

uint32_t sp_file_meet(struct sp_thread *t, int fd);

/* The same as sp_file_known(), of the near table alone. */
static inline uint32_t sp_file_near(int fd)
{
	if (sp_unlikely((uint32_t)fd >= SP_FILES_NEAR))
		return 0;
	return __atomic_load_n(&sp_files_near[fd], __ATOMIC_RELAXED);
}

/* The file behind a descriptor, or 0. */
static inline uint32_t sp_file_of(struct sp_thread *t, int fd)
{
	uint32_t file = sp_file_near(fd);

	return sp_likely(file != 0) ? file : sp_file_meet(t, fd);
}

/* The same without meeting it: what is known of fd now, 0 if nothing. */
uint32_t sp_file_known(int fd);

/* fd is closed, or has become another file. */
void sp_file_forget(int fd);
void sp_file_forget_range(unsigned first, unsigned last);

/* `to` is now the same open file as `from`. */
void sp_file_copy(int from, int to);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the memory of another process, which goes on running: what is read may be torn. Each call
 * is one system call.
 */
#ifndef STAGEPROF_SAMPLER_OTHER_MEMORY_H
#define STAGEPROF_SAMPLER_OTHER_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* Returns 0, -EPERM where the kernel refuses, -ESRCH where the process has ended, or -EFAULT where
 * not all bytes are there. */
int sp_other_read(pid_t pid, uint64_t address, void *ret, size_t bytes);

/* 0 where the word cannot be read. */
uint64_t sp_other_word(pid_t pid, uint64_t address);

#define SP_OTHER_PARTS_MAX 512u
#define SP_OTHER_BYTES_MAX (128u << 10)

/* Parts of a process's memory that are read at once. Some addresses are guesses: the parts from the
 * first one on that is not there are missing. */
struct sp_other_parts {
	pid_t pid;
	uint32_t count, bytes;
	uint32_t read; /* parts that are there */
	struct iovec here[SP_OTHER_PARTS_MAX], there[SP_OTHER_PARTS_MAX];
	uint8_t memory[SP_OTHER_BYTES_MAX];
};

void sp_other_parts_begin(struct sp_other_parts *parts, pid_t pid);

/* Does nothing where there is no room: then the part is missing. */
void sp_other_parts_add(struct sp_other_parts *parts, uint64_t address, size_t bytes);

/* Returns 0, or as sp_other_read() where no part is there. */
int sp_other_parts_read(struct sp_other_parts *parts);

/* The copy of bytes of one of the parts from `first` to before `end`; NULL: they are missing. */
const void *sp_other_parts_find(const struct sp_other_parts *parts, uint32_t first, uint32_t end,
				uint64_t address, size_t bytes);

#endif

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

/* Returns 0, -EPERM where the kernel refuses, -ESRCH where the process has ended, or -EFAULT where
 * not all bytes are there. */
int sp_other_read(pid_t pid, uint64_t address, void *ret, size_t bytes);

/* 0 where the word cannot be read. */
uint64_t sp_other_word(pid_t pid, uint64_t address);

#define SP_OTHER_PARTS_MAX 512u

/* Reads `bytes` at each address into ret, one after the other. As sp_other_read(). */
int sp_other_read_parts(pid_t pid, const uint64_t *addresses, uint32_t count, void *ret,
			size_t bytes);

#endif

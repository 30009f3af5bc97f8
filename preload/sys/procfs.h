/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small files of procfs, sysfs and cgroups, read by our own system calls. No errno, no libc. Only
 * inside sp_fd_private_task() if the host must not see the descriptor.
 */
#ifndef STAGEPROF_PRELOAD_PROCFS_H
#define STAGEPROF_PRELOAD_PROCFS_H

#include <stdint.h>

#define SP_PROCFS_BYTES 2048u

/* Reads the file's beginning; "" if there is none. */
void sp_procfs_read(const char *path, char ret[SP_PROCFS_BYTES]);

/* The number at *p, after blanks; UINT64_MAX: none. Moves *p past it. */
uint64_t sp_procfs_number(const char **p);

#endif

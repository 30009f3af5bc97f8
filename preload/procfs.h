/*
 * Small files of procfs, sysfs and cgroups, read by system calls of our own. No errno, no libc. Where a
 * descriptor would be the host's to see, inside sp_aside() only.
 */
#ifndef STAGEPROF_PRELOAD_PROCFS_H
#define STAGEPROF_PRELOAD_PROCFS_H

#include <stdint.h>

#define SP_PROCFS_BYTES 2048u

/* Reads the file's beginning; "" where there is none. */
void sp_procfs_read(const char *path, char ret[SP_PROCFS_BYTES]);

/* The number that *p begins with, after blanks; UINT64_MAX: none. *p is moved behind it. */
uint64_t sp_procfs_number(const char **p);

#endif

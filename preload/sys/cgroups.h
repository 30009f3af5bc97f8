/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of the control groups that this process is in, of both versions. Only inside of
 * sp_fd_private_task(): each function opens files. A container may see its own group as the root
 * only.
 */
#ifndef STAGEPROF_PRELOAD_CGROUPS_H
#define STAGEPROF_PRELOAD_CGROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "preload/sys/procfs.h"

struct sp_cgroup {
	const char *mount; /* "/sys/fs/cgroup/cpu" */
	const char *path;  /* "/a/b" below it; "": the root */
	int is_v2;
};

/* Visits the group of this controller and all groups above it, the innermost first. */
void sp_cgroups_visit(const char *controller, void (*visit)(const struct sp_cgroup *, void *),
		      void *argument);

/* The beginning of the group's file; "" if there is none. */
void sp_cgroup_read(const struct sp_cgroup *group, const char *file, char ret[SP_PROCFS_BYTES]);

/* The number after `key` and blanks at the beginning of a line, or anywhere where the key begins
 * with a blank; UINT64_MAX: none. */
uint64_t sp_cgroup_value(const char *text, const char *key);

/* The bytes of cached files in a text of memory.stat, at most `most`: the kernel drops them first.
 * Files of shared memory, which it counts among them, cannot be dropped. 0: not known. */
uint64_t sp_cgroup_files_cached(const char *text, int is_v2, uint64_t most);

#endif

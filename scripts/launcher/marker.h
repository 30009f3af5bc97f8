/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The marker of a run, in which the launcher leaves what only it knows: how the command ended, and
 * which command it was.
 */
#ifndef STAGEPROF_LAUNCHER_MARKER_H
#define STAGEPROF_LAUNCHER_MARKER_H

#include <stdint.h>
#include <sys/types.h>

#include "scripts/launcher/child.h"

/* A hash of the command's words; never 0. */
uint64_t sp_marker_hash(char *const *command);

/* Stores the end of the command in the marker of sp_run. The trace is whole without it, so nothing
 * is reported where the marker cannot be written. */
void sp_marker_end(const struct sp_child *child, uint64_t command_hash, uint64_t oom_kills);

/* Stores that the command runs now. Called in any one thread, but not beside sp_marker_end(). */
void sp_marker_alive(pid_t pid);

/* The path of the newest earlier run of the same output name and command, or of any command where
 * the hash is 0, into SP_RUN_PATH_BYTES. Returns 0 or -ENOENT. */
int sp_marker_earlier(char *ret, uint64_t command_hash);

/* Creates a real file in the folder, because rights, quotas, limits and read-only mounts have many
 * forms. Returns 0, or -errno: no run can begin there. */
int sp_marker_try(const char *folder);

/* Processes of our cgroup that the kernel has killed for lack of memory so far; 0 where the count
 * cannot be read. */
uint64_t sp_oom_kills(void);

#endif

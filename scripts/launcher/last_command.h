/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last `stageprof run` of each working directory, for `stageprof again`: in a file of the
 * user's state folder (XDG_STATE_HOME), which nobody else may read. Runs do not have it, because
 * command lines may contain secrets and runs are given away.
 */
#ifndef STAGEPROF_LAUNCHER_LAST_COMMAND_H
#define STAGEPROF_LAUNCHER_LAST_COMMAND_H

struct sp_last_command {
	char **options; /* of `stageprof run`; both end with NULL */
	char **command;
};

/* Stores it for the working directory, in place of the one before. A job's first rank stores
 * it, the others do not. Returns 0 or -errno: -E2BIG where the command is too long to be stored;
 * then the directory has none, so that `stageprof again` runs no older one. */
int sp_last_command_store(const struct sp_last_command *last);

/* Reads that of the working directory; its words are never freed. Returns 0 or -errno: -ENOENT
 * where there is none. */
int sp_last_command_load(struct sp_last_command *ret);

#endif

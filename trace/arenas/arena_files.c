/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/arenas/arena_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "trace/arenas/libc_call.h"

#define TAKER_LOOKS 50u
#define TAKER_PAUSE_NS 10000000L

/* The superuser makes no file in another's directory. He reads the arenas of all users: a process
 * of the run may have changed its user, and the run's token shows that an arena is of the run. */
int sp_arena_files_init(struct sp_collect *c, const char *directory)
{
	struct stat st;

	memset(c, 0, sizeof(*c));
	c->sys = sp_libc_call;
	c->now_s = (uint64_t)time(NULL);
	c->uid = geteuid();
	c->any_user = directory && geteuid() == 0;
	if (!directory)
		return -ENOENT;
	if (stat(directory, &st) < 0)
		return -errno;
	if (geteuid() == 0)
		c->uid = st.st_uid;
	return st.st_uid == geteuid() ? 0 : -EACCES;
}

/*
 * Another process of this user that begins may have found the same arenas: their files are there a
 * moment later. Where both had an arena attached at once, neither made its file, and a second look
 * does. Children that a killed process left may keep its arenas attached: nobody waits for them.
 */
static void collect_all(struct sp_collect *c, const uint64_t *run_token)
{
	const struct timespec pause = {0, TAKER_PAUSE_NS};

	for (unsigned i = 0; i < TAKER_LOOKS; i++) {
		uint32_t kept = sp_arenas_collect(c, run_token);

		if (!run_token || (!sp_arenas_being_taken(c, run_token) && (!kept || i)))
			return;
		nanosleep(&pause, NULL);
	}
}

void sp_arenas_to_files(const char *directory, const uint64_t run_token[2])
{
	struct sp_collect_paths *paths = malloc(sizeof(*paths));
	struct sp_collect c;
	struct stat st;
	int error = paths ? sp_arena_files_init(&c, directory) : -ENOMEM;

	if (error == 0 || error == -ENOENT) {
		c.paths = paths;
		c.directory = error ? NULL : directory;
		c.mount_namespace = stat("/proc/self/ns/mnt", &st) == 0 ? (uint64_t)st.st_ino : 0;
		collect_all(&c, run_token);
	}
	free(paths);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/launcher/marker.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/settings/run_identity.h"
#include "trace/format.h"

/* FNV-1a, with each word's final NUL */
uint64_t sp_marker_hash(char *const *command)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *command; command++)
		for (size_t i = 0; i <= strlen(*command); i++)
			hash = (hash ^ (unsigned char)(*command)[i]) * UINT64_C(0x100000001b3);
	return hash ? hash : 1;
}

/* The kernel's, as the recorder's is: a preloaded library may have a clock of its own. */
static uint64_t now_ns(void)
{
	struct timespec t = {0, 0};

	syscall(SYS_clock_gettime, CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int marker_read(int fd, struct sp_run_frame *marker)
{
	return fd >= 0 && pread(fd, marker, sizeof(*marker), 0) == sizeof(*marker) &&
			       memcmp(marker->tag, SP_TAG_RUN, sizeof(marker->tag)) == 0 &&
			       marker->version == SP_FORMAT_VERSION
		       ? 0
		       : -ENOENT;
}

/* Opens the marker of sp_run. Returns a descriptor or -1. */
static int marker_open(struct sp_run_frame *marker)
{
	char path[SP_RUN_PATH_BYTES];
	int fd;

	sp_run_marker(path, sp_run.directory);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (marker_read(fd, marker) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Stores the part of the marker; not `off`, which others write. */
static void marker_store(int fd, const struct sp_run_frame *marker, size_t from, size_t to)
{
	ssize_t written = pwrite(fd, (const char *)marker + from, to - from, (off_t)from);

	(void)written;
}

/* A checked word, never of 0. */
static uint64_t since_made(const struct sp_run_frame *marker)
{
	uint64_t now = now_ns();

	return sp_checked_make(now > marker->made_realtime_ns ? now - marker->made_realtime_ns : 1);
}

void sp_marker_alive(pid_t pid)
{
	struct sp_run_frame marker;
	int fd = marker_open(&marker);

	if (fd < 0)
		return;
	if (!marker.command_pid) {
		marker.command_pid = sp_checked_make((uint64_t)pid);
		marker_store(fd, &marker, offsetof(struct sp_run_frame, command_pid),
			     offsetof(struct sp_run_frame, command_ending));
	}
	marker.command_alive_ns = since_made(&marker);
	marker_store(fd, &marker, offsetof(struct sp_run_frame, command_alive_ns),
		     offsetof(struct sp_run_frame, reserved));
	close(fd);
}

void sp_marker_end(const struct sp_child *child, uint64_t command_hash, uint64_t oom_kills)
{
	struct sp_run_frame marker;
	int fd = marker_open(&marker);

	if (fd >= 0) {
		marker.command_hash = command_hash;
		marker.command_pid = sp_checked_make((uint64_t)child->pid);
		marker.command_ending =
			WIFEXITED(child->status)
				? sp_ending_make(SP_ENDING_EXITED,
						 (unsigned)WEXITSTATUS(child->status))
				: sp_ending_make(SP_ENDING_SIGNALED,
						 (unsigned)WTERMSIG(child->status));
		marker.command_ended_ns = since_made(&marker);
		marker.oom_kills = sp_checked_make(oom_kills);
		marker_store(fd, &marker, offsetof(struct sp_run_frame, command_hash),
			     offsetof(struct sp_run_frame, command_alive_ns));
		close(fd);
	}
}

static int is_of_command(const char *directory, uint64_t command_hash)
{
	char pattern[SP_RUN_PATH_BYTES];
	struct sp_run_frame marker;
	glob_t found;
	int ret = 0;

	if ((size_t)snprintf(pattern, sizeof(pattern), "%s/0-run-*.zst", directory) >=
	    sizeof(pattern))
		return 0;
	if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.gl_pathc && !ret; i++) {
		int fd = open(found.gl_pathv[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);

		ret = marker_read(fd, &marker) == 0 &&
		      (!command_hash || marker.command_hash == command_hash);
		if (fd >= 0)
			close(fd);
	}
	globfree(&found);
	return ret;
}

int sp_marker_earlier(char *ret, uint64_t command_hash)
{
	unsigned number = 1;

	for (; number < SP_RUN_NUMBERS; number++) {
		sp_run_candidate(ret, number);
		if (strcmp(ret, sp_run.directory) == 0)
			break;
	}
	if (number > SP_RUN_NUMBERED) /* its name is no number, so none is the one before */
		return -ENOENT;
	while (--number) {
		sp_run_candidate(ret, number);
		if (is_of_command(ret, command_hash))
			return 0;
	}
	return -ENOENT;
}

/* "oom_kill 3" in a file of the cgroup's memory controller. */
static uint64_t count_in(const char *path)
{
	FILE *file = fopen(path, "re");
	char line[256];
	unsigned long long n, count = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "oom_kill %llu", &n) == 1)
			count = n;
	if (file)
		fclose(file);
	return count;
}

uint64_t sp_oom_kills(void)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[SP_RUN_PATH_BYTES], path[2 * SP_RUN_PATH_BYTES];
	uint64_t count = 0;

	while (file && fgets(line, sizeof(line), file)) {
		const char *controllers = strchr(line, ':');
		char *group = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!group)
			continue;
		*group++ = '\0';
		group[strcspn(group, "\n")] = '\0';
		if (strcmp(controllers, ":memory") == 0)
			snprintf(path, sizeof(path), "/sys/fs/cgroup/memory%s/memory.oom_control",
				 group);
		else if (strcmp(controllers, ":") == 0)
			snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.events", group);
		else
			continue;
		count += count_in(path);
	}
	if (file)
		fclose(file);
	return count;
}

int sp_marker_try(const char *folder)
{
	static const char bytes[SP_MARKER_BYTES];
	const struct sigaction ignored = {.sa_handler = SIG_IGN};
	char path[SP_RUN_PATH_BYTES + 32];
	struct sigaction before;
	ssize_t written;
	int fd, r;

	snprintf(path, sizeof(path), "%s/.stageprof-try-XXXXXX", folder);
	fd = mkstemp(path);
	if (fd < 0)
		return -errno;
	sigaction(SIGXFSZ, &ignored, &before); /* RLIMIT_FSIZE would end this process */
	written = write(fd, bytes, sizeof(bytes));
	r = written == (ssize_t)sizeof(bytes) ? 0 : written < 0 ? -errno : -ENOSPC;
	r = close(fd) < 0 && r == 0 ? -errno : r;
	sigaction(SIGXFSZ, &before, NULL);
	unlink(path);
	return r;
}

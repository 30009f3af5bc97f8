/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/live_lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PATH_BYTES 4096u
#define PROC_BYTES 96u
#define CONTENDED 2	     /* the word of a mutex that somebody waits for */
#define KIND_BITS 0x1FFu     /* of pthread_mutexattr_t, and glibc's own */
#define DESCRIPTORS_MAX 4096 /* are looked at for a name */

/* The beginning of pthread_mutex_t in glibc for 64 bits. */
struct glibc_mutex {
	int32_t lock;
	uint32_t count;
	int32_t owner;
	uint32_t users;
	uint32_t kind;
};

/* Returns 0, -ESRCH where the thread runs or has ended, or -EPERM. */
static int sleep_read(uint32_t pid, uint32_t tid, struct sp_live_sleep *ret)
{
	char path[PROC_BYTES], line[256];
	int r;

	memset(ret, 0, sizeof(*ret));
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/syscall", pid, tid);
	r = sp_live_line(path, line, sizeof(line));
	if (r == -EACCES || r == -EPERM)
		return -EPERM;
	if (r < 0 ||
	    sscanf(line,
		   "%" SCNd64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
		   " %" SCNx64 " %" SCNx64,
		   &ret->call, &ret->arguments[0], &ret->arguments[1], &ret->arguments[2],
		   &ret->arguments[3], &ret->arguments[4], &ret->arguments[5], &ret->stack) != 8)
		return -ESRCH;
	return 0;
}

static bool is_file_wait(const struct sp_live_sleep *s)
{
	return s->call == SYS_flock || (s->call == SYS_fcntl && (s->arguments[1] == F_SETLKW ||
								 s->arguments[1] == F_OFD_SETLKW));
}

/* glibc waits for a mutex in this way, and for nothing else that pthread.h has. */
static bool is_mutex_wait(const struct sp_live_sleep *s)
{
	return s->call == SYS_futex &&
	       (s->arguments[1] & ~(uint64_t)FUTEX_PRIVATE_FLAG) == FUTEX_WAIT &&
	       (uint32_t)s->arguments[2] == CONTENDED && s->arguments[3] == 0;
}

bool sp_live_sleep(uint32_t pid, uint32_t tid, struct sp_live_sleep *ret)
{
	return sleep_read(pid, tid, ret) == 0 && (is_file_wait(ret) || is_mutex_wait(ret));
}

static void name_read(uint32_t pid, uint32_t tid, char ret[SP_LIVE_NAME_BYTES])
{
	char path[PROC_BYTES], line[64] = "";

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/comm", pid, tid);
	if (!pid || sp_live_line(path, line, sizeof(line)) < 0)
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	snprintf(ret, SP_LIVE_NAME_BYTES, "%.*s", (int)SP_LIVE_NAME_BYTES - 1, line);
}

/* The inode of a descriptor; 0: not known (kernels before 5.14). No file system is asked. */
static uint64_t inode_of(uint32_t pid, unsigned fd)
{
	char path[PROC_BYTES], line[256];
	uint64_t inode = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/fdinfo/%u", pid, fd);
	file = fopen(path, "re");
	while (file && !inode && fgets(line, sizeof(line), file))
		if (sscanf(line, "ino: %" SCNu64, &inode) != 1)
			inode = 0;
	if (file)
		fclose(file);
	return inode;
}

static void descriptor_name(uint32_t pid, unsigned fd, char ret[SP_LIVE_PATH_BYTES])
{
	char path[PROC_BYTES], text[PATH_BYTES];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/fd/%u", pid, fd);
	n = readlink(path, text, sizeof(text));
	if (n > 0)
		sp_live_text(ret, text, (size_t)n);
}

/* The name of the descriptor that has this inode. */
static void inode_name(uint32_t pid, uint64_t inode, char ret[SP_LIVE_PATH_BYTES])
{
	char path[PROC_BYTES];
	const struct dirent *entry;
	int left = DESCRIPTORS_MAX;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/fd", pid);
	folder = opendir(path);
	while (folder && !*ret && left-- > 0 && (entry = readdir(folder)) != NULL) {
		unsigned fd = (unsigned)strtoul(entry->d_name, NULL, 10);

		if (entry->d_name[0] != '.' && inode_of(pid, fd) == inode)
			descriptor_name(pid, fd, ret);
	}
	if (folder)
		closedir(folder);
}

/*
 * Finds the process among those that wait: "7: FLOCK ADVISORY WRITE 12 fe:00:531 0 EOF" is the
 * holder, and "7: -> FLOCK ..." waits for it. inode 0: any; else the other file locks of the
 * process are no match. Returns the file's inode, or 0.
 */
static uint64_t file_holder(uint32_t pid, uint64_t inode, uint32_t *ret_holder)
{
	FILE *file = fopen("/proc/locks", "re");
	uint64_t found = 0, of = 0;
	unsigned number, held = 0;
	int holder = 0, owner;
	char line[256];

	while (file && !found && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%u: -> %*s %*s %*s %d %*x:%*x:%" SCNu64, &number, &owner, &of) ==
		    3) {
			if (number == held && owner > 0 && (uint32_t)owner == pid &&
			    (!inode || inode == of))
				found = of;
		} else if (sscanf(line, "%u: %*s %*s %*s %d", &number, &owner) == 2) {
			held = number;
			holder = owner;
		}
	}
	if (file)
		fclose(file);
	*ret_holder = found && holder > 0 ? (uint32_t)holder : 0;
	return found;
}

static int file_lock(uint32_t pid, const struct sp_live_sleep *sleep, struct sp_live_lock *ret)
{
	unsigned fd = sleep ? (unsigned)sleep->arguments[0] : 0;
	uint64_t inode = file_holder(pid, sleep ? inode_of(pid, fd) : 0, &ret->holder);

	if (!sleep && !inode)
		return -ESRCH;
	ret->what = SP_LIVE_LOCK_FILE;
	if (sleep)
		descriptor_name(pid, fd, ret->file);
	else
		inode_name(pid, inode, ret->file);
	name_read(ret->holder, ret->holder, ret->holder_is);
	return 0;
}

static bool has_thread(uint32_t pid, uint32_t tid)
{
	char path[PROC_BYTES];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32, pid, tid);
	return pid && access(path, F_OK) == 0;
}

static uint32_t parent_of(uint32_t pid)
{
	char path[PROC_BYTES], line[1024];
	const char *after;
	uint32_t parent;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
	after = sp_live_line(path, line, sizeof(line)) == 0 ? strrchr(line, ')') : NULL;
	return after && sscanf(after, ") %*c %" SCNu32, &parent) == 1 ? parent : 0;
}

/* The owner has to be a thread of the process, or of its parent: other bytes are no mutex. */
static int mutex(uint32_t pid, const struct sp_live_sleep *sleep, struct sp_live_lock *ret)
{
	struct glibc_mutex m;
	struct iovec here = {&m, sizeof(m)},
		     there = {(void *)(uintptr_t)sleep->arguments[0], sizeof(m)};

	if (process_vm_readv((pid_t)pid, &here, 1, &there, 1, 0) != (ssize_t)sizeof(m) ||
	    m.lock != CONTENDED || m.owner <= 0 || !m.users || (m.kind & ~KIND_BITS))
		return -ESRCH;
	ret->holder_tid = (uint32_t)m.owner;
	if (has_thread(pid, ret->holder_tid)) {
		ret->what = SP_LIVE_LOCK_MUTEX;
		ret->holder = pid;
	} else {
		ret->what = SP_LIVE_LOCK_COPIED;
		ret->holder = parent_of(pid);
		if (!has_thread(ret->holder, ret->holder_tid))
			return -ESRCH;
	}
	name_read(ret->holder, ret->holder_tid, ret->holder_is);
	return 0;
}

static bool is_asleep(uint32_t pid, uint32_t tid)
{
	char path[PROC_BYTES], line[1024], state;
	const char *after;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/stat", pid, tid);
	after = sp_live_line(path, line, sizeof(line)) == 0 ? strrchr(line, ')') : NULL;
	return after && sscanf(after, ") %c", &state) == 1 && state == 'S';
}

int sp_live_lock(uint32_t pid, uint32_t tid, struct sp_live_lock *ret)
{
	struct sp_live_sleep sleep, again;
	int r = sleep_read(pid, tid, &sleep);

	memset(ret, 0, sizeof(*ret));
	if (r == -EPERM)
		return is_asleep(pid, tid) ? file_lock(pid, NULL, ret) : -ESRCH;
	if (r == 0)
		r = is_file_wait(&sleep)    ? file_lock(pid, &sleep, ret)
		    : is_mutex_wait(&sleep) ? mutex(pid, &sleep, ret)
					    : -ESRCH;
	if (r == 0 && (sleep_read(pid, tid, &again) < 0 || memcmp(&sleep, &again, sizeof(sleep))))
		r = -ESRCH;
	return r;
}

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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "trace/file_lock_holder.h"

#define PATH_BYTES 4096u
#define PROC_BYTES 96u
#define CONTENDED 2	 /* the word of a mutex that somebody waits for */
#define KIND_BITS 0x1FFu /* of pthread_mutexattr_t, and glibc's own: */
#define KIND_ROBUST 16u
#define KIND_INHERITS 32u
#define KIND_SHARED 128u
#define FUTEX_LOCK_PI_2 13   /* FUTEX_LOCK_PI2 of Linux 5.14 */
#define DESCRIPTORS_MAX 4096 /* are looked at for a name */

/* The beginning of pthread_mutex_t in glibc for 64 bits. */
struct glibc_mutex {
	int32_t lock;
	uint32_t count;
	int32_t owner;
	uint32_t users;
	uint32_t kind;
};

static bool is_file_wait(const struct sp_live_sleep *s)
{
	return s->call == SYS_flock || (s->call == SYS_fcntl && (s->arguments[1] == F_SETLKW ||
								 s->arguments[1] == F_OFD_SETLKW));
}

static bool is_private(const struct sp_live_sleep *s)
{
	return s->arguments[1] & FUTEX_PRIVATE_FLAG;
}

static bool is_inherited(const struct sp_live_sleep *s)
{
	uint64_t operation = s->arguments[1] & FUTEX_CMD_MASK;

	return operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI_2;
}

/* glibc waits for a mutex in these ways, and for nothing else that pthread.h has: a plain one; a
 * robust one, whose word has the owner; one that inherits priorities. */
static bool is_mutex_wait(const struct sp_live_sleep *s)
{
	uint32_t value = (uint32_t)s->arguments[2];

	if (s->call != SYS_futex || s->arguments[3])
		return false;
	return is_inherited(s) ||
	       ((s->arguments[1] & FUTEX_CMD_MASK) == FUTEX_WAIT &&
		(value == CONTENDED || (value & FUTEX_WAITERS && value & FUTEX_TID_MASK)));
}

/* Only a thread of the same process can end it, or a signal. */
static bool is_inner_wait(const struct sp_live_sleep *s)
{
	uint64_t operation = s->arguments[1] & FUTEX_CMD_MASK;

	return s->call == SYS_futex && !s->arguments[3] && is_private(s) &&
	       (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET);
}

bool sp_live_sleep(uint32_t pid, uint32_t tid, struct sp_live_sleep *ret)
{
	return sp_live_sleep_read(pid, tid, ret) == 0 &&
	       (is_file_wait(ret) || is_mutex_wait(ret) || is_inner_wait(ret));
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

		if (entry->d_name[0] != '.' && sp_descriptor_inode(pid, fd) == inode)
			descriptor_name(pid, fd, ret);
	}
	if (folder)
		closedir(folder);
}

static int file_lock(uint32_t pid, const struct sp_live_sleep *sleep, struct sp_live_lock *ret)
{
	unsigned fd = sleep ? (unsigned)sleep->arguments[0] : 0;
	bool is_ofd = sleep && sleep->call == SYS_fcntl && sleep->arguments[1] == F_OFD_SETLKW;
	uint64_t inode = sp_file_lock_holder(pid, sleep ? sp_descriptor_inode(pid, fd) : 0, is_ofd,
					     &ret->holder);

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

/* The bytes have to be a mutex of the sort that is waited for in this way. Returns its owner's tid,
 * or 0. */
static uint32_t owner_of(const struct glibc_mutex *m, const struct sp_live_sleep *sleep)
{
	uint32_t word = (uint32_t)m->lock, tid = word & FUTEX_TID_MASK;
	bool has_tid = m->kind & (KIND_ROBUST | KIND_INHERITS);

	if (m->owner <= 0 || !m->users || (m->kind & ~KIND_BITS) ||
	    is_inherited(sleep) != !!(m->kind & KIND_INHERITS) ||
	    is_private(sleep) != !(m->kind & KIND_SHARED))
		return 0;
	if (!has_tid)
		return word == CONTENDED ? (uint32_t)m->owner : 0;
	return word & FUTEX_WAITERS && tid == (uint32_t)m->owner ? tid : 0;
}

/* A number of a thread is one of this program's namespace only there. */
static bool is_in_our_namespace(uint32_t pid)
{
	char path[PROC_BYTES];
	struct stat ours, theirs;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/ns/pid", pid);
	return stat("/proc/self/ns/pid", &ours) == 0 && stat(path, &theirs) == 0 &&
	       ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

/* A number of a thread's status, of the line that begins so; 0: not known. */
static uint32_t status_number(uint32_t tid, const char *begin)
{
	char path[PROC_BYTES], line[256];
	uint32_t number = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", tid);
	file = fopen(path, "re");
	while (file && !number && fgets(line, sizeof(line), file))
		if (strncmp(line, begin, strlen(begin)) == 0)
			number = (uint32_t)strtoul(line + strlen(begin), NULL, 10);
	if (file)
		fclose(file);
	return number;
}

/* A thread of any process may hold a shared one, or have ended without unlocking it. */
static void shared_mutex(uint32_t pid, struct sp_live_lock *ret)
{
	ret->what = SP_LIVE_LOCK_SHARED;
	if (!is_in_our_namespace(pid))
		ret->holder_tid = 0;
	else
		ret->holder = status_number(ret->holder_tid, "Tgid:");
}

/* The owner of another has to be a thread of the process, or of its parent: other bytes are no
 * mutex. */
static int mutex(uint32_t pid, const struct sp_live_sleep *sleep, struct sp_live_lock *ret)
{
	struct glibc_mutex m;
	struct iovec here = {&m, sizeof(m)},
		     there = {(void *)(uintptr_t)sleep->arguments[0], sizeof(m)};

	if (process_vm_readv((pid_t)pid, &here, 1, &there, 1, 0) != (ssize_t)sizeof(m))
		return -ESRCH;
	ret->holder_tid = owner_of(&m, sleep);
	if (!ret->holder_tid)
		return -ESRCH;
	if (has_thread(pid, ret->holder_tid)) {
		ret->what = SP_LIVE_LOCK_MUTEX;
		ret->holder = pid;
	} else if (m.kind & KIND_SHARED) {
		shared_mutex(pid, ret);
	} else {
		ret->what = SP_LIVE_LOCK_COPIED;
		ret->holder = sp_live_parent(pid);
		if (!has_thread(ret->holder, ret->holder_tid))
			return -ESRCH;
	}
	name_read(ret->holder, ret->holder_tid, ret->holder_is);
	return 0;
}

static int alone(uint32_t pid, struct sp_live_lock *ret)
{
	if (status_number(pid, "Threads:") != 1)
		return -ESRCH;
	*ret = (struct sp_live_lock){.what = SP_LIVE_LOCK_ALONE, .holder = sp_live_parent(pid)};
	name_read(ret->holder, ret->holder, ret->holder_is);
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
	int r = sp_live_sleep_read(pid, tid, &sleep);

	memset(ret, 0, sizeof(*ret));
	if (r == -EPERM)
		return is_asleep(pid, tid) ? file_lock(pid, NULL, ret) : -ESRCH;
	if (r == 0)
		r = is_file_wait(&sleep)    ? file_lock(pid, &sleep, ret)
		    : is_mutex_wait(&sleep) ? mutex(pid, &sleep, ret)
					    : -ESRCH;
	if (r == -ESRCH && is_inner_wait(&sleep))
		r = alone(pid, ret);
	if (r == 0 &&
	    (sp_live_sleep_read(pid, tid, &again) < 0 || memcmp(&sleep, &again, sizeof(sleep))))
		r = -ESRCH;
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/live_process.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "trace/format.h"

#define START_SLACK_NS INT64_C(2000000000) /* of the kernel's coarse start times */
#define PATH_BYTES 4096u		   /* the kernel takes no longer path */
#define PAGE_BYTES 4096u

static int64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int sp_live_line(const char *path, char *ret, size_t room)
{
	FILE *file = fopen(path, "re");
	int r = 0;

	if (!file)
		return -errno;
	errno = 0;
	if (!fgets(ret, (int)room, file))
		r = errno ? -errno : -ESRCH;
	fclose(file);
	return r;
}

char sp_live_state(uint32_t pid, int64_t start_ns)
{
	char path[64], line[1024], state = 0;
	unsigned long long ticks = 0;
	int64_t began_ns;
	const char *after;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
	after = sp_live_line(path, line, sizeof(line)) == 0 ? strrchr(line, ')') : NULL;
	if (!after || sscanf(after,
			     ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
			     "%*d %*d %llu",
			     &state, &ticks) != 2)
		return 0;
	began_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME) +
		   (int64_t)(ticks * (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK)));
	return began_ns <= start_ns + START_SLACK_NS && state != 'Z' && state != 'X' ? state : 0;
}

/* The argument that is the path, of a call that opens one; 0: the call opens none. */
static unsigned path_argument(int64_t number)
{
	switch (number) {
#ifdef SYS_open
	case SYS_open:
	case SYS_creat:
		return 1;
#endif
	case SYS_openat:
#ifdef SYS_openat2
	case SYS_openat2:
#endif
		return 2;
	}
	return 0;
}

int sp_live_sleep_read(uint32_t pid, uint32_t tid, struct sp_live_sleep *ret)
{
	char path[80], line[256];
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

/* Returns 0 where the thread is inside of a call that opens the path at this address. */
static int is_opening(uint32_t pid, uint32_t tid, uint64_t address)
{
	struct sp_live_sleep sleep;
	int r = sp_live_sleep_read(pid, tid, &sleep);
	unsigned which = r == 0 ? path_argument(sleep.call) : 0;

	if (r < 0)
		return r;
	return which && sleep.arguments[which - 1] == address ? 0 : -ESRCH;
}

/* Reads page by page up to the end of the text. Returns its length, or -errno. */
static int text_read(uint32_t pid, uint64_t address, char ret[PATH_BYTES])
{
	size_t have = 0;

	while (have < PATH_BYTES) {
		size_t rest = PAGE_BYTES - (address + have) % PAGE_BYTES;
		struct iovec here = {ret + have, 0}, there;
		const char *end;

		here.iov_len = rest < PATH_BYTES - have ? rest : PATH_BYTES - have;
		there = (struct iovec){(void *)(uintptr_t)(address + have), here.iov_len};
		if (process_vm_readv((pid_t)pid, &here, 1, &there, 1, 0) != (ssize_t)here.iov_len)
			return errno == EPERM || errno == ENOSYS ? -EPERM : -EFAULT;
		end = memchr(ret + have, 0, here.iov_len);
		if (end)
			return (int)(end - ret);
		have += here.iov_len;
	}
	return -EFAULT;
}

void sp_live_text(char ret[SP_LIVE_PATH_BYTES], const char *text, size_t bytes)
{
	static const char cut[] = "...";
	size_t room = SP_LIVE_PATH_BYTES - 1, before = 0;

	if (bytes > room) {
		before = sizeof(cut) - 1;
		text += bytes - (room - before);
		bytes = room - before;
		memcpy(ret, cut, before);
	}
	memcpy(ret + before, text, bytes);
	ret[before + bytes] = '\0';
}

int sp_live_path(uint32_t pid, uint32_t tid, uint64_t path_at, char ret[SP_LIVE_PATH_BYTES])
{
	uint64_t address = path_at & ~SP_MARK_LAST_PART;
	const char *from;
	char text[PATH_BYTES];
	int length, r = is_opening(pid, tid, address);

	if (r < 0)
		return r;
	errno = 0;
	length = text_read(pid, address, text);
	if (length < 0)
		return length;
	r = is_opening(pid, tid, address);
	if (r < 0)
		return r;
	from = path_at & SP_MARK_LAST_PART ? memrchr(text, '/', (size_t)length) : NULL;
	from = from ? from + 1 : text;
	sp_live_text(ret, from, (size_t)(text + length - from));
	return 0;
}

uint32_t sp_live_parent(uint32_t pid)
{
	char path[64], line[1024];
	const char *after;
	uint32_t parent;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
	after = sp_live_line(path, line, sizeof(line)) == 0 ? strrchr(line, ')') : NULL;
	return after && sscanf(after, ") %*c %" SCNu32, &parent) == 1 ? parent : 0;
}

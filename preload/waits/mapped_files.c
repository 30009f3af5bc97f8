/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/waits/mapped_files.h"

#include <fcntl.h>
#include <string.h>

#include "preload/recorder/fd_table.h"
#include "preload/recorder/process.h"
#include "preload/sys/clock.h"
#include "preload/sys/fd_private_task.h"
#include "preload/sys/paths.h"
#include "preload/sys/sys.h"

#define MAPPINGS 1024u /* a power of two */
#define PATH_BYTES 4096u
#define MAPS_BYTES 16384u /* at least three lines */

/* A slot is valid if its number is that of its place in the order. */
struct mapping {
	uint64_t number; /* from 1 on; 0: being written */
	uint64_t begin, end, since;
	uint64_t image; /* whose ids `file` is of */
	uint32_t file;	/* 0: no file */
};

/* Forked children keep them, as they keep the mappings. */
static struct mapping mappings[MAPPINGS];
static uint64_t noted;
static uint32_t any;

static void note(uint64_t begin, uint64_t end, uint64_t since, uint32_t file)
{
	uint64_t n = __atomic_fetch_add(&noted, 1, __ATOMIC_RELAXED);
	struct mapping *m = &mappings[n % MAPPINGS];

	/* A release keeps the writer's mark before it; an acquire keeps the reader's check after
	 * it. */
	__atomic_store_n(&m->number, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&m->begin, begin, __ATOMIC_RELEASE);
	__atomic_store_n(&m->end, end, __ATOMIC_RELEASE);
	__atomic_store_n(&m->since, since, __ATOMIC_RELEASE);
	__atomic_store_n(&m->image, sp_process->image_start_ns, __ATOMIC_RELEASE);
	__atomic_store_n(&m->file, file, __ATOMIC_RELEASE);
	__atomic_store_n(&m->number, n + 1, __ATOMIC_RELEASE);
}

void sp_mapped_note(const void *at, size_t bytes, uint32_t file)
{
	uintptr_t begin = (uintptr_t)at;

	if (file >> SP_FILE_TYPE_SHIFT != SP_FILE_REGULAR)
		return;
	note(begin, begin + bytes, sp_clock_ticks(), file);
	if (!sp_mapped_any() && !sp_fd_is_memory(file))
		__atomic_store_n(&any, 1, __ATOMIC_RELAXED);
}

void sp_mapped_end(const void *at, size_t bytes)
{
	if (sp_mapped_any())
		note((uintptr_t)at, (uintptr_t)at + bytes, sp_clock_ticks(), 0);
}

bool sp_mapped_any(void)
{
	return __atomic_load_n(&any, __ATOMIC_RELAXED);
}

/* Copies the slot of this number. False: it holds another one by now. */
static bool copy(uint64_t number, struct mapping *ret)
{
	const struct mapping *m = &mappings[(number - 1) % MAPPINGS];

	ret->number = __atomic_load_n(&m->number, __ATOMIC_ACQUIRE);
	ret->begin = __atomic_load_n(&m->begin, __ATOMIC_ACQUIRE);
	ret->end = __atomic_load_n(&m->end, __ATOMIC_ACQUIRE);
	ret->since = __atomic_load_n(&m->since, __ATOMIC_ACQUIRE);
	ret->image = __atomic_load_n(&m->image, __ATOMIC_ACQUIRE);
	ret->file = __atomic_load_n(&m->file, __ATOMIC_ACQUIRE);
	return ret->number == number && __atomic_load_n(&m->number, __ATOMIC_RELAXED) == number;
}

static bool find(uint64_t address, uint64_t at, struct mapping *ret)
{
	uint64_t last = __atomic_load_n(&noted, __ATOMIC_ACQUIRE);

	for (uint64_t n = last; n > 0 && last - n < MAPPINGS; n--)
		if (copy(n, ret) && address >= ret->begin && address < ret->end && ret->since <= at)
			return true;
	return false;
}

/* A line of /proc/self/maps. */
struct map_line {
	uint64_t address;
	uint64_t begin, end;
	uint64_t inode;
	char path[PATH_BYTES];
};

static uint64_t hex(const char **p)
{
	uint64_t n = 0;

	for (;; ++*p) {
		char c = **p;

		if (c >= '0' && c <= '9')
			n = n << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			n = n << 4 | (uint64_t)(c - 'a' + 10);
		else
			return n;
	}
}

static const char *skip(const char *p, uint32_t fields)
{
	while (fields-- > 0) {
		p += strcspn(p, " ");
		p += strspn(p, " ");
	}
	return p;
}

/* "begin-end perms offset device inode path" */
static bool is_line_of(const char *line, struct map_line *ret)
{
	const char *p = line;
	size_t length;

	ret->begin = hex(&p);
	p += *p == '-';
	ret->end = hex(&p);
	if (ret->address < ret->begin || ret->address >= ret->end)
		return false;
	p = skip(p + strspn(p, " "), 3);
	for (ret->inode = 0; *p >= '0' && *p <= '9'; p++)
		ret->inode = ret->inode * 10 + (uint64_t)(*p - '0');
	p += strspn(p, " ");
	length = strlen(p) < PATH_BYTES ? strlen(p) : 0;
	memcpy(ret->path, p, length);
	ret->path[length] = 0;
	return true;
}

/* Takes the whole lines of text[0..bytes); returns the bytes of the rest, or -1 at the line. */
static long take_lines(char *text, long bytes, struct map_line *ret)
{
	char *line = text, *end;

	while ((end = memchr(line, '\n', (size_t)(text + bytes - line)))) {
		*end = 0;
		if (is_line_of(line, ret))
			return -1;
		line = end + 1;
	}
	bytes = text + bytes - line;
	memmove(text, line, (size_t)bytes);
	return bytes;
}

static void task_maps(void *argument)
{
	struct map_line *ret = argument;
	char text[MAPS_BYTES];
	long fd = SP_SYS4(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	long kept = 0, n;

	ret->end = 0;
	if (fd < 0)
		return;
	while (kept >= 0 && kept < (long)sizeof(text) &&
	       (n = SP_SYS3(SYS_read, fd, text + kept, sizeof(text) - (size_t)kept)) > 0)
		kept = take_lines(text, kept + n, ret);
	if (kept >= 0)
		ret->end = 0;
	SP_SYS1(SYS_close, fd);
}

static uint32_t read_maps(struct sp_thread *t, uint64_t address)
{
	struct map_line line = {.address = address};
	uint32_t file = 0;

	sp_fd_private_task(task_maps, &line);
	if (line.end && line.path[0] == '/')
		file = sp_fd_path_file(t, line.path, line.inode);
	if (line.end)
		note(line.begin, line.end, 0, file);
	return file;
}

uint32_t sp_mapped_file(struct sp_thread *t, uint64_t address, uint64_t at, uint32_t *reads_left)
{
	struct mapping m;

	if (find(address, at, &m) && m.image == sp_process->image_start_ns)
		return m.file;
	if (!*reads_left)
		return 0;
	--*reads_left;
	return read_maps(t, address);
}

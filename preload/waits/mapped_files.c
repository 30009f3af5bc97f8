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

#define MAPPINGS 1024u	  /* a power of two */
#define PATHS_BYTES 4096u /* at least one path */
#define LINES 32u	  /* of one reading */
#define MAPS_BYTES 16384u /* at least three lines */
#define PAGE_BYTES 4096u
#define ASK UINT32_MAX /* no file's id: the kernel knows */

/* A slot is valid if its number is that of its place in the order. */
struct mapping {
	uint64_t number; /* from 1 on; 0: being written */
	uint64_t begin, end, since;
	uint64_t image; /* whose ids `file` is of */
	uint32_t file;	/* 0: no file; ASK */
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
	__atomic_store_n(&m->end, (end + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1),
			 __ATOMIC_RELEASE);
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
		note((uintptr_t)at, (uintptr_t)at + bytes, sp_clock_ticks(), ASK);
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

/* The last change of what is at a place, before its time. ret_later: there is a later one. */
static bool find(const struct sp_mapped_place *place, struct mapping *ret, bool *ret_later)
{
	uint64_t last = __atomic_load_n(&noted, __ATOMIC_ACQUIRE);

	*ret_later = false;
	for (uint64_t n = last; n > 0 && last - n < MAPPINGS; n--) {
		if (!copy(n, ret) || place->address < ret->begin || place->address >= ret->end)
			continue;
		if (ret->since <= place->at)
			return true;
		*ret_later = true;
	}
	return false;
}

enum sp_mapping sp_mapped_find(const struct sp_mapped_place *place, uint32_t *ret_file)
{
	struct mapping m;
	bool is_later;

	*ret_file = 0;
	if (!find(place, &m, &is_later) || m.file == ASK || m.image != sp_process->image_start_ns)
		return is_later ? SP_MAPPING_UNKNOWN : SP_MAPPING_ASK;
	if (!m.file || sp_fd_is_memory(m.file))
		return SP_MAPPING_MEMORY;
	*ret_file = m.file;
	return SP_MAPPING_FILE;
}

/* The lines of /proc/self/maps that places lie in. */
struct map_lines {
	const struct sp_mapped_place *places;
	uint32_t place_count;
	uint32_t count;
	struct map_line {
		const struct sp_mapped_place *place;
		uint64_t begin, end;
		uint64_t inode;
		uint32_t path; /* where it begins in `paths` */
	} lines[LINES];
	uint32_t path_bytes;
	char paths[PATHS_BYTES];
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

static const struct sp_mapped_place *place_in(const struct map_lines *m, uint64_t begin,
					      uint64_t end)
{
	for (uint32_t i = 0; i < m->place_count; i++)
		if (m->places[i].address >= begin && m->places[i].address < end)
			return &m->places[i];
	return NULL;
}

/* "begin-end perms offset device inode path" */
static void take_line(struct map_lines *m, const char *line)
{
	struct map_line *ret = &m->lines[m->count];
	const char *p = line;
	size_t bytes;

	if (m->count == LINES)
		return;
	ret->begin = hex(&p);
	p += *p == '-';
	ret->end = hex(&p);
	ret->place = place_in(m, ret->begin, ret->end);
	if (!ret->place)
		return;
	p = skip(p + strspn(p, " "), 3);
	for (ret->inode = 0; *p >= '0' && *p <= '9'; p++)
		ret->inode = ret->inode * 10 + (uint64_t)(*p - '0');
	p += strspn(p, " ");
	bytes = strlen(p) + 1;
	if (bytes > PATHS_BYTES - m->path_bytes)
		return;
	ret->path = m->path_bytes;
	memcpy(m->paths + m->path_bytes, p, bytes);
	m->path_bytes += (uint32_t)bytes;
	m->count++;
}

/* Takes the whole lines of text[0..bytes) and returns the bytes of the rest. */
static long take_lines(char *text, long bytes, struct map_lines *m)
{
	char *line = text, *end;

	while ((end = memchr(line, '\n', (size_t)(text + bytes - line)))) {
		*end = 0;
		take_line(m, line);
		line = end + 1;
	}
	bytes = text + bytes - line;
	memmove(text, line, (size_t)bytes);
	return bytes;
}

static void task_maps(void *argument)
{
	char text[MAPS_BYTES];
	long fd = SP_SYS4(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	long kept = 0, n;

	if (fd < 0)
		return;
	while (kept < (long)sizeof(text) &&
	       (n = SP_SYS3(SYS_read, fd, text + kept, sizeof(text) - (size_t)kept)) > 0)
		kept = take_lines(text, kept + n, argument);
	SP_SYS1(SYS_close, fd);
}

/* A file that was mapped there before is none of it. */
static void note_line(struct sp_thread *t, const struct map_line *line, const char *path)
{
	struct mapping before = {.since = 0};
	bool is_later;
	uint64_t since = find(line->place, &before, &is_later) ? before.since : 0;

	note(line->begin, line->end, since,
	     path[0] == '/' ? sp_fd_path_file(t, path, line->inode) : 0);
}

void sp_mapped_ask(struct sp_thread *t, const struct sp_mapped_place *places, uint32_t count)
{
	struct map_lines m;

	m.places = places;
	m.place_count = count;
	m.count = m.path_bytes = 0;
	sp_fd_private_task(task_maps, &m);
	for (uint32_t i = 0; i < m.count; i++)
		note_line(t, &m.lines[i], m.paths + m.lines[i].path);
}

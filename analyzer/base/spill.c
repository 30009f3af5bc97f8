/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "analyzer/base/grow.h"

#define PART_BYTES ((size_t)16 << 20) /* mapped at once; a longer list has a part of its own */
#define ALIGNMENT 64u

/* A stretch of the file. */
struct file_part {
	uint8_t *at; /* where it is mapped */
	size_t bytes;
};

struct sp_spill {
	pthread_mutex_t lock;
	size_t memory_left;
	int fd; /* -1: none yet; -2: there can be none */
	uint64_t file_bytes;
	struct file_part *parts; /* all of the file; the last one may have room */
	uint32_t count, room;
	size_t used; /* of the last part */
};

enum { NO_FILE = -1, NEVER = -2 };

struct sp_spill *sp_spill_create(size_t memory_bytes)
{
	struct sp_spill *spill = calloc(1, sizeof(*spill));

	if (!spill)
		return NULL;
	spill->memory_left = memory_bytes;
	spill->fd = NO_FILE;
	pthread_mutex_init(&spill->lock, NULL);
	return spill;
}

void sp_spill_destroy(struct sp_spill *spill)
{
	if (!spill)
		return;
	for (uint32_t i = 0; i < spill->count; i++)
		munmap(spill->parts[i].at, spill->parts[i].bytes);
	free(spill->parts);
	if (spill->fd >= 0)
		close(spill->fd);
	pthread_mutex_destroy(&spill->lock);
	free(spill);
}

/* A file that nobody else sees. Older kernels and some file systems have no O_TMPFILE. */
static int open_in(const char *folder)
{
	char path[PATH_MAX];
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || (size_t)snprintf(path, sizeof(path), "%s/stageprof-report.XXXXXX", folder) >=
			       sizeof(path))
		return fd;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static int open_file(void)
{
	const char *folders[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		int fd = folders[i] && *folders[i] ? open_in(folders[i]) : -1;

		if (fd >= 0)
			return fd;
	}
	return NEVER;
}

static bool write_all(int fd, const uint8_t *bytes, size_t n, uint64_t at)
{
	for (size_t done = 0; done < n;) {
		ssize_t r = pwrite(fd, bytes + done, n - done, (off_t)(at + done));

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return false;
		done += (size_t)r;
	}
	return true;
}

/* A file above the limit would raise SIGXFSZ. */
static bool may_be_so_long(uint64_t bytes)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ||
	       bytes <= limit.rlim_cur;
}

static struct file_part *add_part(struct sp_spill *spill, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t whole = bytes > PART_BYTES ? (bytes + page - 1) / page * page : PART_BYTES;
	struct file_part *list =
		sp_list_grow(spill->parts, spill->count, &spill->room, sizeof(*list));
	uint8_t *at;

	if (!list)
		return NULL;
	spill->parts = list;
	if (!may_be_so_long(spill->file_bytes + whole) ||
	    ftruncate(spill->fd, (off_t)(spill->file_bytes + whole)) < 0)
		return NULL;
	at = mmap(NULL, whole, PROT_READ, MAP_SHARED, spill->fd, (off_t)spill->file_bytes);
	if (at == MAP_FAILED)
		return NULL;
	list[spill->count] = (struct file_part){at, whole};
	spill->file_bytes += whole;
	spill->used = 0;
	return &list[spill->count++];
}

/* The last part that has room for so many bytes, or a new one. */
static struct file_part *part_for(struct sp_spill *spill, size_t bytes)
{
	struct file_part *last = spill->count ? &spill->parts[spill->count - 1] : NULL;

	if (last && bytes <= last->bytes - spill->used)
		return last;
	return add_part(spill, bytes);
}

/* Returns the copy in the file, or NULL. The file gets no further list after a failure. */
static void *copy_into_file(struct sp_spill *spill, const void *list, size_t bytes)
{
	struct file_part *part;
	uint8_t *copy;

	if (spill->fd == NO_FILE)
		spill->fd = open_file();
	part = spill->fd >= 0 ? part_for(spill, bytes) : NULL;
	if (!part ||
	    !write_all(spill->fd, list, bytes, spill->file_bytes - part->bytes + spill->used)) {
		spill->memory_left = SIZE_MAX;
		return NULL;
	}
	copy = part->at + spill->used;
	spill->used += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (spill->used > part->bytes)
		spill->used = part->bytes;
	return copy;
}

void *sp_spill_keep(struct sp_spill *spill, void *list, size_t bytes)
{
	void *copy = NULL;

	if (!spill || !list || !bytes)
		return list;
	pthread_mutex_lock(&spill->lock);
	if (bytes <= spill->memory_left)
		spill->memory_left -= bytes;
	else
		copy = copy_into_file(spill, list, bytes);
	pthread_mutex_unlock(&spill->lock);
	if (!copy)
		return list;
	free(list);
	return copy;
}

static bool is_in_file(struct sp_spill *spill, const uint8_t *list)
{
	bool ret = false;

	pthread_mutex_lock(&spill->lock);
	for (uint32_t i = 0; !ret && i < spill->count; i++)
		ret = list >= spill->parts[i].at &&
		      list < spill->parts[i].at + spill->parts[i].bytes;
	pthread_mutex_unlock(&spill->lock);
	return ret;
}

void sp_spill_free(struct sp_spill *spill, void *list)
{
	if (!list || (spill && is_in_file(spill, list)))
		return;
	free(list);
}

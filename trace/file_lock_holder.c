/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/file_lock_holder.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/live_process.h"

#define PROC_BYTES 96u
#define PLACE_BYTES 64u
#define DESCRIPTORS_MAX 32768 /* are looked at, of all processes */

/* A line of /proc/locks: "7: OFDLCK ADVISORY WRITE -1 fe:00:531 0 EOF". */
struct lock_line {
	unsigned number;
	bool is_waiter; /* "7: -> OFDLCK ..." */
	bool is_ofd;
	int owner;
	char place[PLACE_BYTES]; /* device and inode */
	uint64_t inode;
};

uint64_t sp_descriptor_inode(uint32_t pid, unsigned fd)
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

static bool line_read(const char *text, struct lock_line *ret)
{
	char kind[16];
	int at = 0;

	*ret = (struct lock_line){.number = 0};
	if (sscanf(text, "%u: %n", &ret->number, &at) != 1 || !at)
		return false;
	ret->is_waiter = strncmp(text + at, "-> ", 3) == 0;
	text += at + (ret->is_waiter ? 3 : 0);
	if (sscanf(text, "%15s %*s %*s %d %63s", kind, &ret->owner, ret->place) != 3 ||
	    sscanf(ret->place, "%*x:%*x:%" SCNu64, &ret->inode) != 1)
		return false;
	ret->is_ofd = strcmp(kind, "OFDLCK") == 0;
	return true;
}

/* True where the descriptor's open file description has a lock of this kind and place. */
static bool holds(uint32_t pid, const char *fd, const char *place)
{
	char path[PROC_BYTES], line[256];
	struct lock_line lock;
	bool is_found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/fdinfo/%.16s", pid, fd);
	file = fopen(path, "re");
	while (file && !is_found && fgets(line, sizeof(line), file))
		is_found = strncmp(line, "lock:", 5) == 0 && line_read(line + 5, &lock) &&
			   lock.is_ofd && strcmp(lock.place, place) == 0;
	if (file)
		fclose(file);
	return is_found;
}

static bool process_holds(uint32_t pid, const char *place, int *left)
{
	char path[PROC_BYTES];
	const struct dirent *entry;
	bool is_found = false;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/fdinfo", pid);
	folder = opendir(path);
	while (folder && !is_found && *left > 0 && (entry = readdir(folder)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		--*left;
		is_found = holds(pid, entry->d_name, place);
	}
	if (folder)
		closedir(folder);
	return is_found;
}

/* The only process that has the locked description open, or the parent of all others that have it
 * by fork; 0: not known. */
static uint32_t description_holder(const char *place)
{
	const struct dirent *entry;
	uint32_t holder = 0;
	int left = DESCRIPTORS_MAX;
	DIR *folder = opendir("/proc");

	while (folder && (entry = readdir(folder)) != NULL) {
		uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (!pid || !process_holds(pid, place, &left))
			continue;
		if (!holder || sp_live_parent(holder) == pid)
			holder = pid;
		else if (sp_live_parent(pid) != holder)
			left = 0;
		if (left <= 0)
			break;
	}
	if (folder)
		closedir(folder);
	return left > 0 ? holder : 0;
}

static bool waits(const struct lock_line *line, uint32_t pid, uint64_t inode, bool is_ofd)
{
	if (!line->is_waiter || (inode && inode != line->inode))
		return false;
	if (is_ofd)
		return line->is_ofd && inode;
	return !line->is_ofd && line->owner > 0 && (uint32_t)line->owner == pid;
}

uint64_t sp_file_lock_holder(uint32_t pid, uint64_t inode, bool is_ofd, uint32_t *ret_holder)
{
	FILE *file = fopen("/proc/locks", "re");
	struct lock_line line, held = {.number = 0}, found = {.number = 0};
	bool is_one = true;
	char text[256];

	while (file && fgets(text, sizeof(text), file)) {
		if (!line_read(text, &line))
			continue;
		if (!line.is_waiter) {
			held = line;
		} else if (line.number == held.number && waits(&line, pid, inode, is_ofd)) {
			is_one = !found.number || (found.number == held.number);
			found = held;
		}
		if (!is_one || (found.number && !is_ofd))
			break;
	}
	if (file)
		fclose(file);
	*ret_holder = 0;
	if (found.number && is_one)
		*ret_holder = found.is_ofd	? description_holder(found.place)
			      : found.owner > 0 ? (uint32_t)found.owner
						: 0;
	return found.inode;
}

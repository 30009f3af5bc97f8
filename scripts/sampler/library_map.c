/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/sampler/library_map.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "preload/sys/clock.h"

#define NS_BETWEEN 100000000u
#define LIBRARIES_MAX 65536u
#define LINE_BYTES 4608u /* a path, and the words before it */

static void set_name(struct sp_code_range *library, const char *path)
{
	static const char deleted[] = " (deleted)";
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t bytes = strcspn(name, "\n"), tail = sizeof(deleted) - 1;

	if (bytes > tail && memcmp(name + bytes - tail, deleted, tail) == 0)
		bytes -= tail;
	if (bytes == 0) {
		name = "[anonymous]";
		bytes = strlen(name);
	}
	snprintf(library->name, sizeof(library->name), "%.*s", (int)bytes, name);
}

/* BEGIN-END rwxp OFFSET DEVICE INODE PATH; most lines are of data. */
static bool parse(const char *line, struct sp_code_range *ret)
{
	const char *rights = strchr(line, ' ');
	int path = 0;

	*ret = (struct sp_code_range){.id = 0};
	if (!rights || strnlen(rights, 4) < 4 || rights[3] != 'x' ||
	    sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %n", &ret->begin, &ret->end,
		   &path) != 2)
		return false;
	set_name(ret, path ? line + path : "");
	return true;
}

static bool add(struct sp_library_map *map, const struct sp_code_range *library)
{
	if (map->count == map->room) {
		uint32_t room = map->room ? 2 * map->room : 64;
		struct sp_code_range *list =
			room <= LIBRARIES_MAX ? realloc(map->list, room * sizeof(*list)) : NULL;

		if (!list)
			return false;
		map->list = list;
		map->room = room;
	}
	map->list[map->count++] = *library;
	return true;
}

static void read_all(struct sp_library_map *map, pid_t pid)
{
	char path[32], line[LINE_BYTES];
	struct sp_code_range library;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = fopen(path, "re");
	map->count = 0;
	while (file && fgets(line, sizeof(line), file))
		if (parse(line, &library) && !add(map, &library))
			break;
	if (file)
		fclose(file);
}

static struct sp_code_range *find(const struct sp_library_map *map, uint64_t address)
{
	uint32_t low = 0, high = map->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (map->list[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < map->count && map->list[low].begin <= address ? &map->list[low] : NULL;
}

struct sp_code_range *sp_library_map_find(struct sp_library_map *map, pid_t pid, uint64_t address)
{
	struct sp_code_range *found = find(map, address);
	uint64_t now = sp_clock_ns(CLOCK_MONOTONIC);

	if (found || (map->read_ns && now - map->read_ns < NS_BETWEEN))
		return found;
	map->read_ns = now;
	read_all(map, pid);
	return find(map, address);
}

void sp_library_map_finish(struct sp_library_map *map)
{
	free(map->list);
	*map = (struct sp_library_map){.list = NULL};
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cli/run_beside.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/cli/say.h"
#include "trace/format.h"

#define SUFFIX ".zst"
#define MARKER "0-run-"
#define NUMBERS_MAX 9
/* A program that follows by exec imports for so long before its first event. */
#define STARTS_WITHIN_NS INT64_C(10000000000)

/* Opens the run's marker; negative: there is none. */
static int marker_open(const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;
	int fd = -1;

	while (dir && fd < 0 && (entry = readdir(dir)))
		if (strncmp(entry->d_name, MARKER, strlen(MARKER)) == 0)
			fd = openat(dirfd(dir), entry->d_name,
				    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (dir)
		closedir(dir);
	return fd;
}

/* CLOCK_REALTIME when the run was made; 0: there is none that can be read. */
static int64_t made_ns(const char *directory)
{
	struct sp_run_frame marker = {.made_realtime_ns = 0};
	int fd = marker_open(directory);

	if (fd < 0)
		return 0;
	if (read(fd, &marker, sizeof(marker)) != sizeof(marker) ||
	    memcmp(marker.tag, SP_TAG_RUN, sizeof(marker.tag)) != 0)
		marker.made_realtime_ns = 0;
	close(fd);
	return (int64_t)marker.made_realtime_ns;
}

void sp_run_beside_say(const struct sp_report *report, const char *path)
{
	size_t bytes = strlen(path), suffix = strlen(SUFFIX);
	char directory[PATH_MAX / 2];
	int64_t made;

	while (bytes && path[bytes - 1] == '/')
		bytes--;
	if (bytes < suffix || strncmp(path + bytes - suffix, SUFFIX, suffix) != 0 ||
	    bytes > sizeof(directory) - 8)
		return;
	for (int number = 2; number <= NUMBERS_MAX; number++) {
		snprintf(directory, sizeof(directory), "%.*s-%d" SUFFIX, (int)(bytes - suffix),
			 path, number);
		made = made_ns(directory);
		if (made && made >= report->run.begin_ns &&
		    made - STARTS_WITHIN_NS <= report->totals.end_ns)
			sp_say_error(SP_REPORT_ERROR_run_beside, directory, NULL);
	}
}

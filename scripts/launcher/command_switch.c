/* SPDX-License-Identifier: Apache-2.0 */
/* stageprof on RUN, stageprof off RUN: sets the word in the run's marker file that its processes
 * read. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/text/translate.h"
#include "scripts/launcher/command.h"
#include "trace/format.h"

static int word_write(const char *path, uint32_t off)
{
	struct sp_run_frame marker;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), error = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1)
		error = -EINVAL;
	else if (pread(fd, &marker, sizeof(marker), 0) != sizeof(marker) ||
		 memcmp(marker.tag, SP_TAG_RUN, sizeof(marker.tag)) != 0 ||
		 marker.version > SP_FORMAT_VERSION)
		error = -EINVAL;
	else if (pwrite(fd, &off, sizeof(off), offsetof(struct sp_run_frame, off)) != sizeof(off))
		error = -errno;
	close(fd);
	return error;
}

static int run_switch(const char *run, uint32_t off)
{
	char pattern[4096];
	glob_t found = {.gl_pathc = 0};
	int error = -ENOENT;

	if (snprintf(pattern, sizeof(pattern), "%s/0-run-*.zst", run) >= (int)sizeof(pattern))
		return -ENAMETOOLONG;
	if (glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc == 1)
		error = word_write(found.gl_pathv[0], off);
	globfree(&found);
	return error;
}

static int command(int argc, char **argv, uint32_t off)
{
	int error;

	if (argc != 2 || argv[1][0] == '-') {
		int asked = argc == 2 && strcmp(argv[1], "--help") == 0;

		fprintf(asked ? stdout : stderr, _("Usage: stageprof %s RUN\n"), argv[0]);
		return asked ? SP_STATUS_OK : SP_STATUS_USAGE;
	}
	error = run_switch(argv[1], off);
	if (!error)
		return SP_STATUS_OK;
	fprintf(stderr,
		"stageprof %s: %s: %s; give the directory of a run that goes on, as run.zst\n",
		argv[0], argv[1],
		error == -ENOENT ? "it contains no run's marker file" : strerror(-error));
	return SP_STATUS_FAILED;
}

int sp_command_on(int argc, char **argv)
{
	return command(argc, argv, 0);
}

int sp_command_off(int argc, char **argv)
{
	return command(argc, argv, 1);
}

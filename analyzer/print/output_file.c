/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/print/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const int end_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};
#define END_SIGNALS (sizeof(end_signals) / sizeof(end_signals[0]))

static const char *volatile unfinished;

static void remove_unfinished(int signal)
{
	const char *path = unfinished;

	if (path)
		unlink(path);
	raise(signal); /* SA_RESETHAND: has the default effect once this handler returns */
}

/* A signal that the caller ignores stays ignored. */
static void watch_signals(const char *path)
{
	struct sigaction action = {.sa_handler = remove_unfinished, .sa_flags = SA_RESETHAND}, was;

	unfinished = path;
	for (size_t i = 0; i < END_SIGNALS; i++)
		if (sigaction(end_signals[i], NULL, &was) == 0 && was.sa_handler == SIG_DFL)
			sigaction(end_signals[i], &action, NULL);
}

static int open_stream(struct sp_output_file *f, int fd, const char *mode)
{
	f->file = fdopen(fd, mode);
	if (f->file)
		return 0;
	close(fd);
	return -ENOMEM;
}

static int open_in_place(struct sp_output_file *f)
{
	int fd = open(f->path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return open_stream(f, fd, "w");
}

/* Opens a new file that a signal removes, also where it comes before the handler is set. Returns
 * the descriptor, or -errno. */
static int open_watched(const char *path)
{
	sigset_t ends, was;
	int fd;

	sigemptyset(&ends);
	for (size_t i = 0; i < END_SIGNALS; i++)
		sigaddset(&ends, end_signals[i]);
	pthread_sigmask(SIG_BLOCK, &ends, &was);
	/* "+": sqlite reads the file that it writes */
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	fd = fd < 0 ? -errno : fd;
	if (fd >= 0)
		watch_signals(path);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	return fd;
}

static int open_part(struct sp_output_file *f)
{
	int fd;

	if (asprintf(&f->part_path, "%s.%ld.part", f->path, (long)getpid()) < 0) {
		f->part_path = NULL;
		return -ENOMEM;
	}
	fd = open_watched(f->part_path);
	if (fd < 0) {
		free(f->part_path); /* the file is another program's, or does not exist */
		f->part_path = NULL;
		return fd;
	}
	return open_stream(f, fd, "w+");
}

int sp_output_file_open(struct sp_output_file *f, const char *path, bool is_forced)
{
	struct stat st;
	int r;

	*f = (struct sp_output_file){.is_forced = is_forced};
	if (!path || strcmp(path, "-") == 0) {
		f->file = stdout;
		return 0;
	}
	f->path = strdup(path);
	if (!f->path)
		return -ENOMEM;
	if (stat(path, &st) != 0)
		r = errno == ENOENT ? open_part(f) : -errno;
	else if (S_ISDIR(st.st_mode))
		r = -EISDIR;
	else if (!S_ISREG(st.st_mode))
		r = open_in_place(f);
	else
		r = is_forced ? open_part(f) : -EEXIST;
	if (r < 0)
		sp_output_file_drop(f);
	return r;
}

int sp_output_folder_open(struct sp_output_file *f, const char *path)
{
	struct stat st;
	int r = 0;

	*f = (struct sp_output_file){.is_folder = true, .path = strdup(path)};
	if (!f->path)
		return -ENOMEM;
	if (lstat(path, &st) == 0)
		r = -EEXIST;
	else if (asprintf(&f->part_path, "%s.%ld.part", path, (long)getpid()) < 0)
		r = -ENOMEM;
	if (r < 0) {
		f->part_path = NULL;
	} else if (mkdir(f->part_path, 0777) < 0) {
		r = -errno;
		free(f->part_path); /* the folder is another program's, or does not exist */
		f->part_path = NULL;
	} else if (!(f->file = fopen("/dev/null", "w"))) {
		r = -errno;
	}
	if (r < 0)
		sp_output_file_drop(f);
	return r;
}

/* Does not replace a file that was created meanwhile. */
static int take_name(const struct sp_output_file *f)
{
	if (f->is_forced)
		return rename(f->part_path, f->path) == 0 ? 0 : -errno;
	if (renameat2(AT_FDCWD, f->part_path, AT_FDCWD, f->path, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS) /* file systems without RENAME_NOREPLACE */
		return -errno;
	if (f->is_folder) /* replaces an empty folder alone */
		return rename(f->part_path, f->path) == 0 ? 0 : -errno;
	if (link(f->part_path, f->path) != 0)
		return -errno;
	unlink(f->part_path);
	return 0;
}

static int finish_file(struct sp_output_file *f)
{
	bool failed = fflush(f->file) != 0 || ferror(f->file);
	int r = failed ? (errno ? -errno : -EIO) : 0;

	/* Network file systems report a full disk when the file is closed. */
	if (f->file != stdout && fclose(f->file) != 0 && r == 0)
		r = -errno;
	f->file = NULL;
	return r;
}

int sp_output_file_keep(struct sp_output_file *f)
{
	int r;

	errno = 0;
	r = finish_file(f);
	if (r == 0 && f->part_path) {
		r = take_name(f);
		if (r == 0) {
			unfinished = NULL;
			free(f->part_path);
			f->part_path = NULL;
		}
	}
	sp_output_file_drop(f);
	return r;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	remove(path);
	return 0;
}

void sp_output_file_drop(struct sp_output_file *f)
{
	if (f->file && f->file != stdout)
		fclose(f->file);
	if (f->part_path) {
		if (f->is_folder)
			nftw(f->part_path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
		else
			unlink(f->part_path);
		unfinished = NULL;
	}
	free(f->part_path);
	free(f->path);
	*f = (struct sp_output_file){.file = NULL};
}

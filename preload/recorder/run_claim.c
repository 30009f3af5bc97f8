/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/run_claim.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/sys/fd_private_task.h"
#include "preload/sys/clock.h"
#include "preload/sys/memory.h"
#include "preload/sys/paths.h"
#include "preload/files/run_file.h"
#include "preload/files/spare_files.h"
#include "preload/recorder/switch.h"
#include "preload/settings/run_identity.h"
#include "preload/sys/sys.h"
#include "trace/format.h"

#define MADE_TRIES 8

struct claim {
	char directory[SP_RUN_PATH_BYTES], made[SP_RUN_PATH_BYTES], marker[SP_RUN_PATH_BYTES];
	char made_marker[SP_RUN_PATH_BYTES];
	int is_new; /* no other process had claimed the directory */
	struct sp_inode inode;
	long error;
};

/* Every byte is written: a hole would ask for space at a store. */
static long table_write(long fd)
{
	const size_t bytes = SP_MARKER_BYTES - SP_MARKER_TABLE_AT;
	const struct sp_frame frame = {SP_FRAME_FREE, (uint32_t)bytes};
	uint8_t *zeros;
	long error;

	if (!sp_run_file_fits(SP_MARKER_BYTES))
		return -EFBIG;
	zeros = sp_pages_make(bytes);
	if (!zeros)
		return -ENOMEM;
	error = sp_run_file_write(fd, &frame, sizeof(frame), SP_RUN_FRAME_BYTES);
	if (!error)
		error = sp_run_file_write(fd, zeros, bytes, SP_MARKER_TABLE_AT);
	sp_pages_free(zeros, bytes);
	return error;
}

static long marker_write(const char *path)
{
	struct sp_run_frame marker = {
		.frame = {SP_FRAME_RUN, sizeof(marker) - sizeof(struct sp_frame)},
		.version = SP_FORMAT_VERSION,
		.token = {sp_run.token[0], sp_run.token[1]},
		.made_realtime_ns = sp_clock_ns(CLOCK_REALTIME),
		.off = sp_switch_initial(),
	};
	long error, closed, fd;

	if (!sp_run_file_fits(sizeof(marker)))
		return -EFBIG;
	fd = SP_SYS4(SYS_openat, AT_FDCWD, path,
		     O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fd;
	sp_run_file_made(fd);
	memcpy(marker.tag, SP_TAG_RUN, sizeof(marker.tag));
	error = sp_run_file_write(fd, &marker, sizeof(marker), 0);
	if (!error && table_write(fd) < 0)
		SP_SYS2(SYS_ftruncate, fd, sizeof(marker)); /* the run goes without */
	closed = SP_SYS1(SYS_close, fd); /* FUSE and NFS report here what a write did not */
	return error ? error : closed;
}

/* The program's umask may have taken the rights of the directory's owner; only then it costs a call
 * more. */
static long marker_write_in(const char *directory, const char *path)
{
	long error = marker_write(path);

	if (error != -EACCES)
		return error;
	SP_SYS3(SYS_fchmodat, AT_FDCWD, directory, 0700);
	return marker_write(path);
}

static int is_ours(const struct claim *c)
{
	return SP_SYS4(SYS_faccessat, AT_FDCWD, c->marker, F_OK, 0) == 0;
}

static int is_taken(const struct claim *c)
{
	return SP_SYS4(SYS_faccessat, AT_FDCWD, c->directory, F_OK, 0) == 0;
}

/* The name is a device or a pipe: a directory with a number after that name would be a mistake. */
static int is_special(const char *path)
{
	struct stat st;

	if (SP_SYS4(SYS_newfstatat, AT_FDCWD, path, &st, 0) < 0)
		return 0;
	return !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* A hidden name in the folder of the run. */
static void made_name(struct claim *c)
{
	struct sp_text text = sp_text_init(c->made, sizeof(c->made));

	sp_text_add(&text, sp_run.base);
	*strrchr(c->made, '/') = 0;
	text.at = c->made + strlen(c->made);
	sp_text_add(&text, "/.stageprof-");
	sp_text_add_hex(&text, sp_run.token[0]);
	sp_text_add_char(&text, '-');
	sp_text_add_number(&text, (uint64_t)SP_SYS1(SYS_getpid, 0), 10);
	sp_text_add_char(&text, '-');
	sp_text_add_hex(&text, (uint64_t)sp_clock_ns(CLOCK_MONOTONIC));
}

/* A folder of each host or rank is not there before its first process.
 * Others may make it at once. */
static void folders_make(struct claim *c)
{
	for (unsigned up = sp_run_own_folders(); up; up--) {
		sp_run_parent(c->made, up - 1);
		SP_SYS3(SYS_mkdirat, AT_FDCWD, c->made, 0777);
	}
}

/* Makes a directory with the marker in it. Processes of two containers may have the same run and
 * pid; the time differs, or another time is tried. */
static long made_make(struct claim *c)
{
	long error = -EEXIST;

	for (int i = 0; i < MADE_TRIES && error == -EEXIST; i++) {
		made_name(c);
		error = SP_SYS3(SYS_mkdirat, AT_FDCWD, c->made, 0700);
		if (error != -ENOENT || !sp_run_own_folders())
			continue;
		folders_make(c);
		made_name(c);
		error = SP_SYS3(SYS_mkdirat, AT_FDCWD, c->made, 0700);
	}
	if (error)
		return error;
	sp_run_marker(c->made_marker, c->made);
	error = marker_write_in(c->made, c->made_marker);
	if (error)
		SP_SYS3(SYS_unlinkat, AT_FDCWD, c->made, AT_REMOVEDIR);
	return error;
}

static void made_remove(const struct claim *c)
{
	SP_SYS3(SYS_unlinkat, AT_FDCWD, c->made_marker, 0);
	SP_SYS3(SYS_unlinkat, AT_FDCWD, c->made, AT_REMOVEDIR);
}

/* For file systems whose rename cannot refuse to replace (some network file systems): mkdir
 * decides, and a sibling that comes between mkdir and the marker begins another directory. */
static long claim_by_mkdir(const struct claim *c)
{
	long error = SP_SYS3(SYS_mkdirat, AT_FDCWD, c->directory, 0700);

	return error ? error : marker_write_in(c->directory, c->marker);
}

static long claim_one(const struct claim *c, int *made_left)
{
	long error =
		SP_SYS5(SYS_renameat2, AT_FDCWD, c->made, AT_FDCWD, c->directory, RENAME_NOREPLACE);

	if (error == -EINVAL || error == -ENOSYS)
		return claim_by_mkdir(c);
	if (!error)
		*made_left = 0;
	return error;
}

/* If the path names another directory later, no file of ours is made there. */
static void directory_remember(struct claim *c)
{
	long fd = SP_SYS4(SYS_openat, AT_FDCWD, c->directory,
			  O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);

	if (fd < 0)
		return;
	c->inode = sp_inode_of(fd);
	SP_SYS1(SYS_close, fd);
}

static void task_claim(void *argument)
{
	struct claim *c = argument;
	int made_left = 0;

	for (unsigned number = 1; number < SP_RUN_NUMBERS; number++) {
		sp_run_candidate(c->directory, number);
		sp_run_marker(c->marker, c->directory);
		c->error = 0;
		if (is_ours(c))
			break;
		c->error = number == 1 && is_special(c->directory) ? -ENOTDIR : 0;
		if (c->error)
			break;
		if (is_taken(c)) {
			if (is_ours(c)) /* a sibling came between */
				break;
			continue;
		}
		if (!made_left) {
			c->error = made_make(c);
			if (c->error)
				break;
			made_left = 1;
		}
		c->error = claim_one(c, &made_left);
		c->is_new = !c->error;
		/* A sibling may have claimed the directory after our check. */
		if (c->error == -EEXIST && is_ours(c))
			c->error = 0;
		if (c->error != -EEXIST)
			break;
	}
	if (made_left)
		made_remove(c);
	if (c->error)
		return;
	directory_remember(c);
	sp_switch_join(c->marker);
}

int sp_run_claim(void)
{
	struct claim *c;
	int ret;

	if (sp_run.directory[0])
		return 0;
	c = sp_pages_make(sizeof(*c));
	if (!c)
		return -ENOMEM;
	sp_fd_private_task(task_claim, c);
	ret = (int)c->error;
	if (!ret) {
		sp_run.inode = c->inode;
		strcpy(sp_run.directory, c->directory);
	}
	ret = !ret && c->is_new ? SP_RUN_MADE : ret;
	sp_pages_free(c, sizeof(*c));
	return ret;
}

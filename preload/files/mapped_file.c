/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/files/mapped_file.h"

#include <errno.h>
#include <fcntl.h>

#include "preload/sys/fd_private_task.h"
#include "preload/sys/memory.h"
#include "preload/sys/sys.h"
#include "trace/format.h"

#define PAGE_BYTES SP_RUN_FILE_PAGE_BYTES
#define ALIGN_UP(x, to) (((x) + (to)-1) / (to) * (to))

/* The argument of the functions below, which run in a private task: the host's table gets no
 * descriptor. */
struct mapped_task {
	const struct sp_mapped_file *file;
	struct sp_inode inode; /* make: of the new file */
	long directory_fd;
	const void *content; /* make: what to write */
	size_t content_bytes;
	uint64_t from, to;   /* the file's size before and after */
	uint64_t room, most; /* continue: what `to` follows from */
	int wants_header;
	uint64_t header_at;
	struct sp_file_mapping *mapping;
	void (*work)(struct mapped_task *e);
	long error;
};

static uint8_t *map(struct mapped_task *e, long fd, size_t bytes, uint64_t offset)
{
	long at = sp_pages_of_file(bytes, MAP_SHARED, fd, offset);

	if (sp_sys_failed(at)) {
		e->error = e->error ? e->error : at;
		return NULL;
	}
	SP_SYS3(SYS_madvise, at, bytes, MADV_DONTFORK);
	return (uint8_t *)at;
}

static void map_tail(struct mapped_task *e, long fd)
{
	struct sp_file_mapping *m = e->mapping;

	if (e->error)
		return;
	m->bytes = map(e, fd, e->to - m->offset, m->offset);
	if (m->bytes && e->wants_header) {
		uint64_t in_page = e->header_at % PAGE_BYTES;

		m->header = map(e, fd, in_page + SP_HEADER_FRAME_BYTES, e->header_at - in_page);
		m->header = m->header ? m->header + in_page : NULL;
		e->error = 0; /* it goes without */
	}
}

/* Written whole under a hidden name, then renamed: no reader ever meets half a file. */
static void task_make(struct mapped_task *e)
{
	const struct sp_mapped_file *file = e->file;
	long fd = sp_run_file_make(e->directory_fd, file->temporary, &e->inode);

	if (fd < 0) {
		e->error = fd;
		return;
	}
	e->error = sp_run_file_may_be_mapped(fd)
			   ? sp_run_file_write(fd, e->content, e->content_bytes, 0)
			   : -ENODEV;
	map_tail(e, fd);
	SP_SYS1(SYS_close, fd);
	if (!e->error)
		e->error = sp_run_file_rename(e->directory_fd, file->temporary, file->name);
	if (e->error)
		SP_SYS3(SYS_unlinkat, e->directory_fd, file->temporary, 0);
}

static long open_file(struct mapped_task *e)
{
	long fd = sp_run_file_open(e->directory_fd, e->file->name, O_RDWR, &e->file->inode);

	if (fd < 0)
		e->error = fd;
	return fd;
}

static void task_extend(struct mapped_task *e)
{
	long fd = open_file(e);

	if (fd < 0)
		return;
	e->error = sp_run_file_append_free(fd, e->from, e->to);
	map_tail(e, fd);
	/* All will be written: at once it costs half a microsecond a page, one by one as blocks
	 * come, ten. */
	if (!e->error)
		SP_SYS3(SYS_madvise, e->mapping->bytes, e->to - e->mapping->offset,
			MADV_POPULATE_WRITE);
	if (e->error)
		SP_SYS2(SYS_ftruncate, fd, e->from);
	SP_SYS1(SYS_close, fd);
}

/* The file's old and new end. */
static long ends_find(struct mapped_task *e, long fd)
{
	long error = sp_run_file_left(fd, &e->header_at, &e->from);

	if (error)
		return error;
	e->to = ALIGN_UP(e->header_at + e->room, PAGE_BYTES);
	e->to = e->to > e->from ? e->to : e->from;
	e->mapping->offset = e->header_at / PAGE_BYTES * PAGE_BYTES;
	return e->to > e->most ? -EFBIG : 0;
}

static void task_continue(struct mapped_task *e)
{
	long fd = open_file(e);

	if (fd < 0)
		return;
	e->error = ends_find(e, fd);
	if (!e->error) {
		e->error = sp_run_file_append_free(fd, e->from, e->to);
		map_tail(e, fd);
		if (e->error && e->to > e->from)
			SP_SYS2(SYS_ftruncate, fd, e->from);
	}
	SP_SYS1(SYS_close, fd);
}

static void task_cut(struct mapped_task *e)
{
	long fd = open_file(e);

	if (fd < 0)
		return;
	e->error = SP_SYS2(SYS_ftruncate, fd, e->to);
	SP_SYS1(SYS_close, fd);
}

static void task_run(void *argument)
{
	struct mapped_task *e = argument;

	e->directory_fd = sp_run_directory_open(&e->file->directory);
	if (e->directory_fd < 0) {
		e->error = e->directory_fd;
		return;
	}
	e->work(e);
	SP_SYS1(SYS_close, e->directory_fd);
}

int sp_mapped_file_make(struct sp_mapped_file *file, const void *bytes, size_t count,
			int wants_header, struct sp_file_mapping *ret_mapping)
{
	struct mapped_task e = {.file = file,
				.content = bytes,
				.content_bytes = count,
				.to = count,
				.wants_header = wants_header,
				.mapping = ret_mapping,
				.work = task_make};

	*ret_mapping = (struct sp_file_mapping){.bytes = NULL};
	sp_fd_private_task(task_run, &e);
	if (e.error) {
		sp_pages_free(ret_mapping->bytes, count);
		sp_pages_free(ret_mapping->header, SP_HEADER_FRAME_BYTES);
		return (int)e.error;
	}
	file->inode = e.inode;
	return 0;
}

int sp_mapped_file_extend(const struct sp_mapped_file *file, uint64_t from, uint64_t to,
			  struct sp_file_mapping *ret_mapping)
{
	struct mapped_task e = {.file = file,
				.from = from,
				.to = to,
				.mapping = ret_mapping,
				.work = task_extend};

	ret_mapping->bytes = ret_mapping->header = NULL;
	sp_fd_private_task(task_run, &e);
	return (int)e.error;
}

int sp_mapped_file_continue(const struct sp_mapped_file *file, uint64_t end, uint64_t bytes,
			    uint64_t most, int wants_header, struct sp_file_room *ret_room,
			    struct sp_file_mapping *ret_mapping)
{
	struct mapped_task e = {.file = file,
				.header_at = end,
				.room = bytes,
				.most = most,
				.wants_header = wants_header,
				.mapping = ret_mapping,
				.work = task_continue};

	*ret_mapping = (struct sp_file_mapping){.bytes = NULL};
	sp_fd_private_task(task_run, &e);
	*ret_room = (struct sp_file_room){e.header_at, e.to};
	return (int)e.error;
}

int sp_mapped_file_cut(const struct sp_mapped_file *file, uint64_t bytes)
{
	struct mapped_task e = {.file = file, .to = bytes, .work = task_cut};

	sp_fd_private_task(task_run, &e);
	return (int)e.error;
}

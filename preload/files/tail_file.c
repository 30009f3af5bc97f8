/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/files/tail_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>

#include "preload/sys/fd_private_task.h"
#include "preload/sys/sys.h"

#define ALIGN_UP(x, to) (((x) + (to)-1) / (to) * (to))

struct tail_task {
	struct sp_tail_file *file;
	const struct sp_tail_append *append;
	uint64_t most; /* of a file that others have left; 0: it is the caller's own */
	long directory_fd, fd;
	long error;
};

static uint64_t frames_bytes(const struct tail_task *e)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < SP_TAIL_PARTS; i++)
		bytes += e->append->frames[i].count;
	return bytes;
}

/* A FREE frame takes 8 bytes at least. */
static uint64_t padded_end(uint64_t end)
{
	uint64_t bytes = ALIGN_UP(end, SP_RUN_FILE_PAGE_BYTES);

	return bytes - end && bytes - end < sizeof(struct sp_frame) ? bytes + SP_RUN_FILE_PAGE_BYTES
								    : bytes;
}

static void put(struct tail_task *e, const void *bytes, uint64_t count, uint64_t offset)
{
	if (!e->error && count)
		e->error = sp_run_file_write(e->fd, bytes, count, offset);
}

static struct sp_frame free_frame(uint64_t begin, uint64_t end)
{
	return (struct sp_frame){SP_FRAME_FREE, (uint32_t)(end - begin - sizeof(struct sp_frame))};
}

static void put_free(struct tail_task *e, uint64_t begin, uint64_t end)
{
	const struct sp_frame frame = free_frame(begin, end);

	if (end > begin)
		put(e, &frame, sizeof(frame), begin);
}

/* More FREE space. Once one frame joins it nothing is cut off again: a full copy-on-write disk may
 * refuse the store that would make the frame shorter first. */
static void extend(struct tail_task *e, uint64_t bytes)
{
	struct sp_tail_file *file = e->file;

	e->error = sp_run_file_append_free(e->fd, file->bytes, bytes);
	put_free(e, file->end, bytes);
	if (e->error)
		SP_SYS2(SYS_ftruncate, e->fd, file->bytes);
	else
		file->bytes = bytes;
}

/*
 * At `begin`: `head` if there is one, all but the first `skipped` bytes of the frames, and a FREE
 * frame up to `bytes`.
 */
static void put_frames(struct tail_task *e, const struct sp_file_header *head, uint64_t skipped,
		       uint64_t begin, uint64_t bytes)
{
	uint64_t end = begin + (head ? SP_HEADER_FRAME_BYTES : 0) + frames_bytes(e);
	struct sp_frame last = free_frame(end, bytes);
	struct iovec parts[SP_TAIL_PARTS + 2] = {
		{(void *)(uintptr_t)head, head ? SP_HEADER_FRAME_BYTES : 0}};

	for (unsigned i = 0; i < SP_TAIL_PARTS; i++) {
		const struct sp_tail_frames *part = &e->append->frames[i];

		parts[i + 1] = (struct iovec){(uint8_t *)(uintptr_t)part->bytes + skipped,
					      part->count - skipped};
		begin += skipped;
		skipped = 0;
	}
	parts[SP_TAIL_PARTS + 1] = (struct iovec){&last, bytes > end ? sizeof(last) : 0};
	if (!e->error)
		e->error = sp_run_file_write_parts(e->fd, parts, SP_TAIL_PARTS + 2, begin);
}

/* In a FREE frame all is prepared, and the head of the first frame is written last. */
static void append_frames(struct tail_task *e)
{
	uint64_t begin = e->file->end, end = begin + frames_bytes(e), bytes = padded_end(end);

	if (end == begin)
		return;
	if (bytes > e->file->bytes)
		extend(e, bytes);
	put_frames(e, NULL, sizeof(struct sp_frame), begin, e->file->bytes);
	put(e, e->append->frames[0].bytes, sizeof(struct sp_frame), begin);
	if (!e->error)
		e->file->end = end;
}

/* The words of the header that are stored to while the process runs. */
static void put_words(struct tail_task *e)
{
	const struct sp_file_header *h = e->append->words;
	const uint64_t at = offsetof(struct sp_file_header, process_lost);

	if (h)
		put(e, &h->process_lost, sizeof(*h) - at, e->file->header_at + at);
}

static void header_with_words(const struct tail_task *e, struct sp_file_header *ret)
{
	const struct sp_file_header *words = e->append->words;
	const size_t at = offsetof(struct sp_file_header, process_lost);

	memcpy(ret, e->append->header, sizeof(*ret));
	if (words)
		memcpy((uint8_t *)ret + at, &words->process_lost, sizeof(*ret) - at);
}

/* FUSE and NFS send writes later, and close reports those that did not arrive. */
static void close_file(struct tail_task *e)
{
	long error = SP_SYS1(SYS_close, e->fd);

	if (!e->error)
		e->error = error;
}

static void open_file(struct tail_task *e)
{
	e->fd = sp_run_file_open(e->directory_fd, e->append->name, O_RDWR, &e->file->inode);
	e->error = e->fd >= 0 ? 0 : e->fd == -ENOENT || e->fd == -ELOOP ? -ESTALE : e->fd;
}

static void cut(struct tail_task *e, uint64_t bytes)
{
	open_file(e);
	if (e->error)
		return;
	put_free(e, e->file->end, bytes);
	e->error = e->error ? e->error : SP_SYS2(SYS_ftruncate, e->fd, bytes);
	close_file(e);
}

/*
 * Some writes since the file was `before` did not arrive, and nobody knows which. The file becomes
 * what it was. Where that fails, too, it ends with its last block, and the next ones have to go to
 * another file: -ESTALE.
 */
static void undo(struct tail_task *e, const struct sp_tail_file *before, long error)
{
	*e->file = *before;
	cut(e, before->bytes);
	if (e->error) {
		cut(e, before->end);
		error = -ESTALE;
	}
	e->error = error;
}

/* A stream begins at the end of what others have left. */
static void ends_find(struct tail_task *e)
{
	struct sp_tail_file *file = e->file;
	uint64_t end;

	e->error = sp_run_file_left(e->fd, &file->end, &file->bytes);
	end = padded_end(file->end + frames_bytes(e));
	if (!e->error && (end > e->most || file->bytes > e->most))
		e->error = -EFBIG;
	if (!e->error)
		file->header_at = file->end;
}

static void open_and_append(struct tail_task *e)
{
	struct sp_tail_file before;
	long error;

	open_file(e);
	if (e->error)
		return;
	if (e->most)
		ends_find(e);
	before = *e->file;
	if (!e->error)
		append_frames(e);
	if (!e->error) {
		put_words(e);
		e->error = 0; /* the frames are there */
		if (e->append->is_last)
			SP_SYS2(SYS_ftruncate, e->fd, e->file->end);
	}
	error = SP_SYS1(SYS_close, e->fd);
	if (error)
		undo(e, &before, error);
}

/* Whole under a hidden name, then renamed: no reader ever meets half a file. */
static void make_whole(struct tail_task *e)
{
	struct sp_tail_file made = *e->file;
	uint64_t end = SP_HEADER_FRAME_BYTES + frames_bytes(e);
	struct sp_file_header header;

	made.header_at = 0;
	made.end = end;
	made.bytes = e->append->is_last ? end : padded_end(end);
	e->fd = sp_run_file_make(e->directory_fd, e->append->temporary, &made.inode);
	if (e->fd < 0) {
		e->error = e->fd;
		return;
	}
	header_with_words(e, &header);
	put_frames(e, &header, 0, 0, made.bytes);
	if (!e->error)
		e->error = SP_SYS2(SYS_ftruncate, e->fd, made.bytes);
	close_file(e);
	if (!e->error)
		e->error =
			sp_run_file_rename(e->directory_fd, e->append->temporary, e->append->name);
	if (e->error)
		SP_SYS3(SYS_unlinkat, e->directory_fd, e->append->temporary, 0);
	else
		*e->file = made;
}

static void task_append(void *argument)
{
	struct tail_task *e = argument;

	e->directory_fd = sp_run_directory_open(&e->file->directory);
	if (e->directory_fd < 0) {
		e->error = e->directory_fd;
		return;
	}
	if (e->file->bytes || e->most)
		open_and_append(e);
	else
		make_whole(e);
	SP_SYS1(SYS_close, e->directory_fd);
}

int sp_tail_file_append(struct sp_tail_file *file, const struct sp_tail_append *append)
{
	struct tail_task e = {.file = file, .append = append};

	sp_fd_private_task(task_append, &e);
	return (int)e.error;
}

int sp_tail_file_append_here(struct sp_tail_file *file, const struct sp_tail_append *append)
{
	struct tail_task e = {.file = file, .append = append};

	task_append(&e);
	return (int)e.error;
}

int sp_tail_file_continue(struct sp_tail_file *file, uint64_t most,
			  const struct sp_tail_append *append)
{
	struct tail_task e = {.file = file, .append = append, .most = most};

	sp_fd_private_task(task_append, &e);
	return (int)e.error;
}

int sp_tail_file_continue_here(struct sp_tail_file *file, uint64_t most,
			       const struct sp_tail_append *append)
{
	struct tail_task e = {.file = file, .append = append, .most = most};

	task_append(&e);
	return (int)e.error;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/files/arena_keep.h"

#include <errno.h>
#include <string.h>

#include "preload/files/tail_file.h"
#include "preload/sys/memory.h"
#include "trace/arenas/tail_copy.h"

#define TRIES 4u
#define NAME_BYTES 256u

struct arena_file {
	const struct sp_arena_keeper *keeper;
	struct sp_tail_file file;
	uint32_t spare;
	char name[NAME_BYTES];
};

static long frames_put(struct arena_file *f, const struct sp_tail_frames *frames)
{
	const struct sp_tail_append append = {.name = f->name, .frames = {frames[0], frames[1]}};

	return sp_tail_file_append_here(&f->file, &append);
}

static long tail_put(struct arena_file *f, const uint8_t *tail, size_t bytes, uint32_t window_at)
{
	uint8_t *copy = sp_pages_make(bytes);
	struct sp_tail_frames frames[SP_TAIL_PARTS] = {{copy, 0}, {copy + window_at, 0}};
	long error = 0;

	if (!copy)
		return -ENOMEM;
	frames[0].count = sp_tail_copy(copy, tail, bytes, window_at);
	if (frames[0].count) {
		frames[1].count = bytes - window_at;
		error = frames_put(f, frames);
	}
	sp_pages_free(copy, bytes);
	return error;
}

static long tails_put(struct arena_file *f, const struct sp_arena_view *view)
{
	long error = 0;

	for (uint32_t unit = 0; !error && unit < view->units; unit++) {
		const uint8_t *tail = sp_arena_unit(view->arena, view->units, unit);
		uint32_t window_at;
		size_t bytes = sp_arena_tail_bytes(view, unit, &window_at);

		if (bytes)
			error = tail_put(f, tail, bytes, window_at);
	}
	return error;
}

/* The arena's header first: words of it are of the whole image. */
static long file_take(struct arena_file *f, const struct sp_arena *arena)
{
	const struct sp_tail_append append = {.name = f->name,
					      .frames = {{&arena->header, sizeof(arena->header)}}};
	struct sp_spare_file spare;
	long error;

	f->spare = sp_spare_take(f->keeper->spares, &spare);
	if (!f->spare)
		return -ENOENT;
	sp_spare_name_text(f->keeper->spares->host, &spare.name, f->name, sizeof(f->name) - 4);
	strcat(f->name, ".zst");
	f->file = (struct sp_tail_file){.directory = f->keeper->directory,
					.inode = spare.inode,
					.end = spare.end};
	error = sp_tail_file_continue_here(&f->file, sp_spare_most(), &append);
	if (error)
		sp_spare_return(f->keeper->spares, f->spare, f->file.end, (int)error);
	return error;
}

long sp_arena_keep(const struct sp_arena_keeper *keeper, const struct sp_arena_view *view)
{
	struct arena_file f = {.keeper = keeper};
	long error = -ESTALE;

	if (view->arena->run_token[0] != keeper->run_token[0] ||
	    view->arena->run_token[1] != keeper->run_token[1])
		return -EXDEV;
	for (unsigned i = 0; error == -ESTALE && i < TRIES; i++)
		error = file_take(&f, view->arena);
	if (error)
		return error;
	error = tails_put(&f, view);
	sp_spare_return(keeper->spares, f.spare, f.file.end, error == -ESTALE ? -ESTALE : 0);
	return error;
}

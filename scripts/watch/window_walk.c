/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/watch/window_walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/settings/run_identity.h"
#include "trace/arenas/libc_call.h"

/* Only files of the run have one: a tail in shared memory says where its window is. */
struct window_place {
	uint64_t size;
	uint64_t base;	    /* after the last frame that never moves */
	uint64_t window_at; /* 0: no window */
};

/* The number of this key; 0: no memory. */
static uint32_t id_of(struct sp_window_walk *w, const void *key, size_t bytes)
{
	uint32_t *id = sp_id_map_at(&w->ids, sp_id_hash(0, key, bytes));

	if (!id)
		return 0;
	if (!*id)
		*id = w->ids.count;
	return *id;
}

static struct window_place *place_of(struct sp_window_walk *w, uint32_t id)
{
	struct window_place *places;
	uint32_t room = w->room ? w->room : 64;

	while (room <= id)
		room *= 2;
	if (room == w->room)
		return &w->places[id];
	places = realloc(w->places, room * sizeof(*places));
	if (!places)
		return NULL;
	memset(places + w->room, 0, (room - w->room) * sizeof(*places));
	w->places = places;
	w->room = room;
	return &w->places[id];
}

static bool is_window(const struct sp_window_header *window)
{
	return window->frame.magic == SP_FRAME_WINDOW &&
	       memcmp(window->tag, SP_TAG_WINDOW, sizeof(window->tag)) == 0;
}

bool sp_window_again(const struct sp_seen_window *seen, struct sp_window_header *ret)
{
	if (seen->fd < 0)
		memcpy(ret, seen->live, sizeof(*ret));
	else if (pread(seen->fd, ret, sizeof(*ret), (off_t)seen->at) != sizeof(*ret))
		return false;
	return is_window(ret);
}

/* Walks on from the last frame that never moves to the last window. */
static void window_find(struct window_place *it, int fd, uint64_t size)
{
	uint64_t at = it->base <= size ? it->base : 0;
	union {
		struct sp_frame frame;
		struct sp_block_header block;
	} head;

	it->size = size;
	it->window_at = 0;
	while (at + sizeof(head) <= size &&
	       pread(fd, &head, sizeof(head), (off_t)at) == sizeof(head)) {
		uint64_t next = at + sizeof(head.frame) + head.frame.size;

		if ((head.frame.magic & ~0xFu) != SP_FRAME_HEADER)
			return;
		if (head.frame.magic == SP_FRAME_BLOCK)
			next += head.block.zstd_bytes;
		if (head.frame.magic == SP_FRAME_BLOCK || head.frame.magic == SP_FRAME_HEADER) {
			it->base = next;
			it->window_at = 0;
		}
		if (head.frame.magic == SP_FRAME_WINDOW)
			it->window_at = at;
		at = next;
	}
}

static void file_look(struct sp_window_walk *w, uint32_t id, struct window_place *it, int fd,
		      uint64_t size)
{
	struct sp_seen_window seen = {.id = id, .fd = fd, .at = it->window_at};

	if (size != it->size || !it->window_at || !sp_window_again(&seen, &seen.window))
		window_find(it, fd, size);
	seen.at = it->window_at;
	if (it->window_at && sp_window_again(&seen, &seen.window))
		w->see(w->context, &seen);
}

static void entry_look(struct sp_window_walk *w, int directory, const char *name)
{
	size_t n = strlen(name);
	struct window_place *it;
	uint32_t id;
	struct stat st;
	int fd;

	if (n < 5 || name[0] == '.' || strcmp(name + n - 4, ".zst") != 0 ||
	    strncmp(name, "0-", 2) == 0)
		return;
	id = id_of(w, name, n);
	it = id ? place_of(w, id) : NULL;
	if (!it || fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
	    (!it->window_at && (uint64_t)st.st_size == it->size))
		return;
	fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	file_look(w, id, it, fd, (uint64_t)st.st_size);
	close(fd);
}

static void tail_look(struct sp_window_walk *w, const struct sp_arena_view *view, uint32_t unit)
{
	struct sp_seen_window seen = {.fd = -1};
	uint32_t window_at;

	if (!sp_arena_tail_bytes(view, unit, &window_at))
		return;
	seen.live =
		(const struct sp_window_header *)(sp_arena_unit(view->arena, view->units, unit) +
						  window_at);
	if (!sp_window_again(&seen, &seen.window))
		return;
	seen.id = id_of(w, &seen.window.stream_id, sizeof(seen.window.stream_id));
	if (seen.id)
		w->see(w->context, &seen);
}

/* Files that are not mapped have their tails there. */
static void arenas_look(struct sp_window_walk *w)
{
	long highest;

	w->collect.sys = sp_libc_call;
	w->collect.uid = geteuid();
	highest = sp_arena_highest(&w->collect);
	for (long number = 0; number <= highest; number++) {
		struct sp_arena_view view = sp_arena_attach(&w->collect, number);

		if (!view.arena)
			continue;
		if (memcmp(view.arena->run_token, sp_run.token, sizeof(sp_run.token)) == 0)
			for (uint32_t unit = 0; unit < view.units; unit++)
				tail_look(w, &view, unit);
		sp_arena_detach(&w->collect, &view);
	}
}

void sp_window_walk(struct sp_window_walk *w, int directory)
{
	int fd = dup(directory);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (entries)
		rewinddir(entries);
	while (entries && (entry = readdir(entries)) != NULL)
		entry_look(w, directory, entry->d_name);
	if (entries)
		closedir(entries);
	else if (fd >= 0)
		close(fd);
	arenas_look(w);
}

void sp_window_walk_finish(struct sp_window_walk *w)
{
	sp_id_map_finish(&w->ids);
	free(w->places);
	*w = (struct sp_window_walk){.see = NULL};
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/reader/arenas.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/arenas/arena_files.h"
#include "trace/arenas/tail_copy.h"
#include "trace/window_copy.h"

#define COPY_TRIES 8 /* of a copy whose tails move meanwhile */
#define COPY_BYTES_MAX (256u * 1024u * 1024u)
#define TAIL_BYTES_MAX (SP_ARENA_UNITS_MAX * SP_ARENA_UNIT_BYTES)

struct copy {
	struct sp_collect collect;
	uint8_t *tail; /* TAIL_BYTES_MAX */
	int fd;
	uint64_t bytes;
};

/* The slots that were being stored when the window was copied are there a moment later. Only those
 * below the last one of the first copy: later ones could have gaps before them. */
static void slots_complete(uint8_t *window, const uint8_t *live, size_t bytes)
{
	const struct sp_window_header *head = (const struct sp_window_header *)window;
	struct sp_slot *slots = (struct sp_slot *)(window + SP_WINDOW_HEAD_BYTES);
	const struct sp_slot *now = (const struct sp_slot *)(live + SP_WINDOW_HEAD_BYTES);
	size_t count = (bytes - SP_WINDOW_HEAD_BYTES) / sizeof(*slots);

	if (head->capacity != count)
		return;
	for (size_t i = 0; i < count; i++) {
		uint8_t generation = (uint8_t)(slots[i].commit >> 16);
		struct sp_slot later;

		if (sp_slot_valid(&slots[i], generation))
			continue;
		memcpy(&later, &now[i], sizeof(later));
		if (sp_slot_valid(&later, (uint8_t)(later.commit >> 16)))
			slots[i] = later;
	}
}

/* The window first: slots that a block takes over meanwhile are then in both. sp_tail_copy() leaves
 * out frames that are not whole; this copy keeps them, because the reader checks each frame and
 * names its damage. */
static size_t tail_copy(uint8_t *to, const uint8_t *from, size_t bytes, uint32_t window_at)
{
	size_t window_bytes = bytes - window_at, used;

	sp_window_copy(to + window_at, from + window_at, window_bytes);
	sp_loads_in_order();
	memcpy(to, from, window_at);
	sp_loads_in_order();
	slots_complete(to + window_at, from + window_at, window_bytes);
	used = sp_arena_tail_used(to, window_at);
	memmove(to + used, to + window_at, window_bytes);
	return used + window_bytes;
}

static int copy_put(struct copy *c, const void *bytes, size_t count)
{
	if (c->bytes + count > COPY_BYTES_MAX ||
	    pwrite(c->fd, bytes, count, (off_t)c->bytes) != (ssize_t)count)
		return -ENOMEM;
	c->bytes += count;
	return 0;
}

static int arena_copy_once(struct copy *c, const struct sp_arena_view *view)
{
	int r = copy_put(c, &view->arena->header, sizeof(view->arena->header));

	for (uint32_t unit = 0; r == 0 && unit < view->units; unit++) {
		uint32_t window_at;
		size_t bytes = sp_arena_tail_bytes(view, unit, &window_at);

		if (!bytes)
			continue;
		bytes = tail_copy(c->tail, sp_arena_unit(view->arena, view->units, unit), bytes,
				  window_at);
		r = copy_put(c, c->tail, bytes);
	}
	return r;
}

static int arena_copy(struct copy *c, const struct sp_arena_view *view)
{
	uint64_t begin = c->bytes, changes;
	int r = 0;

	for (int i = 0; r == 0 && i < COPY_TRIES; i++) {
		changes = __atomic_load_n(&view->arena->changes, __ATOMIC_ACQUIRE);
		c->bytes = begin;
		r = arena_copy_once(c, view);
		sp_loads_in_order();
		if (__atomic_load_n(&view->arena->changes, __ATOMIC_ACQUIRE) == changes)
			break;
	}
	return r;
}

static int is_of_run(const struct sp_arena *arena, const uint64_t run_token[2])
{
	return arena->run_token[0] == run_token[0] && arena->run_token[1] == run_token[1];
}

static void arenas_copy(struct copy *c, const uint64_t run_token[2])
{
	long highest = sp_arena_highest(&c->collect);
	int r = 0;

	for (long number = 0; r == 0 && number <= highest; number++) {
		struct sp_arena_view view = sp_arena_attach(&c->collect, number);

		if (!view.arena)
			continue;
		if (is_of_run(view.arena, run_token)) {
			if (c->fd < 0)
				c->fd = memfd_create("shared memory of the run", MFD_CLOEXEC);
			r = c->fd < 0 ? -ENOMEM : arena_copy(c, &view);
		}
		sp_arena_detach(&c->collect, &view);
	}
	if (c->fd >= 0 && ftruncate(c->fd, (off_t)c->bytes) < 0)
		c->bytes = 0;
}

int sp_arenas_copy(const char *directory, const uint64_t run_token[2])
{
	struct copy *c = calloc(1, sizeof(*c));
	int fd = -1;

	if (!c)
		return -1;
	c->fd = -1;
	sp_arena_files_init(&c->collect, directory);
	c->tail = malloc(TAIL_BYTES_MAX);
	if (c->tail)
		arenas_copy(c, run_token);
	fd = c->fd;
	free(c->tail);
	free(c);
	return fd;
}

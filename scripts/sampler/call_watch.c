/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/sampler/call_watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "preload/settings/run_identity.h"
#include "scripts/sampler/id_map.h"
#include "trace/arena_collect.h"
#include "trace/format.h"
#include "trace/libc_call.h"
#include "trace/live_process.h"

#define INTERVAL_NS UINT64_C(1000000000)
#define SHARE 100 /* of the time at most is spent on looks */
#define PATIENCE_NS 100000000
#define CALLS_MAX 512u /* then a new file takes its name */

/* A file of the run, or a tail in shared memory. */
struct watched {
	uint64_t size;
	uint64_t base;	    /* of a file: after the last frame that never moves */
	uint64_t window_at; /* 0: no window */
	uint64_t seen;	    /* start of the call in flight at the last look; 0: none */
	uint64_t noted;	    /* start of the last call that was noted */
};

struct call_watch {
	struct sp_call_watch *owner;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* under the lock */
	unsigned asked, answered;
	bool is_ended;
	/* the thread's own */
	struct sp_id_map ids;
	struct watched *list;
	uint32_t room;
	uint32_t calls; /* in the file */
	bool is_last;	/* this look is at every call in flight */
	struct sp_collect collect;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct watched *watched_of(struct call_watch *w, const void *key, size_t bytes)
{
	uint32_t *id = sp_id_map_at(&w->ids, sp_id_hash(0, key, bytes));

	if (!id)
		return NULL;
	if (!*id)
		*id = w->ids.count;
	if (*id >= w->room) {
		uint32_t room = w->room ? 2 * w->room : 64;
		struct watched *list;

		while (room <= *id)
			room *= 2;
		list = realloc(w->list, room * sizeof(*list));
		if (!list)
			return NULL;
		memset(list + w->room, 0, (room - w->room) * sizeof(*list));
		w->list = list;
		w->room = room;
	}
	return &w->list[*id];
}

static void name_of(char ret[64], const char *before)
{
	snprintf(ret, 64, "%s0-calls-%d.zst", before, getpid());
}

/* A new file is whole under its name, and calls that are still in flight come into it again. */
static int file_begin(struct call_watch *w, int directory)
{
	char name[64];

	name_of(name, ".");
	unlinkat(directory, name, 0);
	for (uint32_t i = 0; i < w->room; i++)
		w->list[i].noted = 0;
	w->calls = 0;
	return openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* Frames are appended: a reader never sees a half of one. */
static void frame_write(struct call_watch *w, int directory, const struct sp_call_frame *frame)
{
	bool is_new = w->calls % CALLS_MAX == 0;
	char name[64], hidden[64];
	int fd;

	name_of(name, "");
	name_of(hidden, ".");
	fd = is_new ? file_begin(w, directory)
		    : openat(directory, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	if (pwrite(fd, frame, sizeof(*frame), (off_t)w->calls * (off_t)sizeof(*frame)) !=
	    sizeof(*frame)) {
		if (ftruncate(fd, (off_t)w->calls * (off_t)sizeof(*frame)) < 0)
			unlinkat(directory, is_new ? hidden : name, 0);
	} else if (!is_new || renameat(directory, hidden, directory, name) == 0) {
		w->calls++;
	}
	close(fd);
}

static bool path_note(struct call_watch *w, int directory, const struct sp_window_header *window)
{
	struct sp_call_frame frame = {
		.frame = {SP_FRAME_CALL, sizeof(frame) - sizeof(struct sp_frame)},
		.tag = SP_TAG_CALL,
		.version = SP_FORMAT_VERSION,
		.what = SP_CALL_PATH,
		.stream_id = window->stream_id,
		.start_ticks = window->mark.start_ticks,
	};
	char path[SP_LIVE_PATH_BYTES];

	if (!sp_live_state(window->pid, (int64_t)window->made.realtime_ns) ||
	    sp_live_path(window->pid, window->tid, window->mark_address.path_at, path) < 0)
		return false;
	frame.text_bytes = (uint16_t)strlen(path);
	memcpy(frame.text, path, frame.text_bytes);
	frame.hash = XXH64(&frame, offsetof(struct sp_call_frame, hash), 0);
	frame_write(w, directory, &frame);
	return true;
}

/* Start of the opening call in flight; 0: none. */
static uint64_t call_of(const struct sp_window_header *window)
{
	return window->mark.what && window->mark_address.start_ticks == window->mark.start_ticks
		       ? window->mark.start_ticks
		       : 0;
}

static bool is_due(const struct call_watch *w, const struct watched *it, uint64_t call)
{
	return call && it->noted != call && (w->is_last || it->seen == call);
}

/* again: the same window, read after the path. */
static void call_noted(struct watched *it, uint64_t call, bool is_noted,
		       const struct sp_window_header *again)
{
	if (is_noted && call_of(again) == call)
		it->noted = call;
}

static bool is_window(const struct sp_window_header *window, ssize_t bytes)
{
	return bytes == sizeof(*window) && window->frame.magic == SP_FRAME_WINDOW &&
	       memcmp(window->tag, SP_TAG_WINDOW, sizeof(window->tag)) == 0;
}

/* Walks on from the last frame that never moves to the last window. */
static void window_find(struct watched *it, int fd, uint64_t size)
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

static void file_look(struct call_watch *w, int directory, struct watched *it, int fd,
		      uint64_t size)
{
	struct sp_window_header window = {.stream_id = 0};
	uint64_t call = 0;

	if (size != it->size || !it->window_at ||
	    !is_window(&window, pread(fd, &window, sizeof(window), (off_t)it->window_at)))
		window_find(it, fd, size);
	if (it->window_at &&
	    is_window(&window, pread(fd, &window, sizeof(window), (off_t)it->window_at)))
		call = call_of(&window);
	if (is_due(w, it, call)) {
		bool is_noted = path_note(w, directory, &window);

		if (pread(fd, &window, sizeof(window), (off_t)it->window_at) == sizeof(window))
			call_noted(it, call, is_noted, &window);
	}
	it->seen = call;
}

static void entry_look(struct call_watch *w, int directory, const char *name)
{
	size_t n = strlen(name);
	struct watched *it;
	struct stat st;
	int fd;

	if (n < 5 || name[0] == '.' || strcmp(name + n - 4, ".zst") != 0 ||
	    strncmp(name, "0-", 2) == 0)
		return;
	it = watched_of(w, name, n);
	if (!it || fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
	    (!it->window_at && (uint64_t)st.st_size == it->size))
		return;
	fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	file_look(w, directory, it, fd, (uint64_t)st.st_size);
	close(fd);
}

static void tail_look(struct call_watch *w, int directory, const struct sp_arena_view *view,
		      uint32_t unit)
{
	uint32_t window_at;
	const struct sp_window_header *live;
	struct sp_window_header window = {.stream_id = 0};
	struct watched *it;
	uint64_t call;

	if (!sp_arena_tail_bytes(view, unit, &window_at))
		return;
	live = (const struct sp_window_header *)(sp_arena_unit(view->arena, view->units, unit) +
						 window_at);
	memcpy(&window, live, sizeof(window));
	it = watched_of(w, &window.stream_id, sizeof(window.stream_id));
	call = it && is_window(&window, sizeof(window)) ? call_of(&window) : 0;
	if (call && is_due(w, it, call)) {
		bool is_noted = path_note(w, directory, &window);

		memcpy(&window, live, sizeof(window));
		call_noted(it, call, is_noted, &window);
	}
	if (it)
		it->seen = call;
}

/* Files that are not mapped have their tails there. */
static void arenas_look(struct call_watch *w, int directory)
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
				tail_look(w, directory, &view, unit);
		sp_arena_detach(&w->collect, &view);
	}
}

static void look(struct call_watch *w)
{
	int fd = open(sp_run.directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	while (directory && (entry = readdir(directory)) != NULL)
		entry_look(w, fd, entry->d_name);
	if (directory)
		arenas_look(w, fd);
	if (directory)
		closedir(directory);
	else if (fd >= 0)
		close(fd);
}

static struct timespec time_of(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

/* Until the time, or until somebody asks. Returns false at the end. */
static bool wait_until(struct call_watch *w, uint64_t until_ns, unsigned *ret_asked)
{
	struct timespec until = time_of(until_ns);
	bool goes_on;

	pthread_mutex_lock(&w->lock);
	while (!w->is_ended && w->asked == w->answered &&
	       pthread_cond_timedwait(&w->changed, &w->lock, &until) != ETIMEDOUT)
		;
	w->is_last = w->asked != w->answered;
	*ret_asked = w->asked;
	goes_on = !w->is_ended;
	pthread_mutex_unlock(&w->lock);
	return goes_on;
}

static void answer(struct call_watch *w, unsigned asked)
{
	pthread_mutex_lock(&w->lock);
	w->answered = asked;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

static void *watch_run(void *argument)
{
	struct call_watch *w = argument;
	uint64_t next = now_ns() + INTERVAL_NS;
	unsigned asked;

	while (wait_until(w, next, &asked)) {
		uint64_t begin = now_ns(), took;

		if (w->owner->is_ready(w->owner->context))
			look(w);
		answer(w, asked);
		took = now_ns() - begin;
		next = begin + (took * SHARE > INTERVAL_NS ? took * SHARE : INTERVAL_NS);
	}
	return NULL;
}

void sp_call_watch_start(struct sp_call_watch *watch)
{
	struct call_watch *w = calloc(1, sizeof(*w));
	pthread_condattr_t monotonic;

	if (!w)
		return;
	w->owner = watch;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&w->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (pthread_create(&w->thread, NULL, watch_run, w) == 0)
		watch->thread = w;
	else
		free(w);
}

void sp_call_watch_look(struct sp_call_watch *watch)
{
	struct call_watch *w = watch->thread;
	struct timespec until = time_of(now_ns() + PATIENCE_NS);
	unsigned asked;

	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	asked = ++w->asked;
	pthread_cond_broadcast(&w->changed);
	while (w->answered != asked &&
	       pthread_cond_timedwait(&w->changed, &w->lock, &until) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&w->lock);
}

/* The kernel may keep a look waiting for the memory of a process that hangs: the thread then ends
 * with this process. */
void sp_call_watch_stop(struct sp_call_watch *watch)
{
	struct call_watch *w = watch->thread;
	struct timespec until;

	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->is_ended = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	watch->thread = NULL;
	if (pthread_timedjoin_np(w->thread, NULL, &until) != 0)
		return;
	sp_id_map_finish(&w->ids);
	free(w->list);
	free(w);
}

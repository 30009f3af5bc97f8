/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/watch/call_watch.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "preload/settings/run_identity.h"
#include "scripts/watch/call_file.h"
#include "scripts/watch/lock_watch.h"
#include "scripts/watch/watch_thread.h"
#include "scripts/watch/window_walk.h"
#include "trace/format.h"
#include "trace/live_process.h"

#define INTERVAL_NS UINT64_C(1000000000)
#define SHARE 100 /* of the time at most is spent on looks */
#define PATIENCE_NS 100000000

/* A thread, by the number of its window. */
struct watched {
	uint64_t seen;	     /* start of the call in flight at the last look; 0: none */
	uint64_t noted;	     /* start of the last call that was noted */
	uint32_t generation; /* of the file that it was noted in */
	struct sp_lock_watch lock;
};

struct call_watch {
	struct sp_call_watch *owner;
	struct sp_watch_thread thread;
	unsigned asked, answered; /* under its lock */
	/* the thread's own */
	struct sp_window_walk walk;
	struct sp_call_file file;
	struct watched *list;
	uint32_t room;
	int directory; /* during a look */
	bool is_last;  /* this look is at every call in flight */
};

static struct watched *watched_of(struct call_watch *w, uint32_t id)
{
	if (id >= w->room) {
		uint32_t room = w->room ? 2 * w->room : 64;
		struct watched *list;

		while (room <= id)
			room *= 2;
		list = realloc(w->list, room * sizeof(*list));
		if (!list)
			return NULL;
		memset(list + w->room, 0, (room - w->room) * sizeof(*list));
		w->list = list;
		w->room = room;
	}
	return &w->list[id];
}

static bool path_note(struct call_watch *w, const struct sp_window_header *window)
{
	struct sp_call_frame frame = sp_call_frame(SP_CALL_PATH, window->stream_id);
	char path[SP_LIVE_PATH_BYTES];

	if (!sp_live_state(window->pid, (int64_t)window->made.realtime_ns) ||
	    sp_live_path(window->pid, window->tid, window->mark_address.path_at, path) < 0)
		return false;
	frame.start_ticks = window->mark.start_ticks;
	frame.text_bytes = (uint16_t)strlen(path);
	memcpy(frame.text, path, frame.text_bytes);
	sp_call_file_append(&w->file, w->directory, &frame);
	return true;
}

/* Start of the opening call in flight; 0: none. */
static uint64_t call_of(const struct sp_window_header *window)
{
	return window->mark.what && window->mark_address.start_ticks == window->mark.start_ticks
		       ? window->mark.start_ticks
		       : 0;
}

/* A call that is still in flight comes into a new file again. */
static bool is_due(const struct call_watch *w, const struct watched *it, uint64_t call)
{
	return call && (it->noted != call || it->generation != w->file.generation) &&
	       (w->is_last || it->seen == call);
}

static void see(void *watch, const struct sp_seen_window *seen)
{
	struct call_watch *w = watch;
	struct watched *it = watched_of(w, seen->id);
	struct sp_window_header again;
	uint64_t call;

	if (!it)
		return;
	call = call_of(&seen->window);
	if (is_due(w, it, call) && path_note(w, &seen->window) && sp_window_again(seen, &again) &&
	    call_of(&again) == call) {
		it->noted = call;
		it->generation = w->file.generation;
	}
	it->seen = call;
	sp_lock_watch(&it->lock, &w->file, w->directory, &seen->window, w->is_last);
}

static void look(struct call_watch *w)
{
	w->directory = open(sp_run.directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (w->directory < 0)
		return;
	sp_window_walk(&w->walk, w->directory);
	close(w->directory);
}

/* Until the time, or until somebody asks. Returns false at the end. */
static bool wait_until(struct call_watch *w, uint64_t until_ns, unsigned *ret_asked)
{
	bool goes_on;

	pthread_mutex_lock(&w->thread.lock);
	while (!w->thread.is_ended && w->asked == w->answered &&
	       sp_watch_thread_wait(&w->thread, until_ns))
		;
	w->is_last = w->asked != w->answered;
	*ret_asked = w->asked;
	goes_on = !w->thread.is_ended;
	pthread_mutex_unlock(&w->thread.lock);
	return goes_on;
}

static void answer(struct call_watch *w, unsigned asked)
{
	pthread_mutex_lock(&w->thread.lock);
	w->answered = asked;
	pthread_cond_broadcast(&w->thread.changed);
	pthread_mutex_unlock(&w->thread.lock);
}

static void *watch_run(void *argument)
{
	struct call_watch *w = argument;
	uint64_t next = sp_watch_now_ns() + INTERVAL_NS;
	unsigned asked;

	while (wait_until(w, next, &asked)) {
		uint64_t begin = sp_watch_now_ns(), took;

		if (w->owner->is_ready(w->owner->context)) {
			look(w);
			w->owner->looked(w->owner->context);
		}
		answer(w, asked);
		took = sp_watch_now_ns() - begin;
		next = begin + (took * SHARE > INTERVAL_NS ? took * SHARE : INTERVAL_NS);
	}
	return NULL;
}

void sp_call_watch_start(struct sp_call_watch *watch)
{
	struct call_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return;
	w->owner = watch;
	w->walk.see = see;
	w->walk.context = w;
	if (sp_watch_thread_start(&w->thread, watch_run, w))
		watch->thread = w;
	else
		free(w);
}

void sp_call_watch_look(struct sp_call_watch *watch)
{
	struct call_watch *w = watch->thread;
	uint64_t until_ns = sp_watch_now_ns() + PATIENCE_NS;
	unsigned asked;

	if (!w)
		return;
	pthread_mutex_lock(&w->thread.lock);
	asked = ++w->asked;
	pthread_cond_broadcast(&w->thread.changed);
	while (w->answered != asked && sp_watch_thread_wait(&w->thread, until_ns))
		;
	pthread_mutex_unlock(&w->thread.lock);
}

/* The kernel may keep a look waiting for the memory of a process that hangs: the thread then ends
 * with this process. */
void sp_call_watch_stop(struct sp_call_watch *watch)
{
	struct call_watch *w = watch->thread;
	struct timespec until;

	if (!w)
		return;
	sp_watch_thread_end(&w->thread);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	watch->thread = NULL;
	if (pthread_timedjoin_np(w->thread.thread, NULL, &until) != 0)
		return;
	sp_window_walk_finish(&w->walk);
	free(w->list);
	free(w);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/watch/lock_watch.h"

#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/settings/redact.h"
#include "scripts/sampler/id_map.h"
#include "trace/events.h"

#define CUT "..."

/* The kernel's, as the recorder's is. */
static uint64_t realtime_ns(void)
{
	struct timespec t = {0, 0};

	syscall(SYS_clock_gettime, CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The holder's name, NUL, and the path, of a long one the end. */
static void text_put(struct sp_call_frame *frame, const struct sp_live_lock *lock)
{
	char path[SP_LIVE_PATH_BYTES];
	size_t name = strlen(lock->holder_is) + 1, room = sizeof(frame->text) - name, bytes;

	memcpy(path, lock->file, sizeof(path));
	bytes = sp_redact(path, strlen(path));
	memcpy(frame->text, lock->holder_is, name);
	if (bytes > room) {
		memcpy(frame->text + name, path + bytes - room, room);
		memcpy(frame->text + name, CUT, strlen(CUT));
		bytes = room;
	} else {
		memcpy(frame->text + name, path, bytes);
	}
	frame->text_bytes = (uint16_t)(name + bytes);
}

static struct sp_call_frame frame_of(const struct sp_live_lock *lock, uint64_t stream_id)
{
	static const enum sp_call_what whats[] = {
		[SP_LIVE_LOCK_NONE] = SP_CALL_NO_LOCK,
		[SP_LIVE_LOCK_FILE] = SP_CALL_FILE_LOCK,
		[SP_LIVE_LOCK_MUTEX] = SP_CALL_MUTEX,
		[SP_LIVE_LOCK_COPIED] = SP_CALL_COPIED_MUTEX,
		[SP_LIVE_LOCK_SHARED] = SP_CALL_SHARED_MUTEX,
		[SP_LIVE_LOCK_ALONE] = SP_CALL_ALONE,
	};
	struct sp_call_frame frame = sp_call_frame(whats[lock->what], stream_id);

	frame.seen_ns = realtime_ns();
	frame.holder = lock->holder;
	frame.holder_tid = lock->holder_tid;
	if (lock->what)
		text_put(&frame, lock);
	return frame;
}

static uint64_t hash_of(const struct sp_live_lock *lock)
{
	return lock->what ? sp_id_hash(0, lock, sizeof(*lock)) : 0;
}

/* A semaphore or a condition, or none. */
static bool may_wait_for_lock(const struct sp_window_header *window)
{
	uint32_t kind = sp_commit_kind(window->mark.what);

	return !window->mark.what || kind == SP_EV_sem_wait || kind == SP_EV_cond_wait;
}

void sp_lock_watch(struct sp_lock_watch *it, struct sp_call_file *file, int directory,
		   const struct sp_window_header *window, bool is_last)
{
	struct sp_live_sleep sleep = {.call = 0};
	struct sp_live_lock lock = {.what = SP_LIVE_LOCK_NONE};
	struct sp_call_frame frame;
	bool is_asleep = may_wait_for_lock(window) &&
			 sp_live_state(window->pid, (int64_t)window->made.realtime_ns) &&
			 sp_live_sleep(window->pid, window->tid, &sleep);
	bool is_same = is_asleep && memcmp(&sleep, &it->sleep, sizeof(sleep)) == 0;

	it->sleep = sleep;
	if (is_asleep && !is_same && !is_last)
		return;
	if (is_asleep && sp_live_lock(window->pid, window->tid, &lock) < 0)
		lock.what = SP_LIVE_LOCK_NONE;
	if (hash_of(&lock) == it->noted && (!it->noted || it->generation == file->generation))
		return;
	frame = frame_of(&lock, window->stream_id);
	sp_call_file_append(file, directory, &frame);
	it->noted = hash_of(&lock);
	it->generation = file->generation;
}

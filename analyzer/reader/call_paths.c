/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/reader/call_paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/reader/host.h"
#include "analyzer/text/translate.h"
#include "trace/live_process.h"

static bool has_address(const struct sp_stream *s)
{
	return s->mark.what && !s->has_last && s->mark_address.start_ticks &&
	       s->mark_address.start_ticks == s->mark.start_ticks;
}

static void take_text(struct sp_stream *s, const char *text, size_t bytes)
{
	free(s->mark_path);
	s->mark_path = strndup(text, bytes);
	s->path_missing = SP_PATH_NOT_MISSING;
}

/* The text is the holder's name, NUL, and the file's path. */
static void take_lock(struct sp_stream *s, const struct sp_call_frame *call)
{
	static const enum sp_live_lock_what whats[] = {
		[SP_CALL_FILE_LOCK] = SP_LIVE_LOCK_FILE,
		[SP_CALL_MUTEX] = SP_LIVE_LOCK_MUTEX,
		[SP_CALL_COPIED_MUTEX] = SP_LIVE_LOCK_COPIED,
		[SP_CALL_SHARED_MUTEX] = SP_LIVE_LOCK_SHARED,
		[SP_CALL_ALONE] = SP_LIVE_LOCK_ALONE,
	};
	size_t name = strnlen(call->text, call->text_bytes);

	if (call->what < SP_CALL_FILE_LOCK || call->what > SP_CALL_ALONE)
		return;
	s->lock_gone_ns = call->what == SP_CALL_NO_LOCK ? call->seen_ns : 0;
	if (call->what == SP_CALL_NO_LOCK)
		return;
	if (!s->lock)
		s->lock = malloc(sizeof(*s->lock));
	if (!s->lock)
		return;
	*s->lock = (struct sp_live_lock){
		.what = whats[call->what],
		.holder = call->holder,
		.holder_tid = call->holder_tid,
	};
	s->lock_seen_ns = call->seen_ns;
	snprintf(s->lock->holder_is, sizeof(s->lock->holder_is), "%.*s", (int)name, call->text);
	if (name < call->text_bytes)
		snprintf(s->lock->file, sizeof(s->lock->file), "%.*s",
			 (int)(call->text_bytes - name - 1), call->text + name + 1);
}

static void take_call(struct sp_index *index, const struct sp_call_frame *call)
{
	struct sp_stream *s;

	HASH_FIND(hh, index->by_id, &call->stream_id, sizeof(call->stream_id), s);
	if (s)
		take_lock(s, call);
	if (s && call->what == SP_CALL_PATH && has_address(s) &&
	    call->start_ticks == s->mark.start_ticks)
		take_text(s, call->text, call->text_bytes);
}

/* False: the thread has gone on since the index was read. A copy of shared memory says nothing. */
static bool is_same_mark(const struct sp_index *index, const struct sp_stream *s)
{
	struct sp_window_header window = {.stream_id = 0};
	const struct sp_segment *g = s->segments;

	while (g && (g->window_at == UINT64_MAX || g->mark.start_ticks != s->mark.start_ticks))
		g = g->next;
	if (!g || index->files[g->file].memory_fd >= 0)
		return true;
	return sp_file_read_again(&index->files[g->file], g->window_at, &window, sizeof(window)) &&
	       window.stream_id == s->id && window.mark.start_ticks == s->mark.start_ticks &&
	       window.mark.what == s->mark.what;
}

static enum sp_path_missing read_live(const struct sp_index *index, struct sp_stream *s)
{
	const struct sp_process_image *image = &index->images[s->image];
	char path[SP_LIVE_PATH_BYTES];
	int r;

	if (!image->start_ns || !sp_host_is_this(&index->hosts[image->host]))
		return SP_PATH_FAR;
	if (!image->state)
		return SP_PATH_ENDED;
	r = sp_live_path(image->pid, s->tid, s->mark_address.path_at, path);
	if (r == -EPERM)
		return SP_PATH_REFUSED;
	if (r < 0 || !is_same_mark(index, s))
		return SP_PATH_MOVED;
	take_text(s, path, strlen(path));
	return SP_PATH_NOT_MISSING;
}

const char *sp_path_missing_text(enum sp_path_missing missing)
{
	static const char *const texts[] = {
		[SP_PATH_ENDED] = N_("the file is not known: nobody read its name before the "
				     "process ended; stageprof run does"),
		[SP_PATH_REFUSED] = N_("the file is not known: the kernel lets root and the "
				       "process's ancestors alone read its name; stageprof run "
				       "does"),
		[SP_PATH_MOVED] = N_("the file is not known: the call ended meanwhile"),
		[SP_PATH_FAR] = N_("the file is not known: only the machine of the process can "
				   "read its name; stageprof run does"),
	};

	return missing == SP_PATH_NOT_MISSING ? NULL : _(texts[missing]);
}

const char *sp_path_missing_name(enum sp_path_missing missing)
{
	static const char *const names[] = {
		[SP_PATH_ENDED] = "process-ended",
		[SP_PATH_REFUSED] = "refused",
		[SP_PATH_MOVED] = "call-ended",
		[SP_PATH_FAR] = "another-machine",
	};

	return missing == SP_PATH_NOT_MISSING ? NULL : names[missing];
}

void sp_call_paths_learn(struct sp_index *index)
{
	for (uint32_t i = 0; i < index->file_count; i++)
		for (uint32_t k = 0; k < index->files[i].call_count; k++)
			take_call(index, &index->files[i].calls[k]);
	for (uint32_t i = 0; i < index->stream_count; i++) {
		struct sp_stream *s = index->streams[i];

		if (!s->mark_path && has_address(s))
			s->path_missing = read_live(index, s);
	}
}

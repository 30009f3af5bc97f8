/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/hooks/decode.h"

#include <dlfcn.h>

#include "preload/recorder/intern.h"
#include "preload/recorder/process.h"
#include "preload/stacks/stacks.h"
#include "preload/sys/libdl.h"

void sp_picture_emit(struct sp_thread *t, const struct sp_picture *picture, enum sp_decode_end how)
{
	uint64_t extra[3] = {picture->inside_ticks,
			     (uint64_t)picture->width << 32 | picture->height, how};
	uint64_t ticks = picture->last - picture->start;

	sp_emit_extra(t, picture->kind, 0, picture->start, ticks, (int64_t)picture->lines, extra);
	if (sp_unlikely(ticks >= sp_stacks_least_ticks))
		sp_stack_keep(t, sp_what_make(picture->kind, 0), picture->start, ticks);
}

void sp_picture_end(struct sp_thread *t, struct sp_picture *picture, enum sp_decode_end how)
{
	picture->object = NULL;
	if (picture->start)
		sp_picture_emit(t, picture, how);
}

struct sp_picture *sp_picture_slot(struct sp_thread *t)
{
	struct sp_picture *oldest = &sp_decode_of(t)->pictures[0];

	for (unsigned i = 0; i < SP_DECODES; i++) {
		struct sp_picture *picture = &sp_decode_of(t)->pictures[i];

		if (!picture->object)
			return picture;
		if (picture->start < oldest->start)
			oldest = picture;
	}
	sp_picture_end(t, oldest, SP_DECODE_ABORTED);
	return oldest;
}

void sp_decode_leave(const struct sp_decode_call *call, uint32_t kind, uint32_t width,
		     uint32_t height, int whole)
{
	uint64_t now = sp_clock_ticks();
	struct sp_picture picture = {.kind = kind,
				     .start = call->start,
				     .last = now,
				     .inside_ticks = now - call->start,
				     .lines = whole ? height : 0,
				     .width = width,
				     .height = height};

	if (call->thread->state != SP_THREAD_LIVE)
		return; /* forked inside the call: the picture belongs to the parent */
	sp_decode_of(call->thread)->inside = call->outer;
	sp_picture_emit(call->thread, &picture, whole ? SP_DECODE_FINISHED : SP_DECODE_ABORTED);
}

void sp_decode_coverage(const char *group, const void *function)
{
	struct sp_interned *entry;
	Dl_info info;

	if (sp_process_intern((uintptr_t)function, &entry) || !entry || !sp_dladdr(function, &info))
		return;
	sp_coverage_library(group, info.dli_fname);
	__atomic_store_n(&entry->id, 1, __ATOMIC_RELEASE);
}

#include "preload/decode.h"

#include <dlfcn.h>
#include <string.h>

#include "preload/names.h"
#include "preload/process.h"
#include "preload/stacks.h"

void sp_image_emit(struct sp_thread *t, const struct sp_image *image, enum sp_decode_end how)
{
	uint64_t extra[3] = {image->inside_ticks, (uint64_t)image->width << 32 | image->height,
			     how};
	uint64_t ticks = image->last - image->start;

	sp_emit_extra(t, image->kind, 0, image->start, ticks, (int64_t)image->lines, extra);
	if (sp_unlikely(ticks >= sp_stacks_least_ticks))
		sp_stack_keep(t, sp_what_make(image->kind, 0), image->start, ticks);
}

void sp_image_end(struct sp_thread *t, struct sp_image *image, enum sp_decode_end how)
{
	image->object = NULL;
	if (image->start)
		sp_image_emit(t, image, how);
}

struct sp_image *sp_image_place(struct sp_thread *t)
{
	struct sp_image *oldest = &t->decode->images[0];

	for (unsigned i = 0; i < SP_DECODES; i++) {
		struct sp_image *image = &t->decode->images[i];

		if (!image->object)
			return image;
		if (image->start < oldest->start)
			oldest = image;
	}
	sp_image_end(t, oldest, SP_DECODE_ABORTED);
	return oldest;
}

void sp_decode_leave(const struct sp_decode_call *call, uint32_t kind, uint32_t width,
		     uint32_t height, int whole)
{
	uint64_t now = sp_clock_ticks();
	struct sp_image image = {.kind = kind,
				 .start = call->start,
				 .last = now,
				 .inside_ticks = now - call->start,
				 .lines = whole ? height : 0,
				 .width = width,
				 .height = height};

	if (call->thread->state != SP_THREAD_LIVE)
		return; /* forked inside the call: the parent's image */
	call->thread->decode->inside = call->outer;
	sp_image_emit(call->thread, &image, whole ? SP_DECODE_FINISHED : SP_DECODE_ABORTED);
}

void sp_decode_cover(const char *group, const void *function)
{
	struct sp_interned *entry;
	Dl_info info;

	if (sp_process_intern((uintptr_t)function, &entry) || !entry || !dladdr(function, &info))
		return;
	sp_cover_library(group, info.dli_fname);
	__atomic_store_n(&entry->id, 1, __ATOMIC_RELEASE);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/mark_path.h"

#include <string.h>

#include "preload/recorder/emit.h"
#include "preload/recorder/fd_table.h"
#include "preload/settings/redact.h"

#define MARK_TO_ADDRESS                                                                            \
	(offsetof(struct sp_window_header, mark_address) - offsetof(struct sp_window_header, mark))

/* A frame inside may store to a window that a signal handler has moved meanwhile. */
static void address_store(struct sp_mark_address *to, uint64_t start, uint64_t path_at)
{
	__atomic_store_n(&to->start_ticks, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&to->path_at, path_at, __ATOMIC_RELEASE);
	__atomic_store_n(&to->start_ticks, start, __ATOMIC_RELEASE);
}

void sp_mark_path_store(struct sp_thread *t, uint64_t start, const char *path)
{
	uint64_t path_at = (uint64_t)(uintptr_t)path;
	struct sp_mark *mark;

	if (sp_redact_keeps_last_part())
		path_at |= SP_MARK_LAST_PART;
	else if (!sp_redact_keeps_whole())
		return;
	sp_inside_begin(t);
	mark = t->mark;
	if (sp_likely(mark != NULL))
		address_store((struct sp_mark_address *)((char *)mark + MARK_TO_ADDRESS), start,
			      path_at);
	sp_inside_end(t);
}

void sp_mark_abandon(struct sp_thread *t)
{
	const struct sp_mark *mark = t ? t->mark : NULL;
	uint64_t what = mark ? mark->what : 0, start = mark ? mark->start_ticks : 0;
	struct sp_mark_address address;

	if (!what)
		return;
	memcpy(&address, (const char *)mark + MARK_TO_ADDRESS, sizeof(address));
	if (address.start_ticks == start)
		what = sp_what_make(
			sp_commit_kind(what),
			sp_fd_path_define(t, (const char *)(uintptr_t)(address.path_at &
								       ~SP_MARK_LAST_PART)));
	sp_span_abandon(t, what, start);
}

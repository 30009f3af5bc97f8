/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/mark_path.h"

#include <string.h>

#include "preload/recorder/freeze.h"
#include "preload/settings/redact.h"
#include "preload/sys/host_memory.h"

#define PATH_BYTES 4096u /* the kernel takes no longer path */

/* The length of a text that may be unreadable, at most PATH_BYTES. 0: nothing can be read. */
static size_t readable_length(const char *text)
{
	size_t length = 0;

	while (length < PATH_BYTES) {
		struct iovec chunk = sp_host_memory_chunk(text + length, PATH_BYTES - length);
		const char *end;

		if (!sp_host_memory_is_readable((uintptr_t)chunk.iov_base))
			return 0;
		end = memchr(chunk.iov_base, 0, chunk.iov_len);
		if (end)
			return (size_t)(end - text);
		length += chunk.iov_len;
	}
	return length;
}

/* A frame inside may store to a window that a signal handler has moved meanwhile. */
static void path_store(struct sp_mark_path *to, uint64_t start, const char *path, size_t length)
{
	size_t kept = length < sizeof(to->path) ? length : sizeof(to->path);

	__atomic_store_n(&to->start_ticks, 0, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	to->path_bytes = (uint16_t)length;
	memcpy(to->path, path + length - kept, kept);
	__atomic_store_n(&to->start_ticks, start, __ATOMIC_RELEASE);
}

void sp_mark_path_store(struct sp_thread *t, uint64_t start, const char *path)
{
	size_t length = sp_process_is_frozen() ? 0 : readable_length(path);
	struct sp_mark *mark;

	path = sp_redact_part(path, &length);
	if (!length)
		return;
	sp_inside_begin(t);
	mark = t->mark;
	if (sp_likely(mark != NULL))
		path_store((struct sp_mark_path *)(mark + 1), start, path, length);
	sp_inside_end(t);
}

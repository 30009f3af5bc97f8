/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/sys/signal_handler.h"

#include "preload/sys/host_memory.h"

#define PAGE_BYTES 4096u

#if defined(__x86_64__)
#define FRAME_ALIGN 64u
#define MAGIC_OFFSET 464u
#define MAGIC 0x46505853u
#else
#define FRAME_ALIGN 16u
#define MAGIC_OFFSET 0u
#define MAGIC 0x46508001u
#define MAGIC_SIZE 528u
#endif

/* Reads the raw stack, across frames of other functions. */
__attribute__((no_sanitize("address", "thread"))) static int is_saved_state(uintptr_t at)
{
	const uint32_t *magic = (const uint32_t *)at;

#if defined(__x86_64__)
	/* extended_size, then xfeatures with the x87 and SSE bits */
	return magic[0] == MAGIC && magic[1] >= 512 && (magic[2] & 3) == 3;
#else
	return magic[0] == MAGIC && magic[1] == MAGIC_SIZE;
#endif
}

int sp_handler_is_between(uintptr_t low, uintptr_t high)
{
	uintptr_t at =
		(low + FRAME_ALIGN - 1) / FRAME_ALIGN * FRAME_ALIGN + MAGIC_OFFSET % FRAME_ALIGN;

	for (uintptr_t page = 0; at + 16 <= high; at += FRAME_ALIGN) {
		if (at / PAGE_BYTES != page) {
			page = at / PAGE_BYTES;
			/* Another stack may lie between, and a page that nobody may read. */
			if (!sp_host_memory_is_readable(page * PAGE_BYTES))
				return 0;
		}
		if (is_saved_state(at))
			return 1;
	}
	return 0;
}

#include "preload/handler.h"

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

/* The stack is read as it lies, across other functions' frames. */
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
	uintptr_t at = (low + FRAME_ALIGN - 1) / FRAME_ALIGN * FRAME_ALIGN + MAGIC_OFFSET % FRAME_ALIGN;

	for (; at + 16 <= high; at += FRAME_ALIGN)
		if (is_saved_state(at))
			return 1;
	return 0;
}

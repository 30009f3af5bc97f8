/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/window_copy.h"

#include <string.h>

int sp_slots_are_of_one_time(const struct sp_slot *slots, uint32_t n)
{
	unsigned generations = 0;
	uint8_t last = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint8_t generation = (uint8_t)(slots[i].commit >> 16);

		if (!sp_slot_valid(&slots[i], generation) || (generations && generation == last))
			continue;
		if (generations == 2 || (generations && generation != (uint8_t)(last - 1)))
			return 0;
		last = generation;
		generations++;
	}
	return 1;
}

/* The first copy also makes the pages, and is slow. */
void sp_window_copy(uint8_t *to, const uint8_t *window, size_t bytes)
{
	const struct sp_slot *slots = (const struct sp_slot *)(to + SP_WINDOW_HEAD_BYTES);
	uint32_t n = (uint32_t)((bytes - SP_WINDOW_HEAD_BYTES) / sizeof(*slots)), copies = 0;

	do {
		memcpy(to, window, bytes);
		__atomic_signal_fence(__ATOMIC_ACQ_REL); /* each copy loads again */
	} while (++copies < SP_WINDOW_COPIES_MOST && !sp_slots_are_of_one_time(slots, n));
}

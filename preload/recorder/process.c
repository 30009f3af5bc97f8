/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/process.h"

#include <errno.h>

#include "preload/sys/freeze.h"
#include "preload/blocks/thread_slots.h"
#include "preload/sys/hot_data.h"
#include "preload/sys/memory.h"
#include "preload/sys/sys.h"

struct sp_process *sp_process;
uint32_t *sp_fd_near_table SP_HOT_DATA;

int sp_process_make(void)
{
	sp_process = sp_pages_make_wiped(sizeof(*sp_process));
	if (!sp_process)
		return -ENOMEM;
	sp_fd_near_table = sp_process->fd_near;
	return 0;
}

int sp_is_vfork_parent(void)
{
	return sp_tls.suppress_depth == sp_tls.vfork_depth && sp_process &&
	       !sp_process_is_frozen() && sp_process->pid &&
	       (uint32_t)SP_SYS1(SYS_getpid, 0) == sp_process->pid;
}

/* Threads race here; the largest count stays. */
static void raise_word(uint64_t *word, uint64_t count)
{
	/* A load would map the page for loads alone, and the store would fault once more. */
	uint64_t seen, stored = __atomic_fetch_or(word, 0, __ATOMIC_RELAXED);

	while (sp_checked_read(stored, &seen) < 0 || seen < count)
		if (__atomic_compare_exchange_n(word, &stored, sp_checked_make(count), 0,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			break;
}

void sp_process_lose(uint64_t events)
{
	uint64_t lost = __atomic_add_fetch(&sp_process->lost, events, __ATOMIC_RELAXED);
	struct sp_file_header *page = __atomic_load_n(&sp_process->header_page, __ATOMIC_ACQUIRE);

	if (page)
		raise_word(&page->process_lost, lost);
}

void sp_process_spend(uint64_t ns)
{
	uint64_t own = __atomic_add_fetch(&sp_process->own_ns, ns, __ATOMIC_RELAXED);
	struct sp_file_header *page = __atomic_load_n(&sp_process->header_page, __ATOMIC_ACQUIRE);

	if (!page)
		return;
	raise_word(&page->own_ns, own);
	raise_word(&page->stall_ns, ns);
}

void sp_process_ending(int status)
{
	struct sp_file_header *page;

	/* the pages of a vfork child are its parent's */
	if (!sp_process || sp_tls.suppress_depth || sp_process_is_frozen())
		return;
	page = __atomic_load_n(&sp_process->header_page, __ATOMIC_ACQUIRE);
	if (page)
		__atomic_store_n(&page->ending, sp_ending_make(SP_ENDING_EXITED, (unsigned)status),
				 __ATOMIC_RELAXED);
}

uint32_t sp_process_intern(uint64_t hash, struct sp_interned **ret_entry)
{
	hash |= hash == 0;
	for (unsigned probe = 0; probe < 16; probe++) {
		struct sp_interned *entry =
			&sp_process->interned[(hash + probe) & (SP_STRINGS_INTERNED - 1)];
		uint64_t found = 0;

		*ret_entry = entry;
		if (__atomic_compare_exchange_n(&entry->hash, &found, hash, 0, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
			return 0;
		if (found == hash) {
			uint32_t id = __atomic_load_n(&entry->id, __ATOMIC_ACQUIRE);

			/* id 0: another thread is defining the text; the caller makes its own
			 * definition. */
			if (!id)
				*ret_entry = NULL;
			return id;
		}
	}
	*ret_entry = NULL;
	return 0;
}

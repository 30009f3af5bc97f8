/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/sys/object_range.h"

#include <link.h>

struct search {
	uintptr_t address;
	struct sp_object_range found;
};

static int object_note(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct search *search = argument;
	struct sp_object_range range;
	uintptr_t begin = UINTPTR_MAX, end = 0;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		begin = at < begin ? at : begin;
		end = at + info->dlpi_phdr[i].p_memsz > end ? at + info->dlpi_phdr[i].p_memsz : end;
	}
	range = (struct sp_object_range){begin, end > begin ? end - begin : 0};
	if (!sp_object_range_has(&range, (const void *)search->address))
		return 0;
	search->found = range;
	return 1;
}

struct sp_object_range sp_object_range_of(const void *address)
{
	struct search search = {(uintptr_t)address, {(uintptr_t)address, 1}};

	dl_iterate_phdr(object_note, &search);
	return search.found;
}

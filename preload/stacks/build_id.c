/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/stacks/build_id.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#include "preload/sys/host_memory.h"

#define HEADERS_BYTES 2048u
#define NOTES_BYTES 512u /* of a segment; build ids come early */

/* Reads up to the object's end. Returns bytes or -errno. */
static long chunk_read(const struct sp_object_metadata *object, uint64_t at, void *to,
		       uint64_t most)
{
	struct iovec chunk = {(void *)(uintptr_t)at, most};

	if (at < object->begin || at >= object->end)
		return -EINVAL;
	if (most > object->end - at)
		chunk.iov_len = object->end - at;
	return sp_host_memory_read(to, &chunk, 1);
}

/* Names and descriptions are padded to the segment's alignment: 4, or 8. */
static uint64_t padded(uint64_t bytes, uint64_t alignment)
{
	return (bytes + alignment - 1) & ~(alignment - 1);
}

static long id_find(const uint8_t *notes, uint64_t bytes, uint64_t alignment, uint8_t *ret)
{
	ElfW(Nhdr) head;
	uint64_t description, next;

	for (uint64_t at = 0; at + sizeof(head) <= bytes; at = next) {
		memcpy(&head, notes + at, sizeof(head));
		description = at + padded(sizeof(head) + (uint64_t)head.n_namesz, alignment);
		next = description + padded(head.n_descsz, alignment);
		if (description + head.n_descsz > bytes)
			return 0;
		if (head.n_type != NT_GNU_BUILD_ID || head.n_namesz != sizeof("GNU") ||
		    memcmp(notes + at + sizeof(head), "GNU", sizeof("GNU")) != 0)
			continue;
		if (head.n_descsz > SP_BUILD_ID_BYTES_MAX)
			return -EINVAL;
		memcpy(ret, notes + description, head.n_descsz);
		return head.n_descsz;
	}
	return 0;
}

static long segment_read(const struct sp_object_metadata *object, const ElfW(Phdr) * segment,
			 uint8_t *ret)
{
	uint8_t notes[NOTES_BYTES];
	uint64_t most = segment->p_memsz < sizeof(notes) ? segment->p_memsz : sizeof(notes);
	long bytes = chunk_read(object, object->bias + segment->p_vaddr, notes, most);

	return bytes < 0 ? bytes
			 : id_find(notes, (uint64_t)bytes, segment->p_align == 8 ? 8 : 4, ret);
}

long sp_build_id_read(const struct sp_object_metadata *object, uint8_t ret[SP_BUILD_ID_BYTES_MAX])
{
	uint8_t headers[HEADERS_BYTES];
	ElfW(Ehdr) file;
	ElfW(Phdr) segment;
	long r = 0, bytes = chunk_read(object, object->begin, headers, sizeof(headers));

	if (bytes < (long)sizeof(file))
		return bytes < 0 ? bytes : -EINVAL;
	memcpy(&file, headers, sizeof(file));
	if (memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 || file.e_phentsize != sizeof(segment) ||
	    file.e_phoff > (uint64_t)bytes ||
	    file.e_phnum > ((uint64_t)bytes - file.e_phoff) / sizeof(segment))
		return -EINVAL;
	for (unsigned i = 0; i < file.e_phnum && r == 0; i++) {
		memcpy(&segment, headers + file.e_phoff + i * sizeof(segment), sizeof(segment));
		if (segment.p_type == PT_NOTE)
			r = segment_read(object, &segment, ret);
	}
	return r;
}

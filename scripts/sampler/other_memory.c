/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/sampler/other_memory.h"

#include <errno.h>

static int error_of(ssize_t got)
{
	return got < 0 && errno != EIO ? -errno : -EFAULT;
}

int sp_other_read(pid_t pid, uint64_t address, void *ret, size_t bytes)
{
	struct iovec here = {ret, bytes}, there = {(void *)(uintptr_t)address, bytes};
	ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);

	return got == (ssize_t)bytes ? 0 : error_of(got);
}

uint64_t sp_other_word(pid_t pid, uint64_t address)
{
	uint64_t word;

	return sp_other_read(pid, address, &word, sizeof(word)) < 0 ? 0 : word;
}

void sp_other_parts_begin(struct sp_other_parts *parts, pid_t pid)
{
	parts->pid = pid;
	parts->count = parts->bytes = parts->read = 0;
}

void sp_other_parts_add(struct sp_other_parts *parts, uint64_t address, size_t bytes)
{
	uint32_t i = parts->count;

	if (i == SP_OTHER_PARTS_MAX || bytes > SP_OTHER_BYTES_MAX - parts->bytes)
		return;
	parts->here[i] = (struct iovec){parts->memory + parts->bytes, bytes};
	parts->there[i] = (struct iovec){(void *)(uintptr_t)address, bytes};
	parts->count++;
	parts->bytes += (uint32_t)bytes;
}

int sp_other_parts_read(struct sp_other_parts *parts)
{
	ssize_t got = process_vm_readv(parts->pid, parts->here, parts->count, parts->there,
				       parts->count, 0),
		left = got;

	while (left > 0 && parts->read < parts->count) {
		left -= (ssize_t)parts->here[parts->read].iov_len;
		parts->read += left >= 0;
	}
	return parts->read ? 0 : error_of(got);
}

const void *sp_other_parts_find(const struct sp_other_parts *parts, uint32_t first, uint32_t end,
				uint64_t address, size_t bytes)
{
	for (uint32_t i = first; i < end && i < parts->read; i++) {
		uint64_t from = address - (uint64_t)(uintptr_t)parts->there[i].iov_base;

		if (from < parts->there[i].iov_len && bytes <= parts->there[i].iov_len - from)
			return (const uint8_t *)parts->here[i].iov_base + from;
	}
	return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/sampler/other_memory.h"

#include <errno.h>
#include <sys/uio.h>

static int read_result(ssize_t got, size_t wanted)
{
	if (got == (ssize_t)wanted)
		return 0;
	return got < 0 && errno != EIO ? -errno : -EFAULT;
}

int sp_other_read(pid_t pid, uint64_t address, void *ret, size_t bytes)
{
	struct iovec here = {ret, bytes}, there = {(void *)(uintptr_t)address, bytes};

	return read_result(process_vm_readv(pid, &here, 1, &there, 1, 0), bytes);
}

uint64_t sp_other_word(pid_t pid, uint64_t address)
{
	uint64_t word;

	return sp_other_read(pid, address, &word, sizeof(word)) < 0 ? 0 : word;
}

int sp_other_read_parts(pid_t pid, const uint64_t *addresses, uint32_t count, void *ret,
			size_t bytes)
{
	struct iovec here = {ret, count * bytes}, there[SP_OTHER_PARTS_MAX];

	if (count > SP_OTHER_PARTS_MAX)
		return -EINVAL;
	for (uint32_t i = 0; i < count; i++)
		there[i] = (struct iovec){(void *)(uintptr_t)addresses[i], bytes};
	return read_result(process_vm_readv(pid, &here, 1, there, count, 0), count * bytes);
}

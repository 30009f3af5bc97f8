/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded: an allocator that reads a file each time it is asked,
 * as some do for their settings. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

void *malloc(size_t bytes);
void *calloc(size_t count, size_t bytes);
void *realloc(void *old, size_t bytes);
void free(void *old);
void *memalign(size_t boundary, size_t bytes);
void *aligned_alloc(size_t boundary, size_t bytes);
int posix_memalign(void **ret, size_t boundary, size_t bytes);

/* Never given back: the programs of the test are short. */
static unsigned char arena[256u << 20] __attribute__((aligned(64)));
static size_t used;

static void *carve(size_t bytes, size_t boundary)
{
	size_t need = ((bytes + 63) & ~(size_t)63) + 64 + boundary;
	size_t at = __atomic_fetch_add(&used, need, __ATOMIC_RELAXED);
	uintptr_t place;
	char block[16];
	int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		if (read(fd, block, sizeof(block)) < 0)
			block[0] = 0;
		close(fd);
	}
	if (at + need > sizeof(arena))
		return NULL;
	place = ((uintptr_t)arena + at + 64 + boundary - 1) & ~(uintptr_t)(boundary - 1);
	((size_t *)place)[-1] = bytes;
	return (void *)place;
}

void *malloc(size_t bytes)
{
	return carve(bytes, 64);
}

void *calloc(size_t count, size_t bytes)
{
	return carve(count * bytes, 64);
}

void *realloc(void *old, size_t bytes)
{
	unsigned char *now = carve(bytes, 64);
	size_t had = old ? ((size_t *)old)[-1] : 0;

	for (size_t i = 0; now && i < had && i < bytes; i++)
		now[i] = ((unsigned char *)old)[i];
	return now;
}

void free(void *old)
{
	(void)old;
}

void *memalign(size_t boundary, size_t bytes)
{
	return carve(bytes, boundary < 64 ? 64 : boundary);
}

void *aligned_alloc(size_t boundary, size_t bytes)
{
	return memalign(boundary, bytes);
}

int posix_memalign(void **ret, size_t boundary, size_t bytes)
{
	*ret = memalign(boundary, bytes);
	return *ret ? 0 : 12;
}

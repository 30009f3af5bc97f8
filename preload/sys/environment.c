/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/sys/environment.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "preload/sys/host_memory.h"

#define NAME "LD_PRELOAD="
#define NAME_BYTES (sizeof(NAME) - 1)
#define ENTRY_BYTES (NAME_BYTES + 1) /* includes the value's first byte */
#define BATCH 16u

static int is_preload(const char *entry)
{
	return memcmp(entry, NAME, NAME_BYTES) == 0 && entry[NAME_BYTES];
}

static int walk(char *const envp[])
{
	for (; envp && *envp; envp++)
		if (strncmp(*envp, NAME, NAME_BYTES) == 0 && (*envp)[NAME_BYTES])
			return 1;
	return 0;
}

/* An entry may end before ENTRY_BYTES can be read; it is not LD_PRELOAD. The search goes on after
 * it. */
static int any_preload(char *const entries[], size_t n)
{
	struct iovec chunks[BATCH];
	char begins[BATCH][ENTRY_BYTES];

	for (size_t i = 0; i < n; i++)
		chunks[i] = (struct iovec){entries[i], ENTRY_BYTES};
	for (size_t first = 0; first < n;) {
		long got = sp_host_memory_read(begins, chunks + first, n - first);
		size_t whole = got > 0 ? (size_t)got / ENTRY_BYTES : 0;

		for (size_t i = 0; i < whole; i++)
			if (is_preload(begins[i]))
				return 1;
		first += whole + (whole < n - first);
	}
	return 0;
}

static size_t count_entries(char *const entries[], size_t room)
{
	size_t n = 0;

	while (n < room && entries[n])
		n++;
	return n;
}

static int walk_by_kernel(char *const envp[])
{
	char *entries[BATCH];
	size_t n, room;

	do {
		struct iovec list = sp_host_memory_chunk(envp, sizeof(entries));
		long got = sp_host_memory_read(entries, &list, 1);

		if (got == -EFAULT)
			return 1;
		if (got < 0)
			return walk(envp);
		room = (size_t)got / sizeof(*entries);
		n = count_entries(entries, room);
		if (any_preload(entries, n))
			return 1;
		envp += n;
	} while (n > 0 && n == room);
	return 0;
}

int sp_environment_preloads(char *const envp[], int in_sandbox)
{
	if (!envp || envp == environ || in_sandbox)
		return walk(envp);
	return walk_by_kernel(envp);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded alone: writes a line "bytes path" for every fread of a file to the descriptor that
 * COUNT_FREAD_FD names. strace shows the reads that libc makes for a stream; only such a count
 * shows the program's requests.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef size_t reader(void *to, size_t size, size_t n, FILE *from);
typedef size_t checked_reader(void *to, size_t room, size_t size, size_t n, FILE *from);

static void count(FILE *from, size_t bytes)
{
	const char *number = getenv("COUNT_FREAD_FD");
	char link[40], path[4096];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fileno(from));
	length = readlink(link, path, sizeof(path));
	if (number && length > 0)
		dprintf(atoi(number), "%zu %.*s\n", bytes, (int)length, path);
}

static size_t counted(const char *name, void *to, size_t size, size_t n, FILE *from)
{
	size_t done = ((reader *)dlsym(RTLD_NEXT, name))(to, size, n, from);

	count(from, done * size);
	return done;
}

size_t fread(void *to, size_t size, size_t n, FILE *from)
{
	return counted("fread", to, size, n, from);
}

#undef fread_unlocked /* a macro where one optimizes */
size_t fread_unlocked(void *to, size_t size, size_t n, FILE *from)
{
	return counted("fread_unlocked", to, size, n, from);
}

checked_reader __fread_chk; /* declared where programs are fortified */

size_t __fread_chk(void *to, size_t room, size_t size, size_t n, FILE *from)
{
	size_t done = ((checked_reader *)dlsym(RTLD_NEXT, "__fread_chk"))(to, room, size, n, from);

	count(from, done * size);
	return done;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of glibc that are newer than 2.28, for tools that are linked to the stubs of 2.28
 * (stubs.sh). Only the tools contain them. The kernel's struct stat is glibc's on the two
 * architectures.
 */
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "is the kernel's struct stat glibc's here?"
#endif

HIDDEN int fstatat(int folder, const char *restrict path, struct stat *restrict ret, int flags)
{
	return (int)syscall(SYS_newfstatat, folder, path, ret, flags);
}

HIDDEN int stat(const char *restrict path, struct stat *restrict ret)
{
	return fstatat(AT_FDCWD, path, ret, 0);
}

HIDDEN int lstat(const char *restrict path, struct stat *restrict ret)
{
	return fstatat(AT_FDCWD, path, ret, AT_SYMLINK_NOFOLLOW);
}

HIDDEN int fstat(int fd, struct stat *ret)
{
	return (int)syscall(SYS_fstat, fd, ret);
}

/* The names that sources use where files may be larger than 2 GB. */
#define SAME(name, as) __asm__(".globl " #name "\n.hidden " #name "\n.set " #name ", " #as "\n")
SAME(stat64, stat);
SAME(lstat64, lstat);
SAME(fstat64, fstat);
SAME(fstatat64, fstatat);

HIDDEN int close_range(unsigned first, unsigned last, int flags)
{
	return (int)syscall(436, first, last, flags); /* SYS_close_range */
}

/*
 * Since glibc 2.34 the start code of a program leaves its constructors to libc, and an older libc
 * expects that the program runs them: --wrap puts this between the two.
 */
int __real___libc_start_main(int (*begin)(int, char **, char **), int argc, char **argv,
			     void (*constructors)(int, char **, char **), void (*destructors)(void),
			     void (*linker_end)(void), void *stack_end);
int __wrap___libc_start_main(int (*begin)(int, char **, char **), int argc, char **argv,
			     void (*constructors)(int, char **, char **), void (*destructors)(void),
			     void (*linker_end)(void), void *stack_end);

extern void (*const __init_array_start[])(int, char **, char **) HIDDEN;
extern void (*const __init_array_end[])(int, char **, char **) HIDDEN;

static void constructors_run(int argc, char **argv, char **environment)
{
	ptrdiff_t count = __init_array_end - __init_array_start;

	for (ptrdiff_t i = 0; i < count; i++)
		__init_array_start[i](argc, argv, environment);
}

int __wrap___libc_start_main(int (*begin)(int, char **, char **), int argc, char **argv,
			     void (*constructors)(int, char **, char **), void (*destructors)(void),
			     void (*linker_end)(void), void *stack_end)
{
	return __real___libc_start_main(begin, argc, argv,
					constructors ? constructors : constructors_run, destructors,
					linker_end, stack_end);
}

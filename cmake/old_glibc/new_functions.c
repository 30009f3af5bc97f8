/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of glibc that are newer than 2.17. The tools and the unwinder contain them, because
 * they are linked to the stubs of an older glibc (stubs.sh). The kernel's struct stat is glibc's on
 * the two architectures.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
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

/* Each argument of fcntl is an int, a long or an address: the kernel takes it as a long. */
HIDDEN int fcntl64(int fd, int command, ...)
{
	va_list arguments;
	long argument;

	va_start(arguments, command);
	argument = va_arg(arguments, long);
	va_end(arguments);
	return (int)syscall(SYS_fcntl, fd, command, argument);
}

HIDDEN int renameat2(int from_folder, const char *from, int to_folder, const char *to,
		     unsigned flags)
{
	return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

HIDDEN int memfd_create(const char *name, unsigned flags)
{
	return (int)syscall(SYS_memfd_create, name, flags);
}

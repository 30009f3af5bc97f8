/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File mappings. Anonymous mappings pass through: allocators make them in places where no lookup
 * or allocation is allowed. munmap does not name what it unmaps, so its events count files and
 * anonymous memory alike. libc's own mappings (malloc, thread stacks) are not seen.
 */
#include <sys/mman.h>

#include "preload/recorder/fd_table.h"
#include "preload/waits/mapped_files.h"
#include "preload/hooks/hook.h"
#include "preload/stacks/stacks.h"
#include "preload/sys/sys.h"

_Static_assert(sizeof(off_t) == sizeof(__off64_t), "mmap64 is mmap on LP64");

/* Turns the kernel's result into libc's. */
static long result_of(long ret)
{
	if (!sp_sys_failed(ret))
		return ret;
	errno = (int)-ret;
	return -1;
}

/* An allocator may call this before libc's functions are found, and holds its lock meanwhile: dlsym
 * may allocate, so the kernel is called directly. */
static void *map(void *at, size_t length, int prot, int flags, int fd, off_t offset)
{
	void *found = sp_originals[SP_ORIGINAL_mmap];

	if (sp_likely(found != NULL))
		return ((__typeof__(&mmap))found)(at, length, prot, flags, fd, offset);
	return (void *)result_of(
		sp_sys6(SYS_mmap, (long)at, (long)length, prot, flags, fd, offset));
}

static int unmap(void *at, size_t length)
{
	void *found = sp_originals[SP_ORIGINAL_munmap];

	if (sp_likely(found != NULL))
		return ((__typeof__(&munmap))found)(at, length);
	return (int)result_of(sp_sys6(SYS_munmap, (long)at, (long)length, 0, 0, 0, 0));
}

SP_HOOK(void *, mmap, void *at, size_t length, int prot, int flags, int fd, off_t offset)
{
	struct sp_thread *t;
	uint32_t file;
	void *ret;

	if (flags & MAP_FIXED)
		sp_mapped_end(at, length);
	if (fd < 0 || (flags & MAP_ANONYMOUS))
		return map(at, length, prot, flags, fd, offset);
	t = sp_enter();
	if (!t)
		return map(at, length, prot, flags, fd, offset);
	file = sp_fd_file(t, fd);
	SP_SPAN(span, t, SP_EV_mmap, file);
	ret = map(at, length, prot, flags, fd, offset);
	if (ret != MAP_FAILED)
		sp_mapped_note(ret, length, file);
	sp_span_close(&span, ret == MAP_FAILED ? -(int64_t)errno : (int64_t)length);
	return ret;
}
SP_ALIAS(mmap64, mmap);

SP_HOOK(int, munmap, void *at, size_t length)
{
	struct sp_thread *t = sp_enter();
	int ret;

	if (!t)
		return unmap(at, length);
	sp_mapped_end(at, length);
	SP_SPAN(span, t, SP_EV_munmap, 0);
	ret = unmap(at, length);
	sp_span_close(&span, ret < 0 ? -(int64_t)errno : (int64_t)length);
	return ret;
}

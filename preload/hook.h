/*
 * How a hook is written. In a hooks_*.c file:
 *
 *	SP_HOOK(ssize_t, read, int fd, void *buf, size_t n)
 *	{
 *		struct sp_thread *t = sp_enter();
 *		ssize_t ret;
 *
 *		if (!t)
 *			return SP_REAL(read)(fd, buf, n);
 *		SP_SPAN(span, t, SP_EV_read, sp_file_of(t, fd));
 *		ret = SP_REAL(read)(fd, buf, n);
 *		sp_span_end(&span, SP_RESULT(ret));
 *		return ret;
 *	}
 *
 * SP_HOOK defines hidden sp_wrap_NAME and exports NAME as its alias: a bare call of NAME from inside this
 * library would bind to libc or to us, so nobody makes one. A prototype that differs from the header's
 * does not compile. SP_TWIN exports another name of the same ABI for the same wrapper.
 *
 * Rules of the hook path: no malloc, lock, added system call, dlsym or signal-unsafe call; the real
 * call's result and errno reach the host unchanged; no state is left behind if the real call never
 * returns (longjmp, cancellation, exceptions).
 */
#ifndef STAGEPROF_PRELOAD_HOOK_H
#define STAGEPROF_PRELOAD_HOOK_H

#include <errno.h>

#include "preload/originals.h"
#include "preload/record.h"

#define SP_EXPORT __attribute__((visibility("default")))

#define SP_HOOK(ret, name, ...)                                                                    \
	ret sp_wrap_##name(__VA_ARGS__);                                                           \
	extern __typeof__(sp_wrap_##name) name SP_EXPORT __attribute__((alias("sp_wrap_" #name))); \
	ret sp_wrap_##name(__VA_ARGS__)

#define SP_TWIN(twin, name)                                                                        \
	extern __typeof__(sp_wrap_##name) twin SP_EXPORT __attribute__((alias("sp_wrap_" #name)))

/* The same for a name whose header speaks of struct stat64 or struct dirent64: one struct on LP64. */
#define SP_TWIN_STRUCT(twin, name)                                                                 \
	extern __typeof__(sp_wrap_##name) sp_twin_##twin __asm__(#twin) SP_EXPORT __attribute__((  \
		alias("sp_wrap_" #name)))

/* What an event's value is after a call that returns -1 and sets errno. */
#define SP_RESULT(ret) ((ret) < 0 ? -(int64_t)errno : (int64_t)(ret))

#endif

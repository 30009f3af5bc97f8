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
 *		sp_span_close(&span, SP_RESULT(ret));
 *		return ret;
 *	}
 *
 * which, where there is nothing else to do, is one of
 *
 *	SP_HOOK_CALL(ssize_t, read, SP_EV_read, sp_file_of(t, fd), SP_RESULT(ret),
 *		(int fd, void *buf, size_t n), (fd, buf, n))
 *	SP_HOOK_FILE(ssize_t, read, SP_EV_read, (int fd, void *buf, size_t n), (fd, buf, n))
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
#include "preload/returns.h"
#include "preload/stacks.h"

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

/* A call that is one event, or one where it waited for long: `arg` is taken before the call, of `t` and the
 * call's arguments; `value` after it, of `ret`, too. */
#define SP_HOOK_CALL(type, name, event, arg, value, parameters, arguments)                         \
	SP_HOOK_ENDED(sp_span_close, type, name, event, arg, value, parameters, arguments)
#define SP_HOOK_WAIT(type, name, event, arg, value, parameters, arguments)                         \
	SP_HOOK_ENDED(sp_wait_close, type, name, event, arg, value, parameters, arguments)

#define SP_HOOK_ENDED(end, type, name, event, arg, value, parameters, arguments)                   \
	type sp_wrap_##name parameters;                                                            \
	extern __typeof__(sp_wrap_##name) name SP_EXPORT __attribute__((alias("sp_wrap_" #name))); \
	type sp_wrap_##name parameters                                                             \
	SP_HOOK_BODY(end, type, name, event, arg, value, arguments)

/* `arg` is asked for before the call, `value` after it. */
#define SP_HOOK_BODY(end, type, name, event, arg, value, arguments)                                \
	{                                                                                          \
		struct sp_thread *t = sp_enter();                                                  \
		type ret;                                                                          \
                                                                                                   \
		if (!t)                                                                            \
			return SP_REAL(name) arguments;                                            \
		SP_SPAN(span, t, event, arg);                                                      \
		ret = SP_REAL(name) arguments;                                                     \
		end(&span, value);                                                                 \
		return ret;                                                                        \
	}

/*
 * A call of a file's that is one event: `parameters` have the descriptor as fd. Where the recorder is at work and
 * the file is known, nothing else is called before the real function, so that nothing has to be kept in the frame;
 * else the same is done with every question asked.
 */
#define SP_HOOK_FILE(type, name, event, parameters, arguments)                                     \
	type sp_wrap_##name parameters SP_RETURNS_AS_CHOSEN;                               \
	extern __typeof__(sp_wrap_##name) name SP_EXPORT __attribute__((alias("sp_wrap_" #name))); \
	static __attribute__((noinline, cold)) type sp_ask_##name parameters                       \
	SP_HOOK_BODY(sp_span_close, type, name, event, sp_file_of(t, fd), SP_RESULT(ret), arguments) \
	type sp_wrap_##name parameters                                                             \
	{                                                                                          \
		struct sp_thread *t = sp_thread_at_work();                                         \
		uint32_t file = t ? sp_file_near(fd) : 0;                                          \
		__typeof__(&name) real = sp_originals[SP_ORIGINAL_##name];                         \
		type ret;                                                                          \
                                                                                                   \
		if (sp_unlikely(!file || !real || !sp_clock.keep))                                 \
			return sp_ask_##name arguments;                                            \
		SP_SPAN_AT(span, t, event, file, sp_clock_counted());                              \
		ret = real arguments;                                                              \
		sp_span_close_at(&span, sp_clock_counted(), SP_RESULT(ret));                       \
		return ret;                                                                        \
	}

/* What an event's value is after a call that returns -1 and sets errno. */
#define SP_RESULT(ret) (sp_unlikely((ret) < 0) ? -(int64_t)errno : (int64_t)(ret))

#endif

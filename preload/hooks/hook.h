/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The form of a hook, in a hooks_*.c file:
 *
 *	SP_HOOK(ssize_t, read, int fd, void *buf, size_t n)
 *	{
 *		struct sp_thread *t = sp_enter();
 *		ssize_t ret;
 *
 *		if (!t)
 *			return SP_REAL(read)(fd, buf, n);
 *		SP_SPAN(span, t, SP_EV_read, sp_fd_file(t, fd));
 *		ret = SP_REAL(read)(fd, buf, n);
 *		sp_span_close(&span, SP_RESULT(ret));
 *		return ret;
 *	}
 *
 * A hook that does nothing else is one of
 *
 *	SP_HOOK_CALL(ssize_t, read, SP_EV_read, sp_fd_file(t, fd), SP_RESULT(ret),
 *		(int fd, void *buf, size_t n), (fd, buf, n))
 *	SP_HOOK_FILE(ssize_t, read, SP_EV_read, (int fd, void *buf, size_t n), (fd, buf, n))
 *
 * SP_HOOK defines hidden sp_wrap_NAME and exports NAME as its alias. A bare call of NAME inside
 * this library would bind to libc or to the wrapper, so never call NAME directly; use
 * SP_REAL(NAME). SP_ALIAS exports another name of the same ABI for the same wrapper.
 *
 * The compiler compares a wrapper with the declaration of NAME that the file has included. For
 * libc, that is the header's: a prototype that differs does not compile. For a library that the
 * host loads (libpng), no header is included: a wrong prototype or struct compiles, and breaks the
 * host. Copy it from the header of the oldest and the newest version, and call it in a test.
 *
 * Rules of the hook path: no malloc, lock, added system call, dlsym or signal-unsafe call; the real
 * call's result and errno reach the host unchanged; no state remains if the real call never returns
 * (longjmp, cancellation, exceptions).
 */
#ifndef STAGEPROF_PRELOAD_HOOK_H
#define STAGEPROF_PRELOAD_HOOK_H

#include <errno.h>

#include "preload/resolve/originals.h"
#include "preload/recorder/recorder.h"
#include "preload/recorder/returns.h"
#include "preload/stacks/stacks.h"

#define SP_EXPORT __attribute__((visibility("default")))

/* The list in parentheses that a macro was given, without them. */
#define SP_UNPACK(...) __VA_ARGS__

#define SP_HOOK(ret, name, ...)                                                                    \
	ret sp_wrap_##name(__VA_ARGS__);                                                           \
	extern __typeof__(sp_wrap_##name) name SP_EXPORT __attribute__((alias("sp_wrap_" #name))); \
	ret sp_wrap_##name(__VA_ARGS__)

#define SP_ALIAS(other, name)                                                                      \
	extern __typeof__(sp_wrap_##name) other SP_EXPORT __attribute__((alias("sp_wrap_" #name)))

/* SP_ALIAS for a name whose header uses struct stat64 or struct dirent64: one struct on LP64. */
#define SP_ALIAS_STRUCT(other, name)                                                               \
	extern __typeof__(sp_wrap_##name) sp_alias_##other __asm__(#other) SP_EXPORT               \
		__attribute__((alias("sp_wrap_" #name)))

/* A call that is one event (SP_HOOK_CALL), or one event if it waited long (SP_HOOK_WAIT).
 * `arg_of_t` is evaluated before the call and may use `t` and the arguments; `value_of_ret` is
 * evaluated after the call and may use `ret`, too. */
#define SP_HOOK_CALL(type, name, event, arg_of_t, value_of_ret, parameters, arguments)             \
	SP_HOOK_ENDED(sp_span_close, type, name, event, arg_of_t, value_of_ret, parameters,        \
		      arguments)
#define SP_HOOK_WAIT(type, name, event, arg_of_t, value_of_ret, parameters, arguments)             \
	SP_HOOK_ENDED(sp_wait_close, type, name, event, arg_of_t, value_of_ret, parameters,        \
		      arguments)

#define SP_HOOK_ENDED(end, type, name, event, arg_of_t, value_of_ret, parameters, arguments)       \
	type sp_wrap_##name parameters;                                                            \
	extern __typeof__(sp_wrap_##name) name SP_EXPORT __attribute__((alias("sp_wrap_" #name))); \
	type sp_wrap_##name parameters SP_HOOK_BODY(end, type, name, event, arg_of_t,              \
						    value_of_ret, arguments)

/* The shared body; `arg_of_t` and `value_of_ret` as above. */
#define SP_HOOK_BODY(end, type, name, event, arg_of_t, value_of_ret, arguments)                    \
	{                                                                                          \
		struct sp_thread *t = sp_enter();                                                  \
		type ret;                                                                          \
                                                                                                   \
		if (!t)                                                                            \
			return SP_REAL(name) arguments;                                            \
		SP_SPAN(span, t, event, arg_of_t);                                                 \
		ret = SP_REAL(name) arguments;                                                     \
		end(&span, value_of_ret);                                                          \
		return ret;                                                                        \
	}

/*
 * A call on a descriptor that is one event; `parameters` name the descriptor fd. If the thread
 * records and the file is known, the wrapper calls nothing but the real function, so that the
 * frame keeps nothing. Otherwise sp_slow_path_NAME does the same with every check.
 */
#define SP_HOOK_FILE(type, name, event, parameters, arguments)                                     \
	SP_HOOK_FILE_VALUE(type, name, event, SP_RESULT(ret), parameters, arguments)

/* The same, with another value, as for SP_HOOK_CALL. */
#define SP_HOOK_FILE_VALUE(type, name, event, value_of_ret, parameters, arguments)                 \
	type sp_wrap_##name parameters SP_RETURNS_AS_CHOSEN;                                       \
	extern __typeof__(sp_wrap_##name) name SP_EXPORT __attribute__((alias("sp_wrap_" #name))); \
	static __attribute__((noinline, cold)) type sp_slow_path_##name parameters                 \
	SP_HOOK_BODY(sp_span_close, type, name, event, sp_fd_file(t, fd), value_of_ret, arguments) \
	type sp_wrap_##name parameters                                                             \
	{                                                                                          \
		struct sp_thread *t = sp_thread_at_work();                                         \
		uint32_t file = t ? sp_fd_file_near(fd) : 0;                                       \
		__typeof__(&name) real = sp_originals[SP_ORIGINAL_##name];                         \
		type ret;                                                                          \
                                                                                                   \
		if (sp_unlikely(!file || !real || !sp_recorder_clock.keep))                        \
			return sp_slow_path_##name arguments;                                      \
		SP_SPAN_AT(span, t, event, file, sp_clock_counted());                              \
		ret = real arguments;                                                              \
		sp_span_close_at(&span, sp_clock_counted(), value_of_ret);                         \
		return ret;                                                                        \
	}

/* The event's value after a call that returns -1 and sets errno. */
#define SP_RESULT(ret) (sp_unlikely((ret) < 0) ? -(int64_t)errno : (int64_t)(ret))

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls on sockets. read, write and their kin take sockets, too (hooks_file.c, hooks_vector.c);
 * the descriptor's file distinguishes the network from files and from pipes
 * (preload/recorder/socket_peer.h). accept and socket make descriptors that are met at their first
 * use.
 */
#include <sys/socket.h>
#include <sys/uio.h>

#include "preload/recorder/fd_table.h"
#include "preload/hooks/hook.h"
#include "preload/recorder/process.h"
#include "preload/stacks/stacks.h"

/* The bytes that a call took out of the socket, or its error. */
static int64_t taken(ssize_t ret, int flags)
{
	return ret > 0 && (flags & MSG_PEEK) ? 0 : SP_RESULT(ret);
}

SP_HOOK_FILE_VALUE(ssize_t, recv, SP_EV_recv, taken(ret, flags),
		   (int fd, void *buf, size_t n, int flags), (fd, buf, n, flags))

SP_HOOK_FILE_VALUE(ssize_t, __recv_chk, SP_EV_recv, taken(ret, flags),
		   (int fd, void *buf, size_t n, size_t room, int flags), (fd, buf, n, room, flags))

SP_HOOK_FILE_VALUE(ssize_t, recvfrom, SP_EV_recvfrom, taken(ret, flags),
		   (int fd, void *buf, size_t n, int flags, __SOCKADDR_ARG from,
		    socklen_t *from_bytes),
		   (fd, buf, n, flags, from, from_bytes))

SP_HOOK_FILE_VALUE(ssize_t, __recvfrom_chk, SP_EV_recvfrom, taken(ret, flags),
		   (int fd, void *buf, size_t n, size_t room, int flags, __SOCKADDR_ARG from,
		    socklen_t *from_bytes),
		   (fd, buf, n, room, flags, from, from_bytes))

SP_HOOK_FILE_VALUE(ssize_t, recvmsg, SP_EV_recvmsg, taken(ret, flags),
		   (int fd, struct msghdr *message, int flags), (fd, message, flags))

SP_HOOK_FILE(ssize_t, send, SP_EV_send, (int fd, const void *buf, size_t n, int flags),
	     (fd, buf, n, flags))

SP_HOOK_FILE(ssize_t, sendto, SP_EV_sendto,
	     (int fd, const void *buf, size_t n, int flags, __CONST_SOCKADDR_ARG to,
	      socklen_t to_bytes),
	     (fd, buf, n, flags, to, to_bytes))

SP_HOOK_FILE(ssize_t, sendmsg, SP_EV_sendmsg, (int fd, const struct msghdr *message, int flags),
	     (fd, message, flags))

/* The kernel has written the length of each message that it moved. */
static int64_t sum_of(const struct mmsghdr *messages, int ret, int flags)
{
	int64_t sum = 0;

	if (ret < 0)
		return SP_RESULT(ret);
	for (int i = 0; i < ret; i++)
		sum += messages[i].msg_len;
	return flags & MSG_PEEK ? 0 : sum;
}

SP_HOOK_CALL(int, recvmmsg, SP_EV_recvmmsg, sp_fd_file(t, fd), sum_of(messages, ret, flags),
	     (int fd, struct mmsghdr *messages, unsigned n, int flags, struct timespec *timeout),
	     (fd, messages, n, flags, timeout))

SP_HOOK_CALL(int, sendmmsg, SP_EV_sendmmsg, sp_fd_file(t, fd), sum_of(messages, ret, 0),
	     (int fd, struct mmsghdr *messages, unsigned n, int flags), (fd, messages, n, flags))

/* 1: the kernel has read the address, so the socket has, or will have, this other end. */
static int address_was_read(int ret, int error)
{
	return ret == 0 || error == EINPROGRESS || error == ECONNREFUSED || error == ETIMEDOUT ||
	       error == ENETUNREACH || error == EHOSTUNREACH || error == EINTR ||
	       error == EALREADY || error == EISCONN;
}

SP_HOOK(int, connect, int fd, __CONST_SOCKADDR_ARG address, socklen_t bytes)
{
	struct sp_thread *t = sp_enter();
	uint64_t end;
	int64_t value;
	int ret;

	if (!t) {
		if (sp_process && !sp_is_suppressed())
			sp_fd_unregister(fd);
		return SP_REAL(connect)(fd, address, bytes);
	}
	SP_SPAN(span, t, SP_EV_connect, 0);
	ret = SP_REAL(connect)(fd, address, bytes);
	end = sp_clock_ticks();
	value = SP_RESULT(ret);
	if (address_was_read(ret, (int)-value))
		sp_span_set_arg(&span, sp_fd_connected(t, fd, address.__sockaddr__, bytes));
	sp_span_close_at(&span, end, value == -EINPROGRESS ? 0 : value);
	return ret;
}

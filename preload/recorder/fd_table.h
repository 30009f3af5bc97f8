/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a descriptor: a number that events carry as their arg. The top four bits are
 * the file's type (enum sp_file_type), so that an event has a stage even where the definition was
 * lost. The other bits count up from 1 in each process image. 0: not known.
 *
 * A descriptor is registered at its first use: one fstat, one readlink of /proc/thread-self/fd
 * (of a socket: getpeername), and a definition in the stream of the calling thread. It is
 * unregistered when it is closed. Lock-free; async-signal-safe; errno is kept. Descriptors of
 * 4,194,304 and above are never known.
 */
#ifndef STAGEPROF_PRELOAD_FD_TABLE_H
#define STAGEPROF_PRELOAD_FD_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "preload/recorder/process.h"
#include "preload/blocks/thread_slots.h"

uint32_t sp_fd_register(struct sp_thread *t, int fd);

/* As sp_fd_file_known(), but only for the near table. */
static inline uint32_t sp_fd_file_near(int fd)
{
	if (sp_unlikely((uint32_t)fd >= SP_FD_NEAR))
		return 0;
	return __atomic_load_n(&sp_fd_near_table[fd], __ATOMIC_RELAXED);
}

/* The file of a descriptor, registered if it is new; 0: not known. */
static inline uint32_t sp_fd_file(struct sp_thread *t, int fd)
{
	uint32_t file = sp_fd_file_near(fd);

	return sp_likely(file != 0) ? file : sp_fd_register(t, fd);
}

/* As sp_fd_register() for a socket that connect(2) was called on with this address, which the
 * kernel has read: its name becomes the peer's (preload/recorder/socket_peer.h). */
uint32_t sp_fd_connected(struct sp_thread *t, int fd, const struct sockaddr *peer, socklen_t bytes);

/* A file for a path that no descriptor has: that of an opening call which was interrupted. 0: not
 * readable, or STAGEPROF_PATHS keeps no part of it. Makes system calls. */
uint32_t sp_fd_path_define(struct sp_thread *t, const char *path);

/* The file of a registered descriptor; 0: the descriptor is not registered. */
uint32_t sp_fd_file_known(int fd);

/* True for a file on tmpfs, as far as this process knows: of shared memory, no file with data. */
bool sp_fd_is_memory(uint32_t file);

/* The id of a mapped file that this process may never have opened, by its path and inode. Makes
 * system calls, none of which opens a descriptor. */
uint32_t sp_fd_path_file(struct sp_thread *t, const char *path, uint64_t inode);

/* fd is closed, or has become another file. */
void sp_fd_unregister(int fd);
void sp_fd_unregister_range(unsigned first, unsigned last);

/* `to` is now the same open file as `from`. */
void sp_fd_copy(int from, int to);

#endif

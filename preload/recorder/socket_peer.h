/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name of a socket, by which the report counts its calls: the other end of the connection.
 *
 *	net:192.0.2.7:443, net:[2001:db8::7]:443   the program connected it
 *	net:192.0.2.7                              connected unseen: accepted, inherited, received
 *	net:(not connected)                        of the internet, without one other end
 *	unix:/run/x.sock, unix:@abstract           the program connected it by a path
 *
 * All other sockets have no such name and keep the kernel's, "socket:[inode]". STAGEPROF_PATHS
 * holds for addresses as for paths. Async-signal-safe; errno is kept.
 */
#ifndef STAGEPROF_PRELOAD_SOCKET_PEER_H
#define STAGEPROF_PRELOAD_SOCKET_PEER_H

#include <stddef.h>
#include <sys/socket.h>

/* The least size of the array that `ret` points to below. */
#define SP_PEER_NAME_BYTES 256u

/* The name for an address that the program gave to connect(2). Call after connect: the kernel has
 * read the address then. Returns its length, 0: no name. */
size_t sp_peer_name_of(const struct sockaddr *address, socklen_t bytes, char *ret);

/* The name for a socket whose connect was not seen. At most two system calls. Returns as above. */
size_t sp_peer_name_unseen(int fd, char *ret);

/* 1: the name is one of the internet's, above. */
int sp_peer_is_net(const char *name);

#endif

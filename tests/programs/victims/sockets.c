/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls on sockets of the internet and of this host, of every name. Prints the bytes that were sent
 * to the server and the bytes that its end received.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

#define PART 1000

static struct tally_row *reads, *writes, *connects, *opens, *closes;
static struct tally_row *local_reads, *local_writes, *local_connects, *file_writes;
static char block[2 * PART];
static uint64_t sent, received;

static ssize_t count_sent(ssize_t n)
{
	EXPECT(n == PART);
	sent += (uint64_t)n;
	return n;
}

static ssize_t count_received(ssize_t n)
{
	EXPECT(n == PART);
	received += (uint64_t)n;
	return n;
}

static void make_message(struct msghdr *message, struct iovec *part)
{
	*part = (struct iovec){block, PART};
	*message = (struct msghdr){.msg_iov = part, .msg_iovlen = 1};
}

/* One part a call, and an empty one that a peek sees first. */
static void plain(int client, int server)
{
	count_sent(TALLY_BYTES(writes, send(client, block, PART, 0)));
	/* A peek moves nothing. */
	EXPECT(TALLY(reads, recv(server, block, PART, MSG_PEEK | MSG_WAITALL)) == PART);
	count_received(TALLY_BYTES(reads, recv(server, block, PART, MSG_WAITALL)));
	count_sent(TALLY_BYTES(writes, sendto(client, block, PART, 0, NULL, 0)));
	count_received(TALLY_BYTES(reads, recvfrom(server, block, PART, MSG_WAITALL, NULL, NULL)));
	count_sent(TALLY_BYTES(writes, write(client, block, PART)));
	count_received(TALLY_BYTES(reads, read(server, block, PART)));
}

static void scattered(int client, int server)
{
	struct iovec part;
	struct msghdr message;
	struct mmsghdr several[2];

	make_message(&message, &part);
	count_sent(TALLY_BYTES(writes, sendmsg(client, &message, 0)));
	count_received(TALLY_BYTES(reads, recvmsg(server, &message, MSG_WAITALL)));
	count_sent(TALLY_BYTES(writes, writev(client, &part, 1)));
	count_received(TALLY_BYTES(reads, readv(server, &part, 1)));
	several[0] = (struct mmsghdr){.msg_hdr = message};
	tally_begin(writes);
	EXPECT(sendmmsg(client, several, 1, 0) == 1);
	tally_end(writes, count_sent(several[0].msg_len));
	several[0] = (struct mmsghdr){.msg_hdr = message};
	tally_begin(reads);
	EXPECT(recvmmsg(server, several, 1, MSG_WAITALL, NULL) == 1);
	tally_end(reads, count_received(several[0].msg_len));
}

/* From a file to the socket, inside the kernel; and from the socket to a pipe. */
static void copied(int client, int server)
{
	int file = TALLY(opens, open("in.dat", O_RDONLY)), ends[2];

	EXPECT(file >= 0 && pipe(ends) == 0);
	count_sent(TALLY_BYTES(writes, sendfile(client, file, NULL, PART)));
	count_received(TALLY_BYTES(reads, splice(server, NULL, ends[1], NULL, PART, 0)));
	count_sent(TALLY_BYTES(writes, splice(ends[0], NULL, client, NULL, PART, 0)));
	count_received(TALLY_BYTES(reads, recv(server, block, PART, MSG_WAITALL)));
	for (int i = 0; i < 2; i++)
		EXPECT(TALLY(closes, close(ends[i])) == 0);
	EXPECT(TALLY(closes, close(file)) == 0);
}

static void over_tcp(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	int listener = socket(AF_INET, SOCK_STREAM, 0), client, server;
	socklen_t bytes = sizeof(address);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	EXPECT(bind(listener, (struct sockaddr *)&address, bytes) == 0 && listen(listener, 4) == 0);
	EXPECT(getsockname(listener, (struct sockaddr *)&address, &bytes) == 0);
	client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	/* A socket that does not wait: 0 or EINPROGRESS, and neither is an error. */
	if (TALLY(connects, connect(client, (struct sockaddr *)&address, bytes)) < 0) {
		struct pollfd until = {.fd = client, .events = POLLOUT};

		EXPECT(errno == EINPROGRESS && poll(&until, 1, -1) == 1);
	}
	EXPECT(fcntl(client, F_SETFL, 0) == 0);
	server = accept(listener, NULL, NULL);
	EXPECT(server >= 0);
	for (int i = 0; i < 10; i++) {
		plain(client, server);
		scattered(client, server);
		copied(client, server);
	}
	for (int i = 0; i < 3; i++)
		EXPECT(TALLY(closes, close((int[]){client, server, listener}[i])) == 0);
	printf("%lu %lu\n", (unsigned long)sent, (unsigned long)received);
}

/* Datagrams to an address for each, and a connection that nobody takes. */
static void without_end(void)
{
	struct sockaddr_in6 nobody = {.sin6_family = AF_INET6, .sin6_port = htons(9)};
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9)};
	int udp = socket(AF_INET, SOCK_DGRAM, 0), tcp6 = socket(AF_INET6, SOCK_DGRAM, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	EXPECT(TALLY_BYTES(writes, sendto(udp, block, 10, 0, (struct sockaddr *)&address,
					  sizeof(address))) == 10);
	EXPECT(TALLY(closes, close(udp)) == 0);
	nobody.sin6_addr = in6addr_loopback;
	if (tcp6 >= 0) {
		TALLY(connects, connect(tcp6, (struct sockaddr *)&nobody, sizeof(nobody)));
		EXPECT(TALLY(closes, close(tcp6)) == 0);
	}
}

/* Between processes of one host: as pipes, and no network. */
static void local(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), client, server, ends[2];

	EXPECT(getcwd(address.sun_path, sizeof(address.sun_path) - sizeof("/server.sock")));
	strcat(address.sun_path, "/server.sock");
	EXPECT(bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0);
	EXPECT(listen(listener, 1) == 0);
	client = socket(AF_UNIX, SOCK_STREAM, 0);
	EXPECT(TALLY(local_connects,
		     connect(client, (struct sockaddr *)&address, sizeof(address))) == 0);
	server = accept(listener, NULL, NULL);
	EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	for (int i = 0; i < 10; i++) {
		EXPECT(TALLY_BYTES(local_writes, send(client, block, PART, 0)) == PART);
		EXPECT(TALLY_BYTES(local_reads, recv(server, block, PART, MSG_WAITALL)) == PART);
		EXPECT(TALLY_BYTES(local_writes, send(ends[0], block, PART, 0)) == PART);
		EXPECT(TALLY_BYTES(local_reads, recv(ends[1], block, PART, MSG_WAITALL)) == PART);
	}
	for (int i = 0; i < 5; i++)
		EXPECT(TALLY(closes,
			     close((int[]){listener, client, server, ends[0], ends[1]}[i])) == 0);
	EXPECT(unlink(address.sun_path) == 0);
}

int main(void)
{
	int out;

	tally_make_file("in.dat", PART);
	reads = tally_row("net_read", "");
	writes = tally_row("net_write", "");
	connects = tally_row("net_connect", "");
	local_reads = tally_row("ipc_read", "");
	local_writes = tally_row("ipc_write", "");
	local_connects = tally_row("ipc_connect", "");
	opens = tally_row("file_open", "");
	closes = tally_row("file_close", "");
	file_writes = tally_row("file_write", "");
	over_tcp();
	without_end();
	local();
	out = TALLY(opens, open("out.dat", O_WRONLY | O_CREAT | O_TRUNC, 0600));
	EXPECT(TALLY_BYTES(file_writes, write(out, block, 64)) == 64);
	EXPECT(TALLY(closes, close(out)) == 0);
	return 0;
}

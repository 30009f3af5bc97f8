/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors that come through a socket: their numbers were other files' before. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

enum { ROUNDS = 500 };

union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static struct msghdr *message_make(struct msghdr *message, struct iovec *part,
				   union control *control)
{
	static char one;

	*part = (struct iovec){&one, 1};
	memset(control, 0, sizeof(*control));
	*message = (struct msghdr){.msg_iov = part,
				   .msg_iovlen = 1,
				   .msg_control = control->bytes,
				   .msg_controllen = sizeof(control->bytes)};
	return message;
}

static void give(int way, int fd)
{
	struct tally_row *writes = tally_row("ipc_write", "");
	struct msghdr message;
	union control control;
	struct iovec part;
	struct cmsghdr *head = CMSG_FIRSTHDR(message_make(&message, &part, &control));

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	EXPECT(TALLY_BYTES(writes, sendmsg(way, &message, 0)) == 1);
}

static int take(int way)
{
	struct tally_row *reads = tally_row("ipc_read", "");
	struct msghdr message;
	union control control;
	struct iovec part;
	int fd;

	message_make(&message, &part, &control);
	EXPECT(TALLY_BYTES(reads, recvmsg(way, &message, 0)) == 1);
	EXPECT(CMSG_FIRSTHDR(&message));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

static int giver(int way)
{
	struct tally_row *opens = tally_row("file_open", ""), *closes = tally_row("file_close", "");

	for (int i = 0; i < ROUNDS; i++) {
		int fd = TALLY(opens, open(i % 2 ? "b.dat" : "a.dat", O_RDONLY));

		EXPECT(fd >= 0);
		give(way, fd);
		TALLY(closes, close(fd));
	}
	return 0;
}

int main(void)
{
	struct tally_row *a = tally_row("file_read", "a.dat"), *b = tally_row("file_read", "b.dat");
	struct tally_row *closes = tally_row("file_close", "");
	int ways[2], status, number = -1;
	char block[32];
	pid_t pid;

	tally_make_file("a.dat", 4096);
	tally_make_file("b.dat", 4096);
	EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, ways) == 0);
	pid = fork();
	if (pid == 0)
		return giver(ways[1]);
	for (int i = 0; i < ROUNDS; i++) {
		int fd = take(ways[0]);

		EXPECT(number < 0 || fd == number);
		number = fd;
		EXPECT(TALLY_BYTES(i % 2 ? b : a, pread(fd, block, sizeof(block), 0)) == 32);
		TALLY(closes, close(fd));
	}
	EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
	puts("done");
	return 0;
}

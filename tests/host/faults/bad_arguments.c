/* SPDX-License-Identifier: Apache-2.0 */
/* bad_arguments: calls that the kernel refuses, each with what it said: null and wild pointers,
 * lists without an end. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

static void *wild; /* not mapped, and not known to the compiler */
static void *null;
static int minus;

#define SAY(call)                                                                                  \
	do {                                                                                       \
		errno = 0;                                                                         \
		long said = (long)(call);                                                          \
		printf("%s: %s %d\n", #call, said == -1 ? "-1" : said ? "some" : "0", errno);      \
		fflush(stdout);                                                                    \
	} while (0)

static void paths(void)
{
	struct stat st;

	SAY(open(null, O_RDONLY));
	SAY(open(wild, O_RDONLY));
	SAY(openat(AT_FDCWD, wild, O_RDONLY));
	SAY(openat(-5, "x", O_RDONLY));
	SAY(creat(wild, 0600));
	SAY(access(wild, R_OK));
	SAY(faccessat(AT_FDCWD, wild, R_OK, 0));
	SAY(stat(wild, &st));
	SAY(lstat(null, &st));
	SAY(stat("/", wild));
	SAY(fstat(0, wild));
	SAY(fdopendir(-1));
	SAY(unlink(wild));
	SAY(rename(wild, "x"));
	SAY(mkdir(wild, 0700));
	SAY(readlink(wild, null, 10));
	SAY(open("", O_RDONLY));
}

static void transfers(int in)
{
	const struct iovec bad[2] = {{wild, 100}, {wild, SIZE_MAX / 2}};
	off_t *offset = wild;

	SAY(read(in, wild, 100));
	SAY(read(in, null, 100));
	SAY(read(in, null, 0));
	SAY(pread(in, wild, 100, 0));
	SAY(pread(in, wild, 100, -1));
	SAY(write(in, wild, 100));
	SAY(readv(in, wild, 2));
	SAY(readv(in, bad, 2));
	SAY(readv(in, bad, minus));
	SAY(preadv(in, wild, 1000000, 0));
	SAY(writev(1, bad, 2));
	SAY(preadv2(in, wild, 2, 0, 0x7fff));
	SAY(sendfile(1, in, offset, 10));
	SAY(copy_file_range(in, wild, in, offset, 10, 0));
	SAY(recv(in, wild, 10, 0));
	SAY(recvmsg(in, wild, 0));
	SAY(sendmsg(in, wild, 0));
	SAY(lseek(in, 0, 99));
}

static void waits(void)
{
	SAY(poll(wild, 5, 0));
	SAY(ppoll(wild, 5, NULL, NULL));
	SAY(select(5, wild, NULL, NULL, NULL));
	SAY(select(-1, NULL, NULL, NULL, NULL));
	SAY(epoll_wait(-1, wild, 5, 0));
	SAY(waitpid(-1, wild, 0));
	SAY(wait4(-1, wild, 0, wild));
	SAY(waitid(P_ALL, 0, wild, 0));
}

static void maps(int in)
{
	SAY(mmap(NULL, 0, PROT_READ, MAP_PRIVATE, in, 0));
	SAY(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, in, 1));
	SAY(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, -7, 0));
	SAY(munmap(wild, 1));
	SAY(madvise(wild, 4096, MADV_WILLNEED));
	SAY(close(-1));
	SAY(close_range(9, 5, 0));
	SAY(dup(-1));
	SAY(dup2(0, -1));
	SAY(dup2(in, in) == in);
	SAY(dup3(in, in, 0));
	SAY(fcntl(-1, F_DUPFD, 0));
	SAY(fcntl(in, 0x7777, 0));
}

/* Processes: the argument lists are the kernel's to read. */
static void images(void)
{
	char *const no_list[] = {NULL};
	char *wild_list[] = {(char *)"x", wild, NULL};
	pid_t pid;

	SAY(execve(wild, no_list, no_list));
	SAY(execve("/nowhere", wild, wild));
	SAY(execve("/bin/true", wild, no_list));
	SAY(execve("/bin/true", no_list, wild));
	SAY(execve("/bin/true", wild_list, no_list));
	SAY(execve("/bin/true", no_list, wild_list));
	SAY(execv("/nowhere", no_list));
	SAY(execvp("", no_list));
	SAY(fexecve(-1, no_list, no_list));
	SAY(execveat(-1, wild, no_list, no_list, 0));
	SAY(posix_spawn(&pid, "/nowhere", NULL, NULL, no_list, no_list));
	SAY(system(NULL));
	SAY(popen("true", "no mode"));
}

/* A program with neither arguments nor environment, not even lists of them. */
static void bare(void)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		execve("/bin/true", null, null);
		_exit(9);
	}
	EXPECT(waitpid(pid, &status, 0) == pid);
	printf("bare: %d\n", status);
}

int main(void)
{
	int in;

	wild = (void *)(uintptr_t)strtoull("0x100000000010", NULL, 0);
	minus = atoi("-1");
	null = (void *)(uintptr_t)strtoull("0", NULL, 0);
	tally_make_file("in.dat", 4096);
	in = open("in.dat", O_RDONLY);
	EXPECT(in >= 0);
	paths();
	transfers(in);
	waits();
	maps(in);
	images();
	bare();
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A double fork, a session and a folder of its own, every descriptor closed: then it works. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

static char data[4096], result[4096];

static void work(void)
{
	struct tally_row *reads = tally_row("file_read", "in.dat");
	struct tally_row *writes = tally_row("file_write", "");
	struct tally_row *opens = tally_row("file_open", "");
	char block[64];
	int in, out;

	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	in = TALLY(opens, open(data, O_RDONLY));
	out = TALLY(opens, open(result, O_WRONLY | O_CREAT, 0644));
	EXPECT(in == 0 && out == 1);
	for (int i = 0; i < 5000; i++) {
		EXPECT(TALLY_BYTES(reads, pread(in, block, sizeof(block), i % 1000)) == 64);
		if (i % 10 == 0)
			EXPECT(TALLY_BYTES(writes, write(out, block, sizeof(block))) == 64);
	}
}

static void in_the_way(const char *name, char *ret_path)
{
	EXPECT(syscall(SYS_getcwd, ret_path, 4000) > 0);
	snprintf(ret_path + strlen(ret_path), 64, "/%s", name);
}

int main(void)
{
	int status;
	pid_t pid;

	tally_make_file("in.dat", 4096);
	in_the_way("in.dat", data);
	in_the_way("out.dat", result);
	/* the daemon's end is waited for, or nobody would know when to look */
	EXPECT(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
	if (fork() == 0) {
		EXPECT(setsid() >= 0);
		pid = fork();
		if (pid)
			_exit(0);
		EXPECT(chdir("/") == 0);
		umask(0);
		work();
		_exit(7);
	}
	for (int i = 0; i < 2; i++) {
		pid = wait(&status);
		EXPECT(pid > 0 && WIFEXITED(status));
		EXPECT(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 7);
	}
	puts("done");
	return 0;
}

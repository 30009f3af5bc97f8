/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/sampler/read_right.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scripts/sampler/other_memory.h"

#define YAMA_ALLOWS_CHILDREN 1

/* The number after a line's first bytes; -1: there is none. */
static int number_in(const char *path, const char *begin)
{
	FILE *file = fopen(path, "re");
	size_t bytes = strlen(begin);
	char line[256];
	int ret = -1;

	while (file && ret < 0 && fgets(line, sizeof(line), file))
		if (strncmp(line, begin, bytes) == 0)
			ret = atoi(line + bytes);
	if (file)
		fclose(file);
	return ret;
}

static int yama_scope(void)
{
	return number_in("/proc/sys/kernel/yama/ptrace_scope", "");
}

/* Returns 0 or as sp_other_read(). */
static int read_child(void)
{
	static const uint64_t word = 1;
	uint64_t copy;
	pid_t pid = fork();
	int r;

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	r = sp_other_read(pid, (uint64_t)(uintptr_t)&word, &copy, sizeof(copy));
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return r;
}

enum sp_read_right sp_read_right_find(void)
{
	int r = read_child();

	if (r == 0)
		return SP_READ_ALLOWED;
	if (yama_scope() > YAMA_ALLOWS_CHILDREN)
		return SP_READ_YAMA;
	if (number_in("/proc/self/status", "Seccomp:") > 0)
		return SP_READ_FILTERED;
	return r == -ENOSYS ? SP_READ_MISSING : SP_READ_REFUSED;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/launcher/jupyter/kernel_python.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scripts/launcher/program.h"

#define PATIENCE_S 30
#define ANSWER_BYTES (2 * PATH_MAX + 64)

static const char question[] = "import sys, importlib.util\n"
			       "found = importlib.util.find_spec('ipykernel') is not None\n"
			       "print(sys.executable, sys.prefix, sys.version_info[0], int(found), "
			       "sep='\\n')\n";

static void ask_in_child(const char *path, int out)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	unsetenv("LD_PRELOAD");
	dup2(null, 0);
	dup2(out, 1);
	dup2(null, 2);
	alarm(PATIENCE_S); /* exec keeps it */
	execl(path, path, "-c", question, (char *)NULL);
	_exit(127);
}

static size_t read_to_end(int fd, char *ret, size_t bytes)
{
	size_t n = 0;
	ssize_t got;

	while (n < bytes - 1 && ((got = read(fd, ret + n, bytes - 1 - n)) > 0 || errno == EINTR))
		if (got > 0)
			n += (size_t)got;
	ret[n] = '\0';
	return n;
}

/* Copies a line and returns the next one; NULL where the line is missing or too long. */
static const char *take_line(char *ret, size_t bytes, const char *text)
{
	size_t n = text ? strcspn(text, "\n") : 0;

	if (!n || text[n] != '\n' || n >= bytes)
		return NULL;
	memcpy(ret, text, n);
	ret[n] = '\0';
	return text + n + 1;
}

static int understand(struct sp_kernel_python *ret, const char *answer)
{
	char found[4];

	answer = take_line(ret->path, sizeof(ret->path), answer);
	answer = take_line(ret->prefix, sizeof(ret->prefix), answer);
	answer = take_line(ret->version, sizeof(ret->version), answer);
	if (!take_line(found, sizeof(found), answer) || ret->path[0] != '/')
		return -EINVAL;
	ret->has_ipykernel = strcmp(found, "1") == 0;
	return 0;
}

int sp_kernel_python_ask(struct sp_kernel_python *ret, const char *word)
{
	char path[PATH_MAX], answer[ANSWER_BYTES];
	int ends[2], status, r = sp_program_on_path(path, word);
	pid_t pid;

	if (r < 0)
		return r;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		ask_in_child(path, ends[1]);
	r = -errno;
	close(ends[1]);
	if (pid > 0) {
		read_to_end(ends[0], answer, sizeof(answer));
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		r = status == 0 ? understand(ret, answer) : -EINVAL;
	}
	close(ends[0]);
	return r;
}

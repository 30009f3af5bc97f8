/* SPDX-License-Identifier: Apache-2.0 */
/* A handler forks while calls are blocked:
 * the child comes back from calls that its parent began. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile pid_t child;
static int ends[2];

/* Timers are not inherited: a child made before the call blocked needs one of its own. */
static void forks(int signal)
{
	struct itimerval later = {{0, 50000}, {0, 50000}};

	(void)signal;
	if (child < 0)
		child = fork();
	if (child == 0)
		setitimer(ITIMER_REAL, &later, NULL);
}

static void in_read(void)
{
	char byte;

	if (read(ends[0], &byte, 1) >= 0)
		puts("read something");
}

static void in_poll(void)
{
	struct pollfd fd = {ends[0], POLLIN, 0};

	if (poll(&fd, 1, -1) >= 0)
		puts("saw something");
}

int main(void)
{
	void (*const calls[])(void) = {in_read, in_poll};
	struct sigaction action = {.sa_handler = forks}; /* no SA_RESTART */
	int status;

	if (pipe(ends) < 0 || sigaction(SIGALRM, &action, NULL) < 0)
		return 2;
	for (int i = 0; i < 2; i++) {
		/* again and again: the first may come before the call blocks; it forks once */
		struct itimerval later = {{0, 50000}, {0, 50000}}, never = {{0, 0}, {0, 0}};

		child = -1;
		setitimer(ITIMER_REAL, &later, NULL);
		calls[i]();
		setitimer(ITIMER_REAL, &never, NULL);
		if (child == 0) {
			struct pollfd fd = {ends[0], POLLIN, 0};

			_exit(poll(&fd, 1, 20) == 0 ? 7 : 8);
		}
		if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
			return 3;
		printf("child %d\n", WEXITSTATUS(status));
		fflush(stdout);
	}
	return 0;
}

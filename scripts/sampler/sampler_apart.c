/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/sampler/sampler_apart.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/settings/config.h"
#include "preload/settings/run_identity.h"
#include "scripts/sampler/sampler.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434 /* Linux 5.3 */
#endif

#define LOOK_NS 50000000 /* at whether the process lives, on older kernels */

/* Runs in the sampler's thread alone. */
static bool has_directory(void *unused)
{
	(void)unused;
	return sp_run_find() == 0;
}

/* Signals of the job's end come to all of its processes: the sampler ends with the run. */
static void refuse_signals(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
}

static void wait_for_end(pid_t root)
{
	const struct timespec pause = {0, LOOK_NS};
	struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, root, 0), .events = POLLIN};

	if (end.fd < 0) {
		while (kill(root, 0) == 0)
			nanosleep(&pause, NULL);
		return;
	}
	while (poll(&end, 1, -1) < 0 && errno == EINTR)
		;
	close(end.fd);
}

int sp_sampler_apart(int argc, char **argv)
{
	struct sp_sampler sampler = {.is_ready = has_directory, .is_apart = true};
	pid_t root = argc == 3 ? (pid_t)strtol(argv[1], NULL, 10) : 0;

	if (root <= 0 || chdir("/") < 0)
		return EXIT_FAILURE;
	refuse_signals();
	sp_sampler_ask(&sampler, argv[2]);
	sp_config_read(environ);
	if (!sp_config.run || sp_run_init() < 0 || sp_sampler_start(&sampler, root) < 0)
		return EXIT_FAILURE;
	wait_for_end(root);
	sp_sampler_stop(&sampler);
	return EXIT_SUCCESS;
}

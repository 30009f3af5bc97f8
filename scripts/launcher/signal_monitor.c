/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/launcher/signal_monitor.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SIGNALS 65
#define PATIENCE_MS 20
#define DESCRIPTORS_MAX                                                                            \
	(1u << 20) /* the limit of one process, where nobody raised the kernel's                   \
		    */

/* Linux before 5.9 has no close_range. */
static void descriptors_close(void)
{
	struct rlimit limit;

	if (close_range(0, ~0u, 0) == 0 || getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	for (rlim_t fd = 0; fd < limit.rlim_cur && fd < DESCRIPTORS_MAX; fd++)
		close((int)fd);
}

__attribute__((noreturn)) static void count_signals(volatile uint32_t *counts, pid_t parent)
{
	sigset_t all;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The helper would keep the caller's pipes open if this process were killed first. */
	descriptors_close();
	sigfillset(&all);
	while (getppid() == parent) {
		int signal = sigwaitinfo(&all, NULL);

		if (signal > 0)
			counts[signal]++;
	}
	_exit(0);
}

void sp_signal_monitor_start(struct sp_signal_monitor *monitor)
{
	pid_t parent = getpid();

	*monitor = (struct sp_signal_monitor){.pid = -1};
	monitor->counts = mmap(NULL, SIGNALS * sizeof(uint32_t), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (monitor->counts == MAP_FAILED)
		return;
	monitor->pid = fork();
	if (monitor->pid == 0)
		count_signals(monitor->counts, parent);
}

void sp_signal_monitor_end(struct sp_signal_monitor *monitor)
{
	if (monitor->pid <= 0)
		return;
	kill(monitor->pid, SIGKILL);
	waitpid(monitor->pid, NULL, 0);
	monitor->pid = -1;
}

bool sp_signal_monitor_received(struct sp_signal_monitor *monitor, int signal)
{
	static const struct timespec ms = {.tv_nsec = 1000000};

	for (int i = 0; monitor->pid > 0 && i < PATIENCE_MS; i++) {
		uint32_t count = monitor->counts[signal];

		if (count != monitor->seen[signal]) {
			monitor->seen[signal] = count;
			return true;
		}
		nanosleep(&ms, NULL);
	}
	return false;
}

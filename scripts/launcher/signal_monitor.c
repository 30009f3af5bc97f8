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
#define ECHO 0			   /* no signal has this number: the last value that came back */
#define PATIENCE_MS 20		   /* for a signal that the kernel still gives to the group */
#define PATIENCE_HELPER_MS 5000	   /* for the helper, which may wait for a core */
#define DESCRIPTORS_MAX (1u << 20) /* of one process, where nobody raised the kernel's limit */

/* Linux before 5.9 has no close_range. */
static void descriptors_close(void)
{
	struct rlimit limit;

	if (close_range(0, ~0u, 0) == 0 || getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	for (rlim_t fd = 0; fd < limit.rlim_cur && fd < DESCRIPTORS_MAX; fd++)
		close((int)fd);
}

__attribute__((noreturn)) static void count_signals(uint32_t *counts, pid_t parent)
{
	sigset_t all;
	siginfo_t info;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The helper would keep the caller's pipes open if this process were killed first. */
	descriptors_close();
	sigfillset(&all);
	while (getppid() == parent) {
		int signal = sigwaitinfo(&all, &info);

		if (signal == SIGRTMAX && info.si_code == SI_QUEUE && info.si_pid == parent)
			__atomic_store_n(&counts[ECHO], (uint32_t)info.si_value.sival_int,
					 __ATOMIC_RELEASE);
		else if (signal > 0)
			__atomic_add_fetch(&counts[signal], 1, __ATOMIC_RELEASE);
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

static void sleep_ms(void)
{
	static const struct timespec ms = {.tv_nsec = 1000000};

	nanosleep(&ms, NULL);
}

static uint32_t count_of(const struct sp_signal_monitor *monitor, int signal)
{
	return __atomic_load_n(&monitor->counts[signal], __ATOMIC_ACQUIRE);
}

/* A process takes the signal with the lowest number first, so what the helper had when SIGRTMAX
 * came is counted when its value comes back. */
static void wait_for_helper(struct sp_signal_monitor *monitor)
{
	union sigval value = {.sival_int = (int)++monitor->asked};

	if (sigqueue(monitor->pid, SIGRTMAX, value) < 0)
		return;
	for (int i = 0; i < PATIENCE_HELPER_MS && count_of(monitor, ECHO) != monitor->asked; i++)
		sleep_ms();
}

bool sp_signal_monitor_received(struct sp_signal_monitor *monitor, int signal)
{
	if (monitor->pid <= 0)
		return false;
	wait_for_helper(monitor);
	for (int i = 0; i < PATIENCE_MS; i++) {
		uint32_t count = count_of(monitor, signal);

		if (count != monitor->seen[signal]) {
			monitor->seen[signal] = count;
			return true;
		}
		sleep_ms();
	}
	return false;
}

#include "scripts/launcher/witness.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SIGNALS 65
#define PATIENCE_MS 20

__attribute__((noreturn)) static void look_on(volatile uint32_t *counts, pid_t parent)
{
	sigset_t all;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* It would keep the caller's pipes open otherwise, if we were killed and it not yet. */
	close_range(0, ~0u, 0);
	sigfillset(&all);
	while (getppid() == parent) {
		int signal = sigwaitinfo(&all, NULL);

		if (signal > 0)
			counts[signal]++;
	}
	_exit(0);
}

void sp_witness_start(struct sp_witness *witness)
{
	pid_t parent = getpid();

	*witness = (struct sp_witness){.pid = -1};
	witness->counts = mmap(NULL, SIGNALS * sizeof(uint32_t), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (witness->counts == MAP_FAILED)
		return;
	witness->pid = fork();
	if (witness->pid == 0)
		look_on(witness->counts, parent);
}

void sp_witness_end(struct sp_witness *witness)
{
	if (witness->pid <= 0)
		return;
	kill(witness->pid, SIGKILL);
	waitpid(witness->pid, NULL, 0);
	witness->pid = -1;
}

bool sp_witness_saw(struct sp_witness *witness, int signal)
{
	static const struct timespec ms = {.tv_nsec = 1000000};

	for (int i = 0; witness->pid > 0 && i < PATIENCE_MS; i++) {
		uint32_t count = witness->counts[signal];

		if (count != witness->seen[signal]) {
			witness->seen[signal] = count;
			return true;
		}
		nanosleep(&ms, NULL);
	}
	return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/launcher/child.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scripts/launcher/signal_monitor.h"

struct child_run {
	struct sp_child *child;
	const struct sp_child_beside *beside;
	int *exec_error; /* shared with the child */
	pid_t parent;
	sigset_t mask;		   /* the signal mask as we found it */
	struct sigaction on_child; /* the action of SIGCHLD as we found it */
	struct sp_signal_monitor monitor;
};

static void restore_signals(const struct child_run *l)
{
	sigaction(SIGCHLD, &l->on_child, NULL);
	sigprocmask(SIG_SETMASK, &l->mask, NULL);
}

static void restore_and_exec(const struct child_run *l, char *const *argv)
{
	/* The command must not outlive stageprof: kill it, as if it had been killed itself. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != l->parent)
		_exit(128 + SIGKILL);
	restore_signals(l);
	execvp(argv[0], argv);
	*l->exec_error = errno;
	_exit(127);
}

static void unblock(int signal)
{
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, signal);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
}

/* Stops like the command, so that the waiting shell sees the stop. The terminal's own signal may
 * be pending for us, too: raised before unblocking, the two become one. */
static void stop_like(int signal)
{
	sigset_t all;

	raise(signal);
	unblock(signal);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
}

/* True once the child has ended. As process 1 we inherit orphans and reap them here. */
static bool reap(struct child_run *l)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (pid == l->monitor.pid && !WIFSTOPPED(status))
			l->monitor.pid = -1; /* its number may be another program's from here on */
		if (pid != l->child->pid) {
			l->beside->reaped(l->beside->data, pid, status);
			continue;
		}
		if (!WIFSTOPPED(status)) {
			l->child->status = status;
			return true;
		}
		stop_like(WSTOPSIG(status));
	}
	return false;
}

/* A terminal's signal goes to the whole group, so the child has it already; a signal to the group
 * does too. The child does not mean a signal that it sends to the launcher for itself. */
static void forward(struct child_run *l, const siginfo_t *info)
{
	if (info->si_pid == l->child->pid && info->si_code != SI_KERNEL)
		return;
	l->beside->signaled(l->beside->data);
	if (info->si_code == SI_KERNEL)
		return;
	if (sp_signal_monitor_received(&l->monitor, info->si_signo))
		return;
	if (info->si_code == SI_QUEUE)
		sigqueue(l->child->pid, info->si_signo, info->si_value);
	else
		kill(l->child->pid, info->si_signo);
}

static void watch(struct child_run *l)
{
	sigset_t all;
	siginfo_t info;

	sigfillset(&all);
	for (;;) {
		if (sigwaitinfo(&all, &info) < 0)
			continue;
		if (info.si_signo != SIGCHLD)
			forward(l, &info);
		else if (reap(l))
			return;
	}
}

int sp_child_run(struct sp_child *ret, char *const *argv, const struct sp_child_beside *beside)
{
	struct child_run l = {.child = ret, .beside = beside, .parent = getpid()};
	struct sigaction by_default = {.sa_handler = SIG_DFL};
	sigset_t all;

	*ret = (struct sp_child){0};
	l.exec_error =
		mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (l.exec_error == MAP_FAILED)
		return -ENOMEM;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &l.mask);
	/* An ignored SIGCHLD, as after nohup of some shells, would discard the children's
	 * statuses. */
	sigaction(SIGCHLD, &by_default, &l.on_child);
	sp_signal_monitor_start(&l.monitor);
	ret->pid = fork();
	if (ret->pid < 0) {
		int error = -errno;

		sp_signal_monitor_end(&l.monitor);
		restore_signals(&l);
		return error;
	}
	if (ret->pid == 0) {
		beside->prepare(beside->data);
		restore_and_exec(&l, argv);
	}
	beside->begun(beside->data, ret->pid);
	watch(&l);
	beside->ended(beside->data);
	sp_signal_monitor_end(&l.monitor);
	ret->exec_error = *l.exec_error;
	munmap(l.exec_error, sizeof(int));
	return 0;
}

void sp_child_end_like(const struct sp_child *child)
{
	static const struct rlimit none = {0, 0};
	struct sigaction by_default = {.sa_handler = SIG_DFL};
	int signal;

	if (WIFEXITED(child->status))
		exit(WEXITSTATUS(child->status));
	signal = WTERMSIG(child->status);
	/* The core file is the child's: ours must not replace it. */
	setrlimit(RLIMIT_CORE, &none);
	sigaction(signal, &by_default, NULL);
	unblock(signal);
	raise(signal);
	_exit(128 + signal); /* process 1 does not die of a signal */
}

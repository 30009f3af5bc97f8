#include "scripts/launcher/child.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scripts/launcher/witness.h"

struct launch {
	struct sp_child *child;
	int *exec_error; /* shared with the child */
	pid_t parent;
	sigset_t mask;		   /* as we found it */
	struct sigaction on_child; /* likewise, of SIGCHLD */
	struct sp_witness witness;
};

static void restore_and_exec(const struct launch *l, char *const *argv)
{
	/* Without us nobody would know that it still runs: as if the command itself were killed. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != l->parent)
		_exit(128 + SIGKILL);
	sigaction(SIGCHLD, &l->on_child, NULL);
	sigprocmask(SIG_SETMASK, &l->mask, NULL);
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

/* The shell that waits for us sees what it would see of the command. The terminal's own signal may
 * wait for us as well: raised before it is unblocked, the two are one. */
static void stop_like(int signal)
{
	sigset_t all;

	raise(signal);
	unblock(signal);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
}

/* True once the child has ended. A process 1 inherits orphans, and reaps them here. */
static bool reap(struct launch *l)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (pid != l->child->pid)
			continue;
		if (!WIFSTOPPED(status)) {
			l->child->status = status;
			return true;
		}
		stop_like(WSTOPSIG(status));
	}
	return false;
}

/* What a terminal sends goes to the whole group, and the child has it already; so it is where
 * somebody signals the group. What the child sends us is not for itself. */
static void forward(struct launch *l, const siginfo_t *info)
{
	if (info->si_code == SI_KERNEL || info->si_pid == l->child->pid)
		return;
	if (sp_witness_saw(&l->witness, info->si_signo))
		return;
	if (info->si_code == SI_QUEUE)
		sigqueue(l->child->pid, info->si_signo, info->si_value);
	else
		kill(l->child->pid, info->si_signo);
}

static void watch(struct launch *l)
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

int sp_child_run(struct sp_child *ret, char *const *argv, void (*prepare)(void *), void *data)
{
	struct launch l = {.child = ret, .parent = getpid()};
	struct sigaction by_default = {.sa_handler = SIG_DFL};
	sigset_t all;

	*ret = (struct sp_child){0};
	l.exec_error =
		mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (l.exec_error == MAP_FAILED)
		return -ENOMEM;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &l.mask);
	/* One that is ignored, as after nohup of some shells, would let children vanish unwaited
	 * for. */
	sigaction(SIGCHLD, &by_default, &l.on_child);
	sp_witness_start(&l.witness);
	ret->pid = fork();
	if (ret->pid < 0) {
		int error = -errno;

		sp_witness_end(&l.witness);
		return error;
	}
	if (ret->pid == 0) {
		prepare(data);
		restore_and_exec(&l, argv);
	}
	watch(&l);
	sp_witness_end(&l.witness);
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
	/* The core is the child's: ours must not take its name. */
	setrlimit(RLIMIT_CORE, &none);
	sigaction(signal, &by_default, NULL);
	unblock(signal);
	raise(signal);
	_exit(128 + signal); /* process 1 does not die of it */
}

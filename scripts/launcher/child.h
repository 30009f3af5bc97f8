/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child that stands for this program: it has our signals, our terminal and our process group,
 * gets the signals that are sent to us, and we stop, continue and end when it does.
 */
#ifndef STAGEPROF_LAUNCHER_CHILD_H
#define STAGEPROF_LAUNCHER_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct sp_child {
	pid_t pid;
	int exec_error; /* errno of execvp, 0 where the command runs */
	int status;	/* as of waitpid */
};

/* Calls beside a child's run. All get `data`. */
struct sp_child_beside {
	/* In the child before exec: may change its environment; the caller can read data that it
	 * writes to shared memory. */
	void (*prepare)(void *data);
	/* In the caller, with all signals blocked:
	 * when the child is there, and when it has ended. */
	void (*begun)(void *data, pid_t pid);
	void (*ended)(void *data);
	/* In the caller, before a signal goes on to the child: the child may end now. */
	void (*signaled)(void *data);
	/* In the caller: another child has stopped or ended. */
	void (*reaped)(void *data, pid_t pid, int status);
	void *data;
};

/*
 * Runs argv to its end. This call blocks our signals for ever. Returns 0, or -errno where no child
 * could be created. One at a time.
 */
int sp_child_run(struct sp_child *ret, char *const *argv, const struct sp_child_beside *beside);

/* Ends this process as the child ended: with its exit status, or by its signal. */
__attribute__((noreturn)) void sp_child_end_like(const struct sp_child *child);

#endif

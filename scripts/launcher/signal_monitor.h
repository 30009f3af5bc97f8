/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distinguishes signals to the whole process group from signals to this process. A command that got
 * a signal with the group must not get it from us again: a second SIGTERM means "now" to many
 * trainers. siginfo does not say how a signal was sent, so a helper process in the group counts the
 * signals that it receives. Where no helper can be started, every signal counts as sent to this
 * process.
 */
#ifndef STAGEPROF_LAUNCHER_SIGNAL_MONITOR_H
#define STAGEPROF_LAUNCHER_SIGNAL_MONITOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct sp_signal_monitor {
	pid_t pid;	  /* -1: none */
	uint32_t *counts; /* by signal number, shared with the helper: the number of signals
			     received; written and read atomically */
	uint32_t seen[65];
	uint32_t asked; /* how often the helper was asked whether it is up to date */
};

/* The caller has blocked signals. The helper ends with this process. */
void sp_signal_monitor_start(struct sp_signal_monitor *monitor);
void sp_signal_monitor_end(struct sp_signal_monitor *monitor);

/* True where the monitor got the signal as well. Waits until the helper has counted what it got, at
 * most 5 s where it gets no core, and then up to 20 ms. */
bool sp_signal_monitor_received(struct sp_signal_monitor *monitor, int signal);

#endif

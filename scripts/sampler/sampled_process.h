/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of a run: a command and its descendants, and their threads that run Python.
 */
#ifndef STAGEPROF_SAMPLER_SAMPLED_PROCESS_H
#define STAGEPROF_SAMPLER_SAMPLED_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "scripts/sampler/python_find.h"
#include "trace/format.h"

struct sp_sampled_thread {
	uint64_t key; /* as the thread's state has it */
	pid_t tid;
	int usage_fd, state_fd;		/* of its schedstat and its stat; -1: not known */
	uint64_t cpu_ns, turns;		/* at its last sample */
	uint64_t last_ticks;		/* 0: no sample yet */
	struct sp_python_sample sample; /* samples: 0: none */
	bool is_seen;
};

enum sp_sampled_state {
	SP_SAMPLED_NEW, /* CPython was not found yet */
	SP_SAMPLED_FOUND,
	SP_SAMPLED_NEVER, /* it may not be read, or its CPython is not known */
};

struct sp_sampled_process {
	pid_t pid, parent;
	enum sp_sampled_state state;
	uint32_t tries, wait; /* searches so far; looks to pass over before the next one */
	uint32_t misses; /* times in turn that no thread was found: exec may have been called */
	struct sp_sampled_python python;
	struct sp_sampled_thread *threads;
	uint32_t thread_count, thread_room;
};

struct sp_sampled_processes {
	struct sp_sampled_process *list;
	uint32_t count, room;
	uint64_t refused, foreign; /* processes of SP_SAMPLED_NEVER, by reason */
};

/* Adds descendants of `root` and looks for CPython where none was found. */
void sp_sampled_processes_look(struct sp_sampled_processes *processes, pid_t root);

/* The process has ended. */
void sp_sampled_process_remove(struct sp_sampled_processes *processes, uint32_t i);

/* The thread of a state; NULL: no memory, or there is no such thread. */
struct sp_sampled_thread *sp_sampled_thread_of(struct sp_sampled_process *process, uint64_t key);

void sp_sampled_thread_remove(struct sp_sampled_process *process, uint32_t i);

/* CPU time of the thread, and the times that it was given a processor. Returns false where they are
 * not known. */
bool sp_sampled_thread_usage(const struct sp_sampled_thread *thread, uint64_t *ret_cpu_ns,
			     uint64_t *ret_turns);

/* 'R', 'S', …; 0: not known. */
char sp_sampled_thread_state(const struct sp_sampled_thread *thread);

void sp_sampled_processes_finish(struct sp_sampled_processes *processes);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of a run: a command and its descendants, and their threads that run Python.
 */
#ifndef STAGEPROF_SAMPLER_SAMPLED_PROCESS_H
#define STAGEPROF_SAMPLER_SAMPLED_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "scripts/sampler/library_map.h"
#include "scripts/sampler/native_leaf.h"
#include "scripts/sampler/python_find.h"
#include "scripts/sampler/python_names.h"
#include "scripts/sampler/python_walk.h"
#include "trace/format.h"

struct sp_sampled_thread {
	uint64_t state; /* address of its PyThreadState */
	uint64_t key;	/* as that has it */
	pid_t tid;
	uint32_t interpreter;		     /* newer ones have smaller numbers */
	int usage_fd, state_fd, children_fd; /* schedstat, syscall, children; -1: none */
	uint64_t cpu_ns, turns;		     /* at its last sample, if has_usage */
	uint64_t last_ticks;		     /* 0: no sample yet */
	struct sp_python_sample sample;	     /* samples: 0: none */
	struct sp_walk_guess guess;
	struct sp_named_stack last;
	struct sp_native_leaf leaf; /* of `sample`, where that found it running */
	uint32_t idle_looks;	    /* in turn */
	uint64_t look;		    /* number of the last one */
	bool has_usage;
	/* These fields belong to the look at hand. */
	bool is_due; /* its stack is to be read */
	bool is_seen;
	bool has_run; /* since the last look for children */
	bool is_read;
	bool was_chance; /* it was looked at by chance: its sample stands for several looks */
	bool has_usage_now;
	uint64_t cpu_now, turns_now;
	char state_now;
};

#define SP_SAMPLED_HEADS_MAX 32u

enum sp_sampled_state {
	SP_SAMPLED_NEW, /* CPython was not found yet */
	SP_SAMPLED_FOUND,
	SP_SAMPLED_NEVER, /* it may not be read, or its CPython is not known */
};

struct sp_sampled_process {
	pid_t pid, parent;
	enum sp_sampled_state state;
	uint32_t tries, wait; /* searches so far; looks to pass over before the next one */
	uint32_t misses;   /* times in turn that no thread was found: exec may have been called */
	uint32_t looks;	   /* for children */
	clockid_t clock;   /* of its processor time */
	uint64_t clock_ns; /* at the last chance */
	bool is_idle;	   /* all its threads are looked at by chance */
	bool has_chance;   /* in the look at hand */
	struct sp_sampled_python python;
	struct sp_library_map libraries;
	struct sp_sampled_thread *threads;
	uint32_t thread_count, thread_room;
	/* Words of its memory that change where an interpreter or a thread begins. */
	struct sp_sampled_head {
		uint64_t at, value;
	} heads[SP_SAMPLED_HEADS_MAX];
	uint32_t head_count;
	bool has_unbound;	/* a state without a thread is in the list */
	uint32_t unbound_lists; /* in turn */
	bool is_stale;		/* its threads are to be listed again */
};

struct sp_sampled_processes {
	struct sp_sampled_process *list;
	uint32_t count, room;
	uint64_t refused, foreign; /* processes of SP_SAMPLED_NEVER, by reason */
	bool is_apart;		   /* as in struct sp_sampler */
};

/* Adds descendants of `root` and looks for CPython where none was found. */
void sp_sampled_processes_look(struct sp_sampled_processes *processes, pid_t root);

/* Lists the threads of all interpreters. Threads that are no longer there are not seen. Returns
 * their number, or -EAGAIN where the list changed meanwhile. */
int sp_sampled_process_list(struct sp_sampled_process *process);

void sp_sampled_thread_remove(struct sp_sampled_process *process, uint32_t i);

/* CPU time of the thread, and the times that it was given a processor. Returns 0, -ESRCH where the
 * thread has ended, or -ENODATA where they are not known. */
int sp_sampled_thread_usage(const struct sp_sampled_thread *thread, uint64_t *ret_cpu_ns,
			    uint64_t *ret_turns);

/* *ret: 'R', 'S' or 'D'; 0: not known. Returns 0, or -ESRCH where the thread has ended. */
int sp_sampled_thread_state(const struct sp_sampled_thread *thread, char *ret);

void sp_sampled_processes_finish(struct sp_sampled_processes *processes);

#endif

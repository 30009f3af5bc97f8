/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state that the threads of a process image share. It lies in memory that fork wipes, so that a
 * child begins as an image of its own even if no hook saw the fork.
 */
#ifndef STAGEPROF_PRELOAD_PROCESS_H
#define STAGEPROF_PRELOAD_PROCESS_H

#include <stdint.h>

#include "preload/files/arena.h"
#include "preload/files/spare_files.h"
#include "preload/blocks/thread_slots.h"
#include "preload/sys/hidden.h"
#include "trace/format.h"

#define SP_FD_NEAR 1024u /* descriptors whose entries need no second table */
#define SP_FD_FAR_TABLES 4096u
#define SP_UNOBSERVED_MAX 8u /* names of an image; the last entry stands for all other names */
#define SP_STRINGS_INTERNED 16384u /* entries; a power of two */

struct sp_interned {
	uint64_t hash; /* 0: free */
	uint32_t id;   /* 0: being written */
	uint32_t reserved;
};

/* A program that was started without this library (preload/recorder/unobserved_exec.h). */
struct sp_unobserved_exec {
	uint32_t state; /* of unobserved_exec.c; 0: free */
	char name[28];	/* cut where it is longer */
};

struct sp_unobserved_execs {
	uint32_t has_unreported;
	struct sp_unobserved_exec of[SP_UNOBSERVED_MAX];
};

enum sp_process_state {
	SP_PROCESS_NEW = 0, /* before the first event, and in a forked child */
	SP_PROCESS_BEGINNING,
	SP_PROCESS_RECORDING,
	SP_PROCESS_FAILED, /* no run directory: calls pass through unrecorded */
};

/* Fork wipes this struct. The far tables stay mapped in a child, but nothing points to them. */
struct sp_process {
	uint32_t state; /* enum sp_process_state */
	uint32_t pid;
	uint64_t image_start_ns;
	uint64_t parent_start_ns;
	uint32_t flags; /* enum sp_header_flags */
	uint32_t file_ids, name_ids;
	uint64_t off_ticks; /* when a call came while recording was off and there was no file; 0:
			       none */
	uint64_t lost;	    /* by threads without a file */
	uint64_t own_ns;    /* spent on blocks and files */
	uint32_t unseen_reported; /* bits of syscall_stub.c: kinds of unseen reads that were
				     reported */
	uint32_t cpus_are_defined;
	uint64_t first_rusage_ticks, last_rusage_ticks; /* sp_rusage_define_step(); 0: none yet */
	uint64_t batches;				/* that the process made */
	uint64_t first_batch_ticks, next_memory_ticks;	/* sp_batch_facts() */
	struct sp_file_header *header_page;
	int is_written; /* files of this run are not mapped */
	struct sp_spare_files spares;
	struct sp_arena_pool arenas; /* its first arena is in the page of the fields above */
	uint32_t fd_near[SP_FD_NEAR];
	uint32_t *fd_far[SP_FD_FAR_TABLES];
	struct sp_interned interned[SP_STRINGS_INTERNED];
	struct sp_unobserved_execs unobserved;
};

/* NULL if the process does not record (dormant by the table, switched off, setuid). */
extern struct sp_process *sp_process SP_HIDDEN;

/* Entries of descriptors [0, SP_FD_NEAR): ids of files (preload/recorder/fd_table.h). */
extern uint32_t *sp_fd_near_table SP_HIDDEN;

/* Constructor: memory for the image. Returns 0, or -ENOMEM. */
int sp_process_make(void);

/* Counts events that were lost by a thread without a file. */
void sp_process_lose(uint64_t events);

/* Counts the time for which a hooked call waited for a block or a file. Any thread, any handler. */
void sp_process_spend(uint64_t ns);

/* Stores the exit status of the process, which is about to end, in its trace. */
void sp_process_ending(int status);

/* A signal that arrived while the thread waited for a vfork child has its handler called before
 * vfork returns: in the parent, whose calls count. One system call. */
int sp_is_vfork_parent(void);

static inline int sp_is_suppressed(void)
{
	return sp_tls.suppress_depth && !sp_is_vfork_parent();
}

/* Returns the id of an interned `hash`. Returns 0 if the hash is new: *ret_entry is then the entry
 * to fill, or NULL if the table is full. */
uint32_t sp_process_intern(uint64_t hash, struct sp_interned **ret_entry);

#endif

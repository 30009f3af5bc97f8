/*
 * The process image: whether it records, who it is, and what its threads share. The shared part lies in
 * memory that fork wipes, so that a child begins as an image of its own without being told.
 */
#ifndef STAGEPROF_PRELOAD_PROCESS_H
#define STAGEPROF_PRELOAD_PROCESS_H

#include <stdint.h>

#include "preload/stray.h"
#include "trace/format.h"

#define SP_NAMES_INTERNED 16384u /* entries; a power of two */

struct sp_interned {
	uint64_t hash; /* 0: free */
	uint32_t id;   /* 0: being written */
	uint32_t reserved;
};

enum sp_process_state {
	SP_PROCESS_NEW = 0, /* before the first event, and in a forked child */
	SP_PROCESS_BEGINNING,
	SP_PROCESS_RECORDING,
	SP_PROCESS_FAILED, /* no run directory: calls pass, losses are counted in vain */
};

/* Wiped by fork, but for what the far tables point to: the pointers are. */
struct sp_process {
	uint32_t state; /* enum sp_process_state */
	uint32_t pid;
	uint64_t image_start_ns;
	uint64_t parent_start_ns;
	uint32_t flags; /* enum sp_header_flags */
	uint32_t file_ids, name_ids;
	uint64_t off_ticks; /* a call that came while recording was off, before there was a file; 0: none */
	uint64_t lost;	    /* by threads without a file */
	uint64_t own_ns; /* spent on blocks and files */
	uint32_t unseen_told; /* bits of syscall_stub.c: told that it reads where no hook sees it */
	uint64_t first_usage_ticks, last_usage_ticks; /* sp_usage_define_step(); 0: none yet */
	struct sp_file_header *header_page;
	uint32_t files_near[1024];
	uint32_t *files_far[4096];
	struct sp_interned interned[SP_NAMES_INTERNED];
	struct sp_strays strays;
};

/* NULL in a process that does not record (dormant by the table, switched off, setuid). */
extern struct sp_process *sp_process __attribute__((visibility("hidden")));

/* Constructor. Decides; a recording process gets its memory. Returns 1 where it records. */
int sp_process_init(void);

/* STAGEPROF_COMMAND=1: the arguments, of which main's own strings are kept, go into the trace. */
void sp_process_keep_arguments(int argc, char **argv);

/* Writes them as a definition into the stream of the image's first thread. */
struct sp_thread;
void sp_process_define_command(struct sp_thread *t);

/* Whether STAGEPROF_CHILDREN says that a program of this name records, dormant or not. */
int sp_process_wants(const char *exe);

/* First event of an image; signals blocked. Returns 0 where its threads may make files. */
int sp_process_begin(void);

/* In a forked child, by the fork hook: the instant the image began. Optional. */
void sp_process_forked(void);

/* From now on the recorder makes no system call at all, for the host has begun to forbid them: no file is
 * made or grown, no descriptor met, no line said. Forked children inherit it. */
void sp_process_freeze(void);
int sp_process_is_frozen(void);

/* One event of a thread that has no file. */
void sp_process_lose(uint64_t events);

/* A hooked call waited so long while a block or a file was made. Any thread, any handler. */
void sp_process_spend(uint64_t ns);

/* Fills what the header says of the image: not the thread's part. */
void sp_process_describe(struct sp_file_header *header);

/* The id under which `hash` was interned, or 0 with *ret_entry the place to put one, NULL if full. */
uint32_t sp_process_intern(uint64_t hash, struct sp_interned **ret_entry);

#endif

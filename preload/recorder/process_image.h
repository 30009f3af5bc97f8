/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process image: the decision to record, its identity, its begin and its end.
 */
#ifndef STAGEPROF_PRELOAD_PROCESS_IMAGE_H
#define STAGEPROF_PRELOAD_PROCESS_IMAGE_H

#include "preload/files/run_file.h"
#include "preload/blocks/thread_slots.h"

/* Constructor: decides whether the process records and gives it memory. Returns 1 if it records. */
int sp_process_init(void);

/* The same for the sampler, which is no process of the job: its files have SP_HEADER_SAMPLER.
 * sp_run names the run. */
int sp_process_init_sampler(void);

/* With STAGEPROF_COMMAND=1 the trace holds the arguments.
 * Only pointers to main's strings are kept. */
void sp_process_keep_arguments(int argc, char **argv);

/* Defines the arguments, and that the library came late,
 * in the stream of the image's first thread. */
void sp_process_define(struct sp_thread *t);

/* Returns 1 if STAGEPROF_CHILDREN makes a program of this name record even if it is dormant. */
int sp_process_wants(const char *exe);

/* First event of an image; signals are blocked. Returns 0 if its threads may make files. */
int sp_process_begin(void);

/* The fork hook calls this in a forked child: the image began now. Optional. */
void sp_process_forked(void);

/* Call before the process ends or becomes another image; it may go on all the same. */
void sp_process_end(void);

struct sp_run_directory sp_process_run_directory(void);

/* Fills the fields of the header that describe the image, not those of the thread. */
void sp_process_describe(struct sp_file_header *header);

#endif

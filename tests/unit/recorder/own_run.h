/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run of the recorder inside of a test: its begin and end, events, and what its files hold.
 *
 * check runs each test in a process of its own, so each has a run of its own.
 */
#ifndef STAGEPROF_TESTS_RECORDER_OWN_RUN_H
#define STAGEPROF_TESTS_RECORDER_OWN_RUN_H

#include "tests/unit/recorder/slots.h"

extern char run_folder[64]; /* of this test, which the run is in */

/* Begins a run in a new folder. mode: "map" or "write". */
void run_begin(const char *mode);

/* Removes the folder, once no process puts files into it. */
void run_remove(void);

/* A second run in one process is what no program has: the tests' children need it. */
void run_forget(void);

/* All files of the run, read strictly; each and argument as in slots_read_directory(). */
struct slots_count run_read(slots_definition *each, void *argument);

/* Fails the test where zstd refuses a file of the run. */
void zstd_accepts(void);

/* Emits a read of this value. Returns 0 where the recorder refused it. */
int emit(int64_t value);

/* Emits the values from 0 to n - 1; aborts where one is refused. */
void emit_many(int64_t n);

/* The same in each of so many new threads, which end. */
void emit_in_threads(unsigned threads, int64_t n);

/* 300 events, and the thread's end. */
void emit_and_finish(void);

/* Does the work in a forked child, which then exits, or is killed. */
void in_child(void (*work)(void), int killed);

#endif

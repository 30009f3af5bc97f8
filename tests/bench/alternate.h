/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With and without the library in one process: chunks of a hooked call in turn with chunks of the
 * same call through its own library's address, which nobody has interposed. Two processes differ in
 * where their memory lies, and a machine's pace drifts from one to the next; two chunks a
 * millisecond apart share both. The recorder's other work (blocks, compression, growth of the file)
 * falls into the hooked chunks.
 */
#ifndef STAGEPROF_TESTS_BENCH_ALTERNATE_H
#define STAGEPROF_TESTS_BENCH_ALTERNATE_H

#include <stdint.h>

struct bench_alternate {
	void *(*state)(void); /* of each thread, made by itself */
	void (*chunk)(void *state, int hooked);
	uint64_t chunk_calls;
	unsigned threads; /* 1: the first thread alone, in a process without others */
	unsigned chunks;  /* of each sort in a pair */
	unsigned pairs;
};

/*
 * Prints {"calls", "bare": {"wall_ns": [...], "cpu_ns": [...]}, "hooked": {...}}: calls are those
 * of all threads in one pair, of one sort; a number for each pair. The order of the sorts changes
 * from chunk to chunk. With several threads a chunk lasts until the last of them is through.
 */
void bench_alternate(const struct bench_alternate *a);

/* The function `name` as its own library defines it: that which also defines `beside`, a name that
 * is not hooked. */
void *bench_own(const char *beside, const char *name);

#endif

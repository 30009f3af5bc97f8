/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree of ranges over all threads: a node for each path of names.
 *
 * A thread's ranges come in the order in which they ended, so the ranges inside a range come first
 * and wait for it. Memory is bounded. Beyond RANGES_WAITING_MAX, the older half of the waiting
 * ranges counts as outermost. Beyond RANGES_SIBLINGS_MAX names in one range, the rest is one row.
 * Ranges more than RANGES_DEPTH_MAX deep are dropped.
 */
#ifndef STAGEPROF_ANALYZER_RANGE_TREE_H
#define STAGEPROF_ANALYZER_RANGE_TREE_H

#include <stdbool.h>
#include <stdint.h>

struct sp_training;

#define RANGES_WAITING_MAX (1u << 20)
#define RANGES_SIBLINGS_MAX 1000u
#define RANGES_DEPTH_MAX 200u

/* The events that become nodes; other events are ignored. */
enum sp_range_choice {
	SP_RANGES_NONE,
	SP_RANGES_ALL,
	SP_RANGES_MODULES,
	SP_RANGES_OPS,
	SP_RANGES_AND_CALLS, /* every event; a call that is no range has label 0 */
};

struct sp_range_node {
	uint32_t label;			     /* number in sp_metadata.labels */
	uint16_t kind;			     /* of the event; 0: ranges that found no room */
	uint16_t depth;			     /* of the nodes below it */
	uint32_t child, sibling;	     /* 0: none */
	bool is_backward;		     /* a call that runs the graph backwards */
	int64_t start_ns;		     /* of its first call, CLOCK_REALTIME */
	uint64_t calls, total_ns, inside_ns; /* inside: of the ranges directly below */
	uint64_t max_ns;
	uint64_t gpu_ns; /* of modules: a device was busy with work launched in them */
	/* Modules: the calls inside each thread's first call of the outermost module, warm-up and
	 * compiling included. */
	uint64_t first_calls, first_ns;
};

struct sp_range_tree {
	struct sp_range_node *nodes; /* [0] is the root: its calls are 0 */
	uint32_t count, room;
	uint32_t free; /* list by sibling; 0: empty */
	bool has_gpu;  /* gpu_ns is known */
	bool was_cut;  /* a limit on waiting ranges or on depth was reached */
};

/* A tree, and the events that it is made of. */
struct sp_range_request {
	struct sp_range_tree *tree;
	enum sp_range_choice choice;
};

#define SP_RANGE_REQUESTS_MAX 3u

/* Makes the trees in one reading of the selected threads. Returns 0 or -ENOMEM. */
int sp_ranges_read(const struct sp_range_request *requests, unsigned count,
		   const struct sp_training *training);
/* Makes one tree of one thread, selected or not. */
int sp_ranges_read_stream(const struct sp_range_request *request,
			  const struct sp_training *training, uint32_t stream);
void sp_ranges_finish(struct sp_range_tree *tree);

#endif

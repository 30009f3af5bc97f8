/*
 * Ranges as a tree: which lie in which, by the path of their names, over all threads.
 *
 * A thread's ranges come in the order in which they ended, so what a range contains has come before
 * it and waits for it. Memory is bounded: beyond RANGES_WAITING_MAX the older half of what waits is
 * taken for outermost, beyond RANGES_SIBLINGS_MAX names in one range the rest is one row, and
 * ranges that hold RANGES_DEPTH_MAX others inside each other lose these.
 */
#ifndef STAGEPROF_ANALYZER_RANGES_H
#define STAGEPROF_ANALYZER_RANGES_H

#include <stdbool.h>
#include <stdint.h>

struct sp_report;

#define RANGES_WAITING_MAX (1u << 20)
#define RANGES_SIBLINGS_MAX 1000u
#define RANGES_DEPTH_MAX 200u

/* Which events are looked at; the others leave no mark on the tree. */
enum sp_range_choice {
	SP_RANGES_NONE,
	SP_RANGES_ALL,
	SP_RANGES_MODULES,
	SP_RANGES_OPS,
	SP_RANGES_AND_CALLS, /* every event; what is no range has label 0 */
};

struct sp_range_node {
	uint32_t label; /* number in sp_facts.labels */
	uint16_t kind;	/* the event's; 0: ranges that found no room */
	uint16_t depth; /* of what is in it */
	uint32_t child, sibling; /* 0: none */
	bool is_backward; /* a call that runs the graph backwards */
	uint64_t calls, total_ns, inside_ns; /* inside: of ranges directly in it */
	uint64_t max_ns;
	uint64_t gpu_ns; /* of modules: a device was busy with what was launched in it */
	/* Of modules: those in each thread's first call of the outermost one, warm-up and compiling included. */
	uint64_t first_calls, first_ns;
};

struct sp_range_tree {
	struct sp_range_node *nodes; /* [0] is the root: its calls are 0 */
	uint32_t count, room;
	uint32_t free; /* list by sibling; 0: empty */
	bool has_gpu;  /* gpu_ns is known */
	bool was_cut;  /* more waited, or lay in each other, than there is room for */
};

/* Reads the selected threads. Returns 0 or -ENOMEM. */
int sp_ranges_read(struct sp_range_tree *tree, const struct sp_report *report,
		   enum sp_range_choice choice);
/* Of one thread, selected or not. */
int sp_ranges_read_stream(struct sp_range_tree *tree, const struct sp_report *report,
			  enum sp_range_choice choice, uint32_t stream);
void sp_ranges_finish(struct sp_range_tree *tree);

#endif

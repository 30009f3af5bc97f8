/*
 * The pieces of a step: what matters of a thread's events, none inside another. Events come in the
 * order in which they ended, so one that begins before earlier ones contains them.
 */
#ifndef STAGEPROF_ANALYZER_STEP_PIECE_H
#define STAGEPROF_ANALYZER_STEP_PIECE_H

#include "analyzer/step.h"

enum sp_piece_kind {
	SP_PIECE_NONE,
	SP_PIECE_LOADER,
	SP_PIECE_LOADER_BEGIN, /* an iterator is made */
	SP_PIECE_LOADER_END,   /* a call that finds no more batches */
	SP_PIECE_FETCH, /* a batch made on this thread */
	SP_PIECE_BACKWARD,
	SP_PIECE_OPTIMIZER,
	SP_PIECE_GRAPH, /* the launch of one */
	SP_PIECE_ZERO_GRAD,
	SP_PIECE_CHECKPOINT,
	SP_PIECE_COMPILE, /* with what it traces: those backwards are none of the step's */
	SP_PIECE_H2D,
	SP_PIECE_SYNC,
	SP_PIECE_GRAD_SYNC,
	SP_PIECE_AWAIT, /* for another thread or process: queues, pipes, locks, descriptors */
	SP_PIECE_INPUT, /* data read or decoded on this thread, in no known call of a loader */
	SP_PIECE_FORK,
	SP_PIECE_UNMAP,
	SP_PIECE_OFF, /* nothing was recorded meanwhile */
};

struct sp_piece {
	int64_t start_ns, end_ns;
	uint64_t h2d_ns, sync_ns, grad_sync_ns; /* inside it */
	int64_t iterator; /* of the loader; 0: not known */
	uint32_t pass;	  /* number in sp_steps.passes, from 1; 0: not known */
	uint8_t kind;
	uint8_t source;
	bool has_fetch;
	bool is_own; /* sp_piece_is_input(), and of a step that no loader feeds */
	bool is_node; /* a node of the graph, or some that follow each other */
};

struct sp_piece sp_piece_of(const struct sp_image_facts *image, const struct sp_slot *slot,
			    int64_t start_ns, int64_t end_ns);

/* True for what a batch may be made of where no loader makes it. */
static inline bool sp_piece_is_input(const struct sp_piece *piece)
{
	return piece->kind == SP_PIECE_AWAIT || piece->kind == SP_PIECE_INPUT;
}

/* The part that a piece's own time belongs to; SP_ACCOUNT_other for those that have none. */
enum sp_account_part sp_piece_part(enum sp_piece_kind kind);

/* True for what tells the parts of a step from each other. */
bool sp_piece_is_structure(const struct sp_piece *piece);

/* Adds the piece; `rest`: the part of its own time where its kind has none. */
void sp_piece_charge(const struct sp_piece *piece, enum sp_account_part rest,
		     struct sp_account *account);

/*
 * Puts the piece on top of n pieces, those that it contains into it. Returns the new n, n + 1 at
 * most.
 */
uint32_t sp_piece_put(struct sp_piece *pieces, uint32_t n, struct sp_piece piece);

#endif

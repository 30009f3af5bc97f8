/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of one training thread, cut from its ranges while these are read.
 *
 * A step ends with an optimizer step. In a process without an optimizer (one that updates its
 * parameters itself), a step ends with a backward. Where steps were captured as a CUDA graph, a
 * step ends with the launch of a graph. Where nothing of the kind was seen in the whole run, the
 * batches that a main thread takes from a loader are its steps: each ends where the next call of a
 * loader begins.
 *
 * The order of input waits and backwards divides the time between two optimizer steps. A batch that
 * no backward follows belongs to validation, or is the loader's last call, which reports the end of
 * the data. A step begins with the batch that it trains on; all time before that batch is a pause.
 *
 * Where a loader's calls name their iterator, the division is exact: the calls of one iterator are
 * one pass over its loader, a pass in which no step ends is validation, and an epoch is a pass of
 * the loader that is asked first (step_pass.h).
 *
 * Where neither a step nor an earlier one has a call of a loader, the trainer's own code makes the
 * batch. Its hooked calls then count as waiting for the loader: waits for other threads and
 * processes, and reads and decoding on the training thread, outside of backward, optimizer and
 * checkpoints.
 *
 * All instants are CLOCK_REALTIME ns of the host.
 */
#ifndef STAGEPROF_ANALYZER_STEP_H
#define STAGEPROF_ANALYZER_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/base/intervals.h"
#include "analyzer/steps/account.h"
#include "analyzer/steps/thread_timeline.h"

struct sp_process_calls;
struct sp_spill;

enum sp_step_end {
	SP_STEP_BY_OPTIMIZER,
	SP_STEP_BY_BACKWARD,
	SP_STEP_BY_GRAPH,
	SP_STEP_BY_BATCH,	      /* nothing that updates a model was seen in the whole run */
	SP_STEP_BY_UPDATING_BACKWARD, /* optimizers step inside it, in hooks of weights */
};

enum sp_step_kind {
	SP_STEP_STEADY,
	SP_STEP_WARMUP,	     /* of the first steps, until they are as short as the others */
	SP_STEP_CHECKPOINT,  /* a checkpoint is written or read in it, and not in most steps */
	SP_STEP_EPOCH_FIRST, /* the first of an epoch but the first epoch */
	SP_STEP_TAIL,	     /* the last of an epoch, if it is shorter: fewer samples */
	SP_STEP_INTERRUPTED, /* evaluation, a rollout or compiling makes it longer than others */
};

#define SP_STEP_PASSES 4u /* of one step; further passes are ignored */

enum sp_step_sum {
#define SP_STEP_SUM(name, when, ns) SP_STEP_SUM_##name,
#define SP_STEP_SUM_WHOLE(name, ns) SP_STEP_SUM_##name,
#include "analyzer/steps/step_sum.def"
#undef SP_STEP_SUM
#undef SP_STEP_SUM_WHOLE
	SP_STEP_SUMS
};

/* Numbers in sp_steps.passes, from 1, in the order in which they first gave a batch. */
struct sp_pass_list {
	uint32_t count, pass[SP_STEP_PASSES];
};

/* All numbers from the first to the last one; none where both are 0. */
struct sp_pass_range {
	uint32_t first, last;
};

struct sp_step {
	int64_t start_ns, end_ns;
	uint32_t unrecorded;	    /* steps before it that were made while recording was off */
	uint32_t optimizer;	    /* optimizer steps before it; several may be one step */
	struct sp_pass_list passes; /* that gave a batch since the step before */
	uint64_t loader_ns[SP_STEP_PASSES]; /* waits for each, in the order in which it is asked */
	uint32_t loaders; /* that gave it a batch; 0: their iterators are not known */
	struct sp_account account;
	uint64_t sum[SP_STEP_SUMS];
	uint32_t epoch;		      /* from 0 */
	uint8_t kind;		      /* enum sp_step_kind */
	bool has_loader;	      /* a loader was asked for a batch in it */
	bool has_sample;	      /* a replay memory was */
	bool is_skipped;	      /* a gradient scaler did not call the optimizer */
	bool is_round;		      /* of boosting */
	bool has_backward, has_fetch; /* fetch: its loader has no workers */
};

/* Between two steps, before the first, or after the last. */
struct sp_pause {
	uint32_t step; /* the step that follows; the number of steps where none does */
	uint32_t batches;
	int64_t start_ns, end_ns;
	int64_t first_start_ns,
		first_end_ns; /* of the first batch; has_passes: where the first pass begins */
	int64_t last_end_ns;  /* of the last batch; has_passes: of the last pass */
	bool has_passes;
	bool has_end;		      /* a pass begins or ends in it */
	struct sp_pass_range foreign; /* includes all passes that are not known to train */
	uint64_t load_ns;	      /* of its checkpoints: loads */
	int64_t begin_ns;	/* the loader of the following steps begins here; 0: elsewhere */
	uint64_t begin_wait_ns; /* for loaders, from there on */
	uint64_t start_pass_ns; /* of the program's start: a pass in which no model is called */
	/* has_fetch: the first batch was made on this thread. forked: processes were made before
	 * the first batch, or after it. */
	bool has_fetch, forked_before, forked_after;
	/* sp_steps_classify(): */
	bool is_validation, is_restart;
	uint64_t validation_wait_ns;
	struct sp_account account;
};

struct sp_epoch {
	uint32_t first_step, steps;
	int64_t start_ns, end_ns;
	uint64_t training_ns; /* of its steps, and for their loader between them */
	uint64_t validation_ns;
	uint64_t validation_wait_ns; /* the wait in it for its loader */
	uint64_t wait_ns;	     /* for the loader of training, in steps and pauses alike */
	uint64_t checkpoint_ns;	     /* in steps and pauses alike */
};

/* One pass over a loader: all calls of an iterator. */
struct sp_pass {
	int64_t iterator;
	uint32_t first, last; /* optimizer steps before its first batch, and before its last call */
	uint32_t batches;
	bool is_over, is_training;
	bool has_call;		  /* of a model */
	bool is_evaluation;	  /* has a call, or none was observed so far */
	int64_t start_ns, end_ns; /* of an evaluation: all of it is validation */
	uint32_t begin, end;	  /* the same as intervals, while its pause is made */
	bool has_end;		  /* a call that found no more batches */
};

static inline uint64_t sp_step_wall_ns(const struct sp_step *step)
{
	return (uint64_t)(step->end_ns - step->start_ns);
}

#define SP_PASSES_ON 4u

/* Set `end` and zero the rest before the first event. */
struct sp_steps {
	struct sp_spill *spill; /* borrowed: it keeps steps and waits; NULL: memory */
	struct sp_step *steps;
	uint32_t count, room;
	struct sp_pause *pauses; /* in the order of time */
	uint32_t pause_count, pause_room;
	struct sp_interval *waits; /* for the loader, in steps */
	uint32_t wait_count, wait_room;
	struct sp_thread_timeline timeline; /* of pauses, and of steps, too, where it keeps it */
	bool keeps_timeline;		    /* set before the first event */
	struct sp_pass *passes;		    /* in the order in which they began */
	uint32_t pass_count, pass_room;
	uint32_t passes_on[SP_PASSES_ON]; /* numbers of passes that went on beside later ones */
	uint32_t passes_on_next;
	uint32_t trained_passes;	  /* that gave a batch for a step */
	uint32_t single_passes;		  /* those of them that were dropped after one batch */
	uint32_t optimizer_count, rounds; /* rounds of boosting are among them */
	uint32_t backward_calls, updating_backwards; /* of the latter, steps ended inside */
	uint32_t unrecorded;			     /* steps made while recording was off */
	struct sp_epoch *epochs;		     /* sp_steps_classify() */
	uint32_t epoch_count;
	uint8_t sources[SP_ACCOUNT_PHASES]; /* enum sp_source_kind */
	enum sp_step_end end;
	bool has_backward;
	bool is_fed;	  /* by a loader */
	bool has_forward; /* one was observed */
	/* Without a loader calls without gradients are a teacher's or acting: a guess. */
	bool is_forward_guessed;
	bool is_forward_left_over; /* no call of the model was observed, or not for all backwards */
	bool has_whole_calls;	   /* steps that are one call each */
	uint32_t call_steps;	   /* steps that are one call each */
	uint32_t parted_steps;	   /* steps with a backward and an optimizer */
	uint32_t mixed_steps;	   /* parted steps with a call step since the parted step before */
	bool leaves_calls; /* set before the first event: such a call is no step, and has no part */
	bool has_batches;  /* a loader gave one that says of which iterator it is */
	bool is_fed_by_thread; /* another thread reads the loader ahead */
	/* The loader's calls, until sp_steps_classify() returns; NULL: none. */
	const struct sp_process_calls *feed;
	uint64_t saved_beside_ns; /* checkpoints that other threads, and processes, saved */
	uint32_t nccl_calls;	  /* of this thread */
	bool has_exchanges;	  /* its process sends to other ranks, or receives from them */
	/* Calls of NCCL by other threads, until the thread is read; NULL: none. Those in a backward
	 * count as communication and not as backward, because the thread waits for them there. */
	const struct sp_process_calls *nccl;
	bool has_captured; /* a backward or an optimizer while a stream captured */
	uint32_t graphs;   /* launched since the last backward or optimizer; only where steps do not
			      end by them */
	bool is_out_of_memory;
};

void sp_steps_finish(struct sp_steps *steps);

/* Gives the lists to a spill, after the last change of them. */
void sp_steps_keep(struct sp_steps *steps, struct sp_spill *spill);

/* Frees the lists; the counts and the facts about all steps together stay. */
void sp_steps_drop_lists(struct sp_steps *steps);

/* The same, but pauses and epochs stay. */
void sp_steps_drop_steps(struct sp_steps *steps);

/* The index of the step that contains an instant; steps->count where none does. */
uint32_t sp_steps_at(const struct sp_steps *steps, int64_t at_ns);

/* A stretch of a pause. */
struct sp_pause_part {
	int64_t start_ns, end_ns;
	bool is_validation;
};

/*
 * The stretch of a pause that begins at from_ns, pause->start_ns at first and the end of the
 * stretch before then. A pause with validation is validation in the passes that evaluate; where
 * these are not known (a digest), it is all of it. False: the pause is over.
 */
bool sp_pause_next(const struct sp_steps *steps, const struct sp_pause *pause, int64_t from_ns,
		   struct sp_pause_part *ret);

/* The number of step i, from 0; unrecorded steps count. */
static inline uint32_t sp_step_number(const struct sp_steps *steps, uint32_t i)
{
	return i + steps->steps[i].unrecorded;
}

#endif

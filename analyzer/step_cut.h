/*
 * How pieces become steps and pauses: shared by the two ways to tell where a step begins, from the order
 * of calls alone (step_order.c) and by the passes over loaders (step_pass.c).
 */
#ifndef STAGEPROF_ANALYZER_STEP_CUT_H
#define STAGEPROF_ANALYZER_STEP_CUT_H

#include <stddef.h>

#include "analyzer/step.h"
#include "analyzer/step_piece.h"

/* Makes room for one more of `size` bytes in a list that doubles. Returns it, or NULL. */
void *sp_cut_room(void *list, uint32_t count, uint32_t *room, size_t size);

/* Charges [from_ns, to_ns) with the pieces [i, n) in it, and what lies between them. */
void sp_cut_charge(const struct sp_cutter *cutter, uint32_t i, uint32_t n, int64_t from_ns, int64_t to_ns,
		   struct sp_account *account);

/* The kind of the first piece of structure from i on; SP_PIECE_NONE: there is none. */
enum sp_piece_kind sp_cut_next_structure(const struct sp_cutter *cutter, uint32_t i);

/* A pause before the step to come; NULL: no memory. */
struct sp_pause *sp_cut_pause(struct sp_steps *steps);

/* The pieces from `first` on are a step that begins at from_ns. NULL: no memory. */
struct sp_step *sp_cut_step(struct sp_cutter *cutter, uint32_t first, int64_t from_ns);

/* Index of the first backward, optimizer or graph; cutter->count: there is none. */
uint32_t sp_cut_end_of_batches(const struct sp_cutter *cutter);

/* Index behind the last checkpoint; 0: there is none. */
uint32_t sp_cut_end_of_checkpoints(const struct sp_cutter *cutter);

/* Behind the last step, with no call of a loader: a pause up to the last checkpoint, if there is one. */
void sp_cut_checkpoints(struct sp_cutter *cutter);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cells of a stack in a view's row: for machines the frames' addresses and functions, for
 * people the innermost functions, shortened.
 */
#ifndef STAGEPROF_ANALYZER_STACK_CELLS_H
#define STAGEPROF_ANALYZER_STACK_CELLS_H

#include "analyzer/symbols/functions.h"
#include "analyzer/print/out.h"

enum sp_stack_cell { SP_STACK_FRAMES, SP_STACK_FUNCTIONS, SP_STACK_BRIEF, SP_STACK_CELLS };

#define SP_STACK_BRIEF_BYTES 2048u

/* The memory of the cells' texts. */
struct sp_stack_text {
	char frames[SP_STACK_TEXT_BYTES];
	char brief[SP_STACK_BRIEF_BYTES];
	char *functions;
};

/* Fills the three cells; null without a stack. Returns 0 or -ENOMEM. sp_stack_cells_finish()
 * frees the texts. */
int sp_stack_cells_make(const struct sp_functions *functions, uint32_t image, uint32_t stack,
			struct sp_stack_text *text, struct sp_cell cells[SP_STACK_CELLS]);
void sp_stack_cells_finish(struct sp_stack_text *text);

#endif

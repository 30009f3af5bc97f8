/*
 * A stack in rows of views: for machines where its frames are and what their functions are called, and for people the
 * innermost functions, briefly.
 */
#ifndef STAGEPROF_ANALYZER_STACK_CELLS_H
#define STAGEPROF_ANALYZER_STACK_CELLS_H

#include "analyzer/functions.h"
#include "analyzer/out.h"

enum sp_stack_cell { SP_STACK_FRAMES, SP_STACK_FUNCTIONS, SP_STACK_BRIEF, SP_STACK_CELLS };

#define SP_STACK_BRIEF_BYTES 2048u

/* What the cells point into. */
struct sp_stack_text {
	char frames[SP_STACK_TEXT_BYTES];
	char brief[SP_STACK_BRIEF_BYTES];
	char *functions;
};

/* Fills the three cells; null where there is no stack. Returns 0 or -ENOMEM. sp_stack_cells_finish() follows. */
int sp_stack_cells_make(const struct sp_functions *functions, uint32_t image, uint32_t stack,
			struct sp_stack_text *text, struct sp_cell cells[SP_STACK_CELLS]);
void sp_stack_cells_finish(struct sp_stack_text *text);

#endif

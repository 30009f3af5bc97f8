/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/symbols/stack_cells.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/symbols/demangle.h"

#define BRIEF_FRAMES 8u

/* Replaces the list's separator in names. */
static void put_item(FILE *file, const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		putc(text[i] == ';' ? ',' : text[i], file);
}

static int make_list(const struct sp_functions *functions, const struct sp_stack *stack, char **ret,
		     size_t *ret_bytes)
{
	char plain[SP_DEMANGLED_BYTES];
	FILE *file = open_memstream(ret, ret_bytes);

	if (!file)
		return -ENOMEM;
	for (uint32_t i = 0; i < stack->count && i < SP_STACK_FRAMES_MAX; i++) {
		size_t bytes;
		const char *name =
			sp_function_name(functions, stack->key.image, stack->addresses[i], &bytes);

		if (i)
			putc(';', file);
		if (!name)
			continue;
		name = sp_demangle(name, &bytes, plain);
		put_item(file, name, bytes);
	}
	return fclose(file) == 0 ? 0 : -ENOMEM;
}

static size_t brief_frame(const struct sp_functions *functions, uint32_t image, uint64_t address,
			  char ret[SP_BRIEF_BYTES])
{
	size_t bytes;
	const char *name = sp_function_name(functions, image, address, &bytes);

	_Static_assert(SP_BRIEF_BYTES >= SP_FRAME_BYTES, "either goes in");
	return name ? sp_demangle_brief(name, ret)
		    : sp_stack_frame(functions->calls, image, address, ret);
}

static size_t make_brief(const struct sp_functions *functions, const struct sp_stack *stack,
			 char ret[SP_STACK_BRIEF_BYTES])
{
	char frame[SP_BRIEF_BYTES];
	size_t used = 0;
	uint32_t i;

	for (i = 0; i < stack->count && i < BRIEF_FRAMES; i++) {
		size_t bytes = brief_frame(functions, stack->key.image, stack->addresses[i], frame);

		if (used + sizeof(" < ...") + sizeof(" < ") + bytes > SP_STACK_BRIEF_BYTES)
			break;
		used += (size_t)sprintf(ret + used, "%s%s", i ? " < " : "", frame);
	}
	if (i < stack->count)
		used += (size_t)sprintf(ret + used, " < ...");
	return used;
}

int sp_stack_cells_make(const struct sp_functions *functions, uint32_t image, uint32_t stack,
			struct sp_stack_text *text, struct sp_cell cells[SP_STACK_CELLS])
{
	const struct sp_stack *found = sp_stack_find(functions->calls, image, stack);
	size_t bytes;
	int r;

	text->functions = NULL;
	for (int i = 0; i < SP_STACK_CELLS; i++)
		cells[i] = sp_cell_null();
	if (!found || found->count == 0)
		return 0;
	r = make_list(functions, found, &text->functions, &bytes);
	if (r < 0)
		return r;
	cells[SP_STACK_FRAMES] =
		sp_cell_bytes(text->frames, sp_stack_text(functions->calls, found, text->frames));
	cells[SP_STACK_FUNCTIONS] = sp_cell_bytes(text->functions, bytes);
	cells[SP_STACK_BRIEF] =
		sp_cell_bytes(text->brief, make_brief(functions, found, text->brief));
	return 0;
}

void sp_stack_cells_finish(struct sp_stack_text *text)
{
	free(text->functions);
}

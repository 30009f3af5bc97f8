/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/launcher/left_memory.h"

#include <string.h>
#include <unistd.h>

#include "trace/arenas/arena_files.h"
#include "trace/arenas/libc_call.h"

static struct sp_left_run *run_find(struct sp_left_memory *left, const char *directory)
{
	uint32_t i = 0;

	while (i < left->count && strcmp(left->runs[i].directory, directory) != 0)
		i++;
	if (i == SP_LEFT_RUNS)
		return &left->runs[i - 1];
	if (i == left->count) {
		strcpy(left->runs[i].directory, directory);
		left->count++;
	}
	return &left->runs[i];
}

static void add(struct sp_left_memory *left, const struct sp_arena_view *view)
{
	char directory[sizeof(view->arena->directory)];
	struct sp_left_run *run;

	memcpy(directory, view->arena->directory, sizeof(directory));
	directory[sizeof(directory) - 1] = 0;
	run = run_find(left, directory);
	run->segments++;
	run->bytes += view->bytes;
	left->segments++;
	left->bytes += view->bytes;
}

void sp_left_memory_list(struct sp_left_memory *ret)
{
	struct sp_collect c = {.sys = sp_libc_call, .uid = geteuid(), .only_left = 1};
	long highest = sp_arena_highest(&c);

	memset(ret, 0, sizeof(*ret));
	for (long number = 0; number <= highest; number++) {
		struct sp_arena_view view = sp_arena_attach(&c, number);

		if (!view.arena)
			continue;
		add(ret, &view);
		sp_arena_detach(&c, &view);
	}
}

void sp_left_memory_free(void)
{
	sp_arenas_to_files(NULL, NULL);
}

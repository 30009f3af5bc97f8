/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stageprof clean: writes what killed processes left in shared memory to their runs, and frees it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"
#include "scripts/launcher/command.h"
#include "scripts/launcher/left_memory.h"

static uint32_t segments_of(const struct sp_left_memory *left, const char *directory)
{
	for (uint32_t i = 0; i < left->count; i++)
		if (strcmp(left->runs[i].directory, directory) == 0)
			return left->runs[i].segments;
	return 0;
}

/* A folder that is gone here is kept where its process had another mount namespace. */
static const char *why_stays(const char *directory)
{
	if (access(directory, F_OK) < 0)
		return N_(": stays, because its folder is not seen from here (another container)");
	if (access(directory, W_OK | X_OK) < 0)
		return N_(": stays, because its folder cannot be written to");
	return N_(": stays, because another program reads it, or its file could not be made");
}

static void run_print(const struct sp_left_run *run, const struct sp_left_memory *after)
{
	char size[SP_NUMBER_BYTES], path[sizeof(run->directory)];

	sp_text_escape(path, sizeof(path), run->directory, strlen(run->directory));
	printf("%8u  %10s  %s", run->segments, sp_text_bytes(size, run->bytes), path);
	if (segments_of(after, run->directory))
		fputs(_(why_stays(run->directory)), stdout);
	else if (access(run->directory, F_OK) < 0)
		fputs(_(": freed, because the run is gone"), stdout);
	else
		fputs(_(": written to the run and freed"), stdout);
	putchar('\n');
}

static int clean(void)
{
	struct sp_left_memory *before = malloc(2 * sizeof(*before)), *after = before + 1;
	int status = SP_STATUS_FAILED;

	if (before) {
		sp_left_memory_list(before);
		sp_left_memory_free();
		sp_left_memory_list(after);
		if (before->count)
			printf("%8s  %10s  %s\n", _("SEGMENTS"), _("MEMORY"), _("RUN"));
		for (uint32_t i = 0; i < before->count; i++)
			run_print(&before->runs[i], after);
		if (!before->count)
			puts(_("No killed process of this user has left shared memory."));
		status = after->segments ? SP_STATUS_FAILED : SP_STATUS_OK;
	}
	free(before);
	return status;
}

int sp_command_clean(int argc, char **argv)
{
	int asked = argc == 2 && strcmp(argv[1], "--help") == 0;

	if (argc == 1)
		return clean();
	fprintf(asked ? stdout : stderr, _("Usage: stageprof %s\n"), argv[0]);
	return asked ? SP_STATUS_OK : SP_STATUS_USAGE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three runtimes of different versions in one process, each used by a library that is loaded
 * RTLD_LOCAL, loaded and unloaded over and over: every launch must reach the runtime of the library
 * that makes it. runtimes ROUNDS
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/programs/victims/tally.h"

enum { CALLS = 10 };

static void use(const char *folder, int version, struct tally_row *row, struct tally_row *sync)
{
	char path[4096];
	void *library;
	long (*launch)(long);

	snprintf(path, sizeof(path), "%s/libplugin%d.so", folder, version);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	EXPECT(library);
	launch = (long (*)(long))dlsym(library, "plugin_launch");
	EXPECT(launch);
	for (int i = 0; i < CALLS; i++)
		tally_begin(row);
	tally_begin(sync);
	EXPECT(launch(CALLS) == CALLS);
	for (int i = 0; i < CALLS; i++)
		tally_end(row, 0);
	tally_end(sync, 0);
	dlclose(library);
}

int main(int argc, char **argv)
{
	struct tally_row *row = tally_row("cuda_launch", ""), *sync = tally_row("cuda_sync", "");
	long rounds = argc > 1 ? atol(argv[1]) : 10;
	char folder[3072];

	snprintf(folder, sizeof(folder), "%s", argv[0]);
	*strrchr(folder, '/') = 0;
	for (long i = 0; i < rounds; i++) {
		for (int version = 11; version <= 13; version++)
			use(folder, version, row, sync);
	}
	puts("done");
	return 0;
}

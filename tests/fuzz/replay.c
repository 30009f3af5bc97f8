/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target on each file of the directories given, without a fuzzer.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *folder, const char *name)
{
	char path[4096];
	uint8_t *bytes = malloc(1 << 20);
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "rb");
	if (!f || !bytes)
		return -1;
	n = fread(bytes, 1, 1 << 20, f);
	fclose(f);
	/* exactly as long as the input, for the sanitizers to see the end */
	uint8_t *exact = malloc(n + 1);

	for (size_t i = 0; i < n; i++)
		exact[i] = bytes[i];
	LLVMFuzzerTestOneInput(exact, n);
	free(exact);
	free(bytes);
	return 0;
}

int main(int argc, char **argv)
{
	int done = 0;

	for (int i = 1; i < argc; i++) {
		DIR *d = opendir(argv[i]);

		for (struct dirent *e; d && (e = readdir(d));)
			if (e->d_name[0] != '.' && replay(argv[i], e->d_name) == 0)
				done++;
		if (d)
			closedir(d);
	}
	printf("%d inputs\n", done);
	return done ? EXIT_SUCCESS : EXIT_FAILURE;
}

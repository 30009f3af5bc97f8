/* SPDX-License-Identifier: Apache-2.0 */
/* deep_bind LIBRARY: a library that prefers its own dependencies reads beside us. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

int main(int argc, char **argv)
{
	struct tally_row *own = tally_row("file_read", "in.dat"),
			 *unseen = tally_row("file_read", "");
	int in = TALLY(tally_row("file_open", ""),
		       (tally_make_file("in.dat", 4096), open("in.dat", O_RDONLY)));
	long (*deep_read)(const char *);
	void *library;
	char block[64];

	library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_DEEPBIND) : NULL;
	EXPECT(library);
	deep_read = (long (*)(const char *))dlsym(library, "deep_read");
	EXPECT(deep_read);
	for (int i = 0; i < 100; i++) {
		EXPECT(TALLY_BYTES(own, pread(in, block, sizeof(block), 0)) == 64);
		/* begun and never ended: the report may know of it or not */
		tally_begin(unseen);
		EXPECT(deep_read("in.dat") == 64);
	}
	puts("done");
	return 0;
}

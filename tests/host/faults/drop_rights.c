/* SPDX-License-Identifier: Apache-2.0 */
/* drop_rights user|root: becomes nobody, or shuts itself into its folder, and reads on; 77 where
 * that is not allowed. */
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

static void read_some(struct tally_row *row, int fd, int n)
{
	char block[64];

	for (int i = 0; i < n; i++)
		EXPECT(TALLY_BYTES(row, pread(fd, block, sizeof(block), i % 1000)) == 64);
}

static int drop(const char *what)
{
	if (strcmp(what, "root") == 0)
		return chroot(".");
	return setgroups(0, NULL) || setgid(65534) || setuid(65534);
}

int main(int argc, char **argv)
{
	struct tally_row *row = tally_row("file_read", "in.dat");
	int in;

	tally_make_file("in.dat", 4096);
	in = TALLY(tally_row("file_open", ""), open("in.dat", O_RDONLY));
	read_some(row, in, 100);
	if (argc < 2 || drop(argv[1]) < 0) {
		puts("not allowed to drop rights");
		return 77;
	}
	read_some(row, in, 200000);
	puts("done");
	return 0;
}

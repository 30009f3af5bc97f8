/* SPDX-License-Identifier: Apache-2.0 */
/* Under strict seccomp any system call but read, write, _exit and sigreturn is SIGKILL. */
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

int main(void)
{
	struct tally_row *reads = tally_row("file_read", "in.dat");
	struct tally_row *zeros = tally_row("device_read", "/dev/zero");
	int in, zero;
	char block[64];

	tally_make_file("in.dat", 1 << 20);
	in = TALLY(tally_row("file_open", ""), open("in.dat", O_RDONLY));
	zero = TALLY(tally_row("file_open", ""), open("/dev/zero", O_RDONLY));
	EXPECT(TALLY_BYTES(reads, read(in, block, sizeof(block))) == sizeof(block));
	puts("entering");
	fflush(stdout);
	EXPECT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
	for (int i = 0; i < 10000; i++) {
		if (TALLY_BYTES(reads, read(in, block, sizeof(block))) != sizeof(block))
			break;
		TALLY_BYTES(zeros, read(zero, block, sizeof(block)));
	}
	syscall(SYS_exit, 21); /* exit_group is not allowed here */
}

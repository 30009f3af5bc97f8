/* SPDX-License-Identifier: Apache-2.0 */
/* Files opened and closed by a victim, each counted in a row of its own. */
#ifndef VICTIMS_OPENED_H
#define VICTIMS_OPENED_H

#include <fcntl.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

/* The victim takes them before it opens anything. */
static struct tally_row *opens, *closes;

static inline int opened(const char *path)
{
	int fd = TALLY(opens, open(path, O_RDONLY));

	EXPECT(fd >= 0);
	return fd;
}

static inline void closed(int fd)
{
	EXPECT(TALLY(closes, close(fd)) == 0);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/watch/call_file.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define CALLS_MAX 512u /* then a new file takes its name */

static void name_of(char ret[64], const char *before)
{
	snprintf(ret, 64, "%s0-calls-%d.zst", before, getpid());
}

/* A new file is whole under its name. */
static int file_begin(struct sp_call_file *file, int directory)
{
	char name[64];

	name_of(name, ".");
	unlinkat(directory, name, 0);
	file->generation++;
	file->calls = 0;
	return openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

struct sp_call_frame sp_call_frame(enum sp_call_what what, uint64_t stream_id)
{
	return (struct sp_call_frame){
		.frame = {SP_FRAME_CALL, sizeof(struct sp_call_frame) - sizeof(struct sp_frame)},
		.tag = SP_TAG_CALL,
		.version = SP_FORMAT_VERSION,
		.what = (uint16_t)what,
		.stream_id = stream_id,
	};
}

void sp_call_file_append(struct sp_call_file *file, int directory, struct sp_call_frame *frame)
{
	bool is_new = file->calls % CALLS_MAX == 0;
	char name[64], hidden[64];
	off_t at;
	int fd;

	frame->hash = XXH64(frame, offsetof(struct sp_call_frame, hash), 0);
	name_of(name, "");
	name_of(hidden, ".");
	fd = is_new ? file_begin(file, directory)
		    : openat(directory, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	at = (off_t)file->calls * (off_t)sizeof(*frame);
	if (pwrite(fd, frame, sizeof(*frame), at) != sizeof(*frame)) {
		if (ftruncate(fd, at) < 0)
			unlinkat(directory, is_new ? hidden : name, 0);
	} else if (!is_new || renameat(directory, hidden, directory, name) == 0) {
		file->calls++;
	}
	close(fd);
}

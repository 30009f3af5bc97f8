/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole analyzer on a digest: input is a digest file, of which the head, the lengths of records
 * and their hashes are set right first, because they would keep a fuzzer out of the fields. Views
 * show it, and a merge takes it twice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyzer/reader/digest.h"
#include "analyzer/report/digest_make.h"
#include "analyzer/training/trainer_digest.h"
#include "tests/fuzz/whole.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void mend_head(uint8_t *bytes)
{
	struct sp_digest_head head = {.version = SP_DIGEST_VERSION, .schema = sp_digest_schema()};

	memcpy(head.magic, SP_DIGEST_MAGIC, sizeof(head.magic));
	memcpy(bytes, &head, sizeof(head));
}

/* Returns the bytes of the record; 0: it is the end. */
static size_t mend_record(uint8_t *bytes, size_t left)
{
	struct sp_digest_record r;
	size_t most = left - sizeof(r);

	memcpy(&r, bytes, sizeof(r));
	if (r.stored_bytes > most)
		r.stored_bytes = r.plain_bytes = (uint32_t)most;
	r.hash = sp_digest_hash(&r.key, bytes + sizeof(r), r.stored_bytes);
	memcpy(bytes, &r, sizeof(r));
	return r.stored_bytes ? sizeof(r) + r.stored_bytes : 0;
}

static void merge_twice(const uint8_t *bytes, size_t size)
{
	struct sp_digest_set set = {.list = NULL};
	FILE *nowhere = fopen("/dev/null", "w");
	int fd = memfd_create("digest", MFD_CLOEXEC);
	struct sp_file file;
	char path[64];

	if (!nowhere || fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (int i = 0; i < 2; i++)
		if (sp_digest_set_add_file(&set, path, &file) != 1)
			abort();
	if (sp_digest_set_write(&set, nowhere) < 0)
		abort();
	sp_digest_set_finish(&set);
	fclose(nowhere);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes;
	size_t at = SP_DIGEST_HEAD_BYTES, n = 1;

	if (size < SP_DIGEST_HEAD_BYTES)
		return 0;
	bytes = malloc(size);
	if (!bytes)
		abort();
	memcpy(bytes, data, size);
	mend_head(bytes);
	for (; n && size - at >= sizeof(struct sp_digest_record); at += n)
		n = mend_record(bytes + at, size - at);
	sp_fuzz_whole(bytes, size);
	merge_twice(bytes, size);
	free(bytes);
	return 0;
}

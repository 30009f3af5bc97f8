/*
 * The whole analyzer on one file of any bytes: index, facts, sums and every view. Hashes would keep
 * a fuzzer out of all that lies behind them, so the mutator sets them right again after most of its
 * changes.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "analyzer/complaint.h"
#include "analyzer/report.h"
#include "analyzer/view.h"
#include "trace/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max) __attribute__((weak));

enum { FORMATS = SP_FORMAT_MD + 1 }; /* those of --format; the page is a view */

static void ignore(const char *line)
{
	(void)line;
}

static void show_all(const struct sp_report *report)
{
	static const char *const names[] = {"a", "b"};
	const struct sp_report runs[] = {*report, *report};
	const struct sp_view_options options = {.limit = 1000,
						.runs = runs,
						.run_names = names,
						.run_count = 2,
						.slower_limit = -1};

	for (unsigned i = 0; i < sp_view_count * FORMATS; i++) {
		struct sp_out out = {.format = (enum sp_format)(i % FORMATS), .width = 80};

		out.file = fopen("/dev/null", "w");
		if (!out.file)
			abort();
		sp_out_begin(&out);
		sp_views[i / FORMATS].show(report, &out, &options);
		sp_out_end(&out);
		fclose(out.file);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sp_report report = {
		.selection = {0, 0, INT64_MIN, INT64_MAX},
		.jobs = 1,
		.naming = SP_NAMING_PATH,
		.wants_files = true,
		.wants_steps = true,
		.wants_workers = true,
		.wants_ranks = true,
		.wants_ranges = SP_RANGES_ALL,
		.wait_thresholds = {SP_WAIT_MODERATE, SP_WAIT_SEVERE},
		.names_max = 100,
	};
	char path[64];
	int fd = memfd_create("trace", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (sp_index_add(&report.index, path) || sp_report_scan(&report) ||
	    sp_report_fold(&report) || sp_complaints(&report, 10, ignore))
		abort();
	if (sp_report_has_trace(&report))
		show_all(&report);
	sp_report_finish(&report);
	close(fd);
	return 0;
}

static void mend(uint8_t *p, size_t left, size_t hash_at)
{
	uint64_t hash;

	if (left < hash_at + sizeof(hash))
		return;
	hash = XXH64(p, hash_at, 0);
	memcpy(p + hash_at, &hash, sizeof(hash));
}

static void mend_block(uint8_t *p, size_t left)
{
	struct sp_block_header b;

	if (left < sizeof(b))
		return;
	memcpy(&b, p, sizeof(b));
	if (b.zstd_bytes <= left - sizeof(b)) {
		b.zstd_hash = XXH64(p + sizeof(b), b.zstd_bytes, 0);
		memcpy(p, &b, sizeof(b));
	}
	mend(p, left, offsetof(struct sp_block_header, header_hash));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	size = LLVMFuzzerMutate(data, size, max);
	if (seed % 8 == 0)
		return size;
	for (size_t at = 0; at + 8 <= size; at++) {
		uint32_t magic;

		memcpy(&magic, data + at, sizeof(magic));
		if (magic == SP_FRAME_HEADER)
			mend(data + at, size - at, offsetof(struct sp_file_header, header_hash));
		else if (magic == SP_FRAME_BLOCK)
			mend_block(data + at, size - at);
		else if (magic == SP_FRAME_WINDOW)
			mend(data + at, size - at, offsetof(struct sp_window_header, header_hash));
	}
	return size;
}

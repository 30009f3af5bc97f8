/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_hostile FOLDER: a run whose names try to be something else, and whose ranges overlap.
 *
 * Pid 100 has ranges with every hostile label, reads of files with every hostile path, ranges that
 * begin and end in the same ns, ranges that overlap, and a kind that no version knows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/common/trace_maker.h"

#define TEXTS (sizeof(texts) / sizeof(texts[0]))

static const char *const texts[] = {
	"</script><script>alert(1)</script>",
	"<img src=x onerror=alert(1)>",
	"=cmd|'/C calc'!A0",
	"+1+1",
	"-2",
	"@SUM(A1)",
	"\tTAB",
	"line\none\r\ntwo",
	"esc \033[31mred\033]0;title\007",
	"bidi \xe2\x80\xae.gpj.exe",
	"zero\xe2\x80\x8bwidth",
	"invalid \xff\xfe\xc0\x80",
	"a|b|c",
	"quote\"and'and`tick`",
	"semi;colon 17",
	"back\\slash\\",
	"[link](javascript:alert(1))",
	"**bold** _under_ ~~gone~~",
	"## head",
	"http://example.com/x",
	"{\"ph\":\"X\"}",
	"NULL'); DROP TABLE event;--",
	"\xe6\x97\xa5\xe6\x9c\xac",
	"",
};

static void name_all(struct sp_maker *m)
{
	for (unsigned i = 0; i < TEXTS; i++) {
		sp_maker_file(m, i + 1, SP_FILE_REGULAR, texts[i]);
		sp_maker_define(m, SP_DEFINE_NAME, i + 1, texts[i], strlen(texts[i]));
	}
}

static void nested(struct sp_maker *m)
{
	uint64_t start = m->now_ticks + 10;

	sp_maker_event(m, SP_EV_read, 1, 100, 10);	   /* begins with all that follow */
	sp_maker_around(m, SP_EV_nvtx_range, 1, start, 0); /* the same span */
	sp_maker_event(m, SP_EV_read, 2, 0, 0);		   /* takes no time */
	sp_maker_around(m, SP_EV_nvtx_range, 2, start, 0);
	sp_maker_around(m, SP_EV_nvtx_range, 3, start, 0);
}

/* Start/end pairs that lie in each other in no order. */
static void overlapping(struct sp_maker *m)
{
	uint64_t starts[40];

	for (unsigned i = 0; i < 40; i++) {
		starts[i] = m->now_ticks + 5;
		sp_maker_event(m, SP_EV_read, 1 + i % TEXTS, 50, 7);
	}
	for (unsigned i = 0; i < 40; i++) {
		sp_maker_event(m, SP_EV_write, 1 + i % TEXTS, 20, 3);
		sp_maker_around(m, SP_EV_nvtx_range, 1 + i % TEXTS, starts[i], 0);
	}
}

/* A range with more inside than is held, which begins with the first of it. */
static void long_one(struct sp_maker *m)
{
	uint64_t start = m->now_ticks + 10;

	for (unsigned i = 0; i < 500; i++)
		sp_maker_event(m, SP_EV_read, 1, 30, 1);
	sp_maker_around(m, SP_EV_nvtx_range, 1, start, 0);
}

static void put_frame(struct sp_maker *m, uint32_t id, uint32_t line, const char *file,
		      const char *function)
{
	const struct sp_python_frame_metadata lines = {.line = line, .first_line = line ? 1 : 0};
	char blob[256];
	int n = snprintf(blob + sizeof(lines), sizeof(blob) - sizeof(lines), "%s\t%s", file,
			 function);

	memcpy(blob, &lines, sizeof(lines));
	sp_maker_define(m, SP_DEFINE_PYTHON_FRAME, id, blob, sizeof(lines) + (size_t)n);
}

/* stack, object: ids; 0: none. */
static void put_sample(struct sp_maker *m, uint32_t number, uint32_t stack, uint32_t object)
{
	struct sp_python_sample sample = {.at = 5000 * number,
					  .pid = 100,
					  .tid = 100,
					  .stack = stack,
					  .object = object,
					  .samples = 1,
					  .span_us = 10,
					  .state = 'R'};

	sp_maker_define(m, SP_DEFINE_SAMPLES, 0, &sample, sizeof(sample));
}

/* The stacks of a sampler: each text is a file and a function. One more sample is of a thread
 * without Python that executed in a library. */
static int put_samples(const char *folder)
{
	struct sp_maker m;
	int r;

	sp_maker_init(&m, 101, 101, 0);
	m.header.flags |= SP_HEADER_SAMPLER;
	sp_maker_header(&m);
	for (uint32_t i = 0; i < TEXTS; i++) {
		uint32_t stack[] = {i + 1, 1};

		put_frame(&m, i + 1, 3, texts[i], texts[TEXTS - 1 - i]);
		sp_maker_define(&m, SP_DEFINE_PYTHON_STACK, i + 1, stack, sizeof(stack));
		put_sample(&m, i, i + 1, 0);
	}
	put_frame(&m, TEXTS + 1, 0, "libc.so.6", "");
	put_sample(&m, TEXTS, 0, TEXTS + 1);
	sp_maker_block(&m, SP_BLOCK_LAST);
	r = sp_maker_write(folder, "a-101-101.zst", m.bytes, m.size);
	sp_maker_finish(&m);
	return r;
}

int main(int argc, char **argv)
{
	struct sp_maker m;

	if (argc != 2)
		return EXIT_FAILURE;
	sp_maker_init(&m, 100, 100, 0);
	strcpy(m.header.comm, "=a|b\033<i>\n;");
	sp_maker_header(&m);
	name_all(&m);
	for (unsigned i = 0; i < TEXTS; i++) {
		sp_maker_event(&m, SP_EV_read, i + 1, 1000, 100);
		sp_maker_event(&m, SP_EV_nvtx_range, i + 1, 1000, 0);
		sp_maker_event(&m, SP_EV_H5Dread, i + 1, 500, 10);
	}
	nested(&m);
	overlapping(&m);
	long_one(&m);
	sp_maker_event(&m, 900, 1, 77, -5);
	sp_maker_jpeg(&m, 900, 640, 480, SP_DECODE_FINISHED);
	sp_maker_block(&m, SP_BLOCK_LAST);
	if (put_samples(argv[1]) < 0)
		return EXIT_FAILURE;
	return sp_maker_write(argv[1], "a-100-100.zst", m.bytes, m.size) < 0 ? EXIT_FAILURE
									     : EXIT_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the seed corpora: make_seeds READER_FOLDER CODEC_FOLDER EVENTS_FOLDER. The corpora are in
 * the tree; this is how they were made, and how to make them again after a change of the format.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/common/trace_maker.h"
#include "trace/codec.h"

static const char *folder;

static void put(struct sp_maker *m, const char *name)
{
	if (sp_maker_write(folder, name, m->bytes, m->size) < 0)
		exit(EXIT_FAILURE);
	sp_maker_finish(m);
}

static void begin(struct sp_maker *m, int counter)
{
	sp_maker_init(m, 10, 11, counter);
	sp_maker_header(m);
	sp_maker_file(m, 1, SP_FILE_REGULAR, "/d/a.jpg");
	sp_maker_event(m, SP_EV_open, 1, 100, 3);
	sp_maker_event(m, SP_EV_read, 1, 200, 4096);
	sp_maker_jpeg(m, 300, 8, 8, SP_DECODE_FINISHED);
}

/* Names that an output could take for something else, as files, labels, threads and notes. */
static void make_hostile_seed(void)
{
	static const char *const names[] =
		{"/\033]0;title\007\033[2J",  "/two\nlines\r",	   "/\u202E\u2066gpj.exe",
		 "/</script><b>&\"'",	      "=cmd|'/C calc'!A1", "@SUM(A1)",
		 "/\xC0\xAF\xFF\xED\xA0\x80", "/../../etc/passwd", ""};
	struct sp_maker m;

	begin(&m, 0);
	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t bytes = strlen(names[i]);

		sp_maker_file(&m, i + 2, SP_FILE_REGULAR, names[i]);
		sp_maker_event(&m, SP_EV_read, i + 2, 100, 10);
		sp_maker_define(&m, SP_DEFINE_NAME, i + 1, names[i], bytes);
		sp_maker_event(&m, SP_EV_nvtx_range, i + 1, 100, 0);
		sp_maker_define(&m, SP_DEFINE_NOTE, 0, names[i], bytes);
		sp_maker_define(&m, SP_DEFINE_THREAD, 0, names[i], bytes);
	}
	sp_maker_block(&m, SP_BLOCK_LAST);
	put(&m, "hostile");
}

static void make_reader_seeds(void)
{
	struct sp_maker m, other;

	begin(&m, 0);
	sp_maker_block(&m, SP_BLOCK_LAST);
	put(&m, "clean");
	begin(&m, 1);
	sp_maker_block(&m, 0);
	sp_maker_free(&m, 64, 0);
	sp_maker_event(&m, SP_EV_write, 0, 10, -5);
	sp_maker_hole(&m);
	sp_maker_event(&m, SP_EV_poll, 1, 200000, 1);
	sp_maker_window(&m, 256);
	put(&m, "killed");
	begin(&m, 0);
	sp_maker_define(&m, SP_DEFINE_COMMAND, 0, "python\0t.py", 11);
	sp_maker_define(&m, SP_DEFINE_COVERAGE, 0, "libjpeg\tabsent\t", 15);
	sp_maker_define(&m, SP_DEFINE_NOTE, 0, "note", 4);
	sp_maker_define(&m, SP_DEFINE_THREAD, 0, "loader", 6);
	sp_maker_block(&m, SP_BLOCK_LAST);
	begin(&other, 0);
	other.header.tid = 12;
	other.header.stream_id++;
	sp_maker_block(&other, SP_BLOCK_LAST);
	sp_maker_append(&m, other.bytes, other.size);
	sp_maker_finish(&other);
	put(&m, "two");
	make_hostile_seed();
}

static void make_codec_seeds(void)
{
	uint8_t *payload = malloc(sp_encode_scratch_bytes(64));
	struct sp_payload_metadata facts;
	struct sp_maker m;
	size_t n;

	begin(&m, 0);
	m.slot_count = 64; /* those after the ones at hand are holes */
	n = sp_payload_encode(payload, m.slots, SP_BLOCK_SLOTS_MAX, 0, 64, 1, &facts);
	if (sp_maker_write(folder, "mixed", payload, n) < 0)
		exit(EXIT_FAILURE);
	sp_maker_finish(&m);
	free(payload);
}

/* Inputs of fuzz_events.c: operations by their first byte, numbers below 32 as eight times
 * themselves. */
static uint8_t *put_range(uint8_t *p, uint8_t kind, uint8_t name, uint16_t ticks)
{
	const uint8_t event[] =
		{0, 1, kind, (uint8_t)(name << 3), 4, (uint8_t)ticks, (uint8_t)(ticks >> 8), 0};

	memcpy(p, event, sizeof(event));
	return p + sizeof(event);
}

static uint8_t *put_definition(uint8_t *p, uint8_t what, uint8_t id, const void *bytes, uint8_t n)
{
	const uint8_t define[] = {2, (uint8_t)(what << 3), (uint8_t)(id << 3), 1, n};

	memcpy(p, define, sizeof(define));
	memcpy(p + sizeof(define), bytes, n);
	return p + sizeof(define) + n;
}

static void make_events_seeds(void)
{
	static const char *const names[] = {"enumerate(DataLoader)#_MultiProcessingDataLoaderIter._"
					    "_next__",
					    "Optimizer.step#SGD.step",
					    "Optimizer.zero_grad#SGD.zero_grad",
					    "gloo:all_reduce",
					    "fc1\tLinear\t[8, 4]",
					    "paddle Adam.step"};
	const struct sp_file_metadata file = {.type = SP_FILE_REGULAR, .fd = 3};
	uint8_t bytes[4096], *p = bytes;

	for (uint8_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		p = put_definition(p, SP_DEFINE_NAME, i + 1, names[i], (uint8_t)strlen(names[i]));
	p = put_definition(p, SP_DEFINE_FILE, 1, &file, sizeof(file));
	for (int i = 0; i < 12; i++) {
		p = put_range(p, SP_EV_torch_range, 1, 5000);
		p = put_range(p, SP_EV_read, 1, 100);
		p = put_range(p, SP_EV_torch_backward, 0, 60000);
		p = put_range(p, SP_EV_torch_range, 2, 3000);
		p = put_range(p, SP_EV_torch_range, 3, 300);
	}
	*p++ = 6; /* another thread */
	*p++ = 12 << 3;
	*p++ = 10 << 3;
	for (int i = 0; i < 12; i++) {
		p = put_range(p, SP_EV_read, 1, 1000);
		p = put_range(p, SP_EV_python_call, 6, 20000);
	}
	if (sp_maker_write(folder, "steps", bytes, (size_t)(p - bytes)) < 0)
		exit(EXIT_FAILURE);
}

static void make_stack_seed(void)
{
	static const char path[] = "/proc/self/exe";
	const struct sp_object_metadata object = {0x1000, UINT64_MAX, 0x1000};
	const struct sp_slow_call_metadata call = {0, 5000, SP_EV_cudaMemcpy, 0};
	const uint64_t addresses[] = {0x2000, 0x3000, 0x10};
	uint8_t bytes[512], whole[sizeof(object) + sizeof(path) - 1], *p = bytes;

	memcpy(whole, &object, sizeof(object));
	memcpy(whole + sizeof(object), path, sizeof(path) - 1);
	p = put_definition(p, SP_DEFINE_OBJECT, 1, whole, sizeof(whole));
	p = put_definition(p, SP_DEFINE_BUILD, 1, "01234567890123456789", 20);
	p = put_definition(p, SP_DEFINE_STACK, 1, addresses, sizeof(addresses));
	p = put_definition(p, SP_DEFINE_SLOW, 1, &call, sizeof(call));
	p = put_range(p, SP_EV_read, 0, 5000);
	if (sp_maker_write(folder, "stack", bytes, (size_t)(p - bytes)) < 0)
		exit(EXIT_FAILURE);
}

/* The steps of a trainer, and then a sampler's stream of it. */
static void make_samples_seed(void)
{
	static const char text[] = "12345678/a/b.py\tload";
	const uint32_t stack[] = {1, 1, 0};
	const struct sp_sampler_metadata counts = {.rate = 100, .ticks = 5, .samples = 5};
	struct sp_python_sample samples[3] = {{.samples = 1}};
	uint8_t bytes[1024], *p = bytes;

	for (uint32_t i = 0; i < 3; i++)
		samples[i] = (struct sp_python_sample){.at = 1000 * i,
						       .pid = 10,
						       .tid = 10,
						       .stack = i,
						       .samples = 1,
						       .span_us = 10000 * i,
						       .state = 'R'};
	p = put_definition(p, SP_DEFINE_NAME, 1, "Optimizer.step#SGD.step", 23);
	for (int i = 0; i < 3; i++) {
		p = put_range(p, SP_EV_read, 1, 1000);
		p = put_range(p, SP_EV_torch_backward, 0, 6000);
		p = put_range(p, SP_EV_torch_range, 1, 3000);
	}
	*p++ = 255;
	p = put_definition(p, SP_DEFINE_PYTHON_FRAME, 1, text, sizeof(text) - 1);
	p = put_definition(p, SP_DEFINE_PYTHON_STACK, 1, stack, sizeof(stack));
	p = put_definition(p, SP_DEFINE_SAMPLES, 0, samples, sizeof(samples));
	p = put_definition(p, SP_DEFINE_SAMPLER, 0, &counts, sizeof(counts));
	if (sp_maker_write(folder, "samples", bytes, (size_t)(p - bytes)) < 0)
		exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return EXIT_FAILURE;
	folder = argv[1];
	make_reader_seeds();
	folder = argv[2];
	make_codec_seeds();
	folder = argv[3];
	make_events_seeds();
	make_stack_seed();
	make_samples_seed();
	return EXIT_SUCCESS;
}

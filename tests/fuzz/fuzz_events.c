/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole analyzer on sound files of senseless events and definitions, which random bytes do not
 * reach: they are compressed and protected by three hashes. The input is a program for the maker, a
 * step an operation and what it takes; where it ends, the rest is zeros.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tests/fuzz/whole.h"
#include "tests/unit/common/trace_maker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum operation {
	EVENT,	  /* kind, arg, ticks, value */
	AROUND,	  /* kind, arg, ticks before now, value */
	DEFINE,	  /* what, id, bytes, the bytes */
	EXTRA,	  /* three words */
	HOLE,	  /* - */
	BLOCK,	  /* flags */
	THREAD,	  /* tid, pid: the file of another thread */
	LONG_AGO, /* ticks: back in time */
	OPERATIONS,
	SAMPLER = 255, /* the file of a sampler */
};

#define SLOTS_MAX 2000u

struct input {
	const uint8_t *at, *end;
	uint32_t slots;
};

/* A number of one to eight bytes, and a first byte with their count. Most are small. */
static uint64_t number(struct input *in)
{
	static const uint8_t bytes_of[] = {0, 1, 1, 1, 2, 2, 4, 8};
	uint64_t ret = 0;
	size_t bytes;

	if (in->at == in->end)
		return 0;
	bytes = bytes_of[*in->at & 7];
	if (bytes == 0)
		return *in->at++ >> 3;
	in->at++;
	if (bytes > (size_t)(in->end - in->at))
		bytes = (size_t)(in->end - in->at);
	memcpy(&ret, in->at, bytes);
	in->at += bytes;
	return ret;
}

static void define(struct sp_maker *m, struct input *in)
{
	uint32_t what = (uint32_t)number(in) % 32, id = (uint32_t)number(in);
	size_t bytes = number(in) % 600;

	if (bytes > (size_t)(in->end - in->at))
		bytes = (size_t)(in->end - in->at);
	in->slots += (uint32_t)bytes / SP_SLOT_BLOB_BYTES;
	sp_maker_define(m, (enum sp_define)what, id, in->at, bytes);
	in->at += bytes;
}

static void begin(struct sp_maker *m, uint32_t pid, uint32_t tid)
{
	sp_maker_init(m, pid, tid, tid % 2);
	m->header.flags |= pid == SAMPLER ? SP_HEADER_SAMPLER : 0;
	sp_maker_header(m);
}

/* A file of its own, as in a concatenation. */
static void next_file(struct sp_maker *all, struct sp_maker *m, uint32_t pid, uint32_t tid)
{
	sp_maker_block(m, SP_BLOCK_LAST);
	sp_maker_append(all, m->bytes, m->size);
	sp_maker_finish(m);
	begin(m, pid, tid);
}

static void next_thread(struct sp_maker *all, struct sp_maker *m, struct input *in)
{
	uint32_t tid = (uint32_t)number(in) % 8 + 10, pid = (uint32_t)number(in) % 2 + 10;

	next_file(all, m, pid, tid);
}

static void step(struct sp_maker *all, struct sp_maker *m, struct input *in)
{
	unsigned byte = *in->at++, operation = byte % OPERATIONS;
	uint64_t a, b, c, d;

	if (byte == SAMPLER) {
		next_file(all, m, SAMPLER, 10);
		return;
	}

	if (operation == DEFINE) {
		define(m, in);
		return;
	}
	if (operation == THREAD) {
		next_thread(all, m, in);
		return;
	}
	if (operation == HOLE) {
		sp_maker_hole(m);
		return;
	}
	a = number(in);
	if (operation == BLOCK) {
		sp_maker_block(m, (unsigned)a & 3);
		return;
	}
	if (operation == LONG_AGO) {
		m->now_ticks -= a % m->now_ticks;
		return;
	}
	b = number(in);
	c = number(in);
	if (operation == EXTRA) {
		sp_maker_extra(m, a, b, c);
		return;
	}
	d = number(in);
	if (operation == EVENT)
		sp_maker_event(m, (uint32_t)a & 0xFFFF, (uint32_t)b, c, (int64_t)d);
	else
		sp_maker_around(m, (uint32_t)a & 0xFFFF, (uint32_t)b, m->now_ticks - c, (int64_t)d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size, 0};
	struct sp_maker all, m;

	sp_maker_init(&all, 10, 10, 0);
	begin(&m, 10, 10);
	while (in.at < in.end && in.slots++ < SLOTS_MAX)
		step(&all, &m, &in);
	sp_maker_block(&m, SP_BLOCK_LAST);
	sp_maker_append(&all, m.bytes, m.size);
	sp_fuzz_whole(all.bytes, all.size);
	sp_maker_finish(&m);
	sp_maker_finish(&all);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_trace SEED RUN: a run of drawn events. Kinds, args, durations, values, definitions, sizes
 * of blocks and endings are drawn; the same seed makes the same bytes. Threads of one process share
 * their definitions, which may come after their use.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/common/trace_maker.h"

#define NAMES 12u

static const uint32_t kinds[] = {
#define SP_EVENT(number, name, class, value, arg, extra) number,
#include "trace/events.def"
#undef SP_EVENT
	998, 999, /* of a later version */
};

struct drawing {
	uint64_t state;
	uint32_t mix[8]; /* the kinds of this trace */
	uint64_t ticks_bits;
};

static uint64_t draw(struct drawing *d, uint64_t limit)
{
	d->state ^= d->state << 13;
	d->state ^= d->state >> 7;
	d->state ^= d->state << 17;
	return d->state % limit;
}

static int64_t draw_value(struct drawing *d)
{
	switch (draw(d, 8)) {
	case 0:
		return -(int64_t)draw(d, 134);
	case 1:
		return INT64_MIN;
	case 2:
		return (int64_t)d->state;
	case 3:
		return 4096;
	default:
		return (int64_t)draw(d, 1 << 20);
	}
}

/* Some ids have no definition. */
static uint32_t draw_arg(struct drawing *d)
{
	uint32_t id = 1 + (uint32_t)draw(d, NAMES + 2);

	switch (draw(d, 4)) {
	case 0:
		return 0;
	case 1:
		return (uint32_t)SP_FILE_REGULAR << SP_FILE_TYPE_SHIFT | id;
	case 2:
		return (uint32_t)draw(d, UINT32_MAX);
	default:
		return id;
	}
}

static void add_event(struct drawing *d, struct sp_maker *m)
{
	uint32_t kind = d->mix[draw(d, sizeof(d->mix) / sizeof(d->mix[0]))];
	uint64_t ticks = draw(d, UINT64_C(1) << (1 + draw(d, d->ticks_bits)));

	sp_maker_event(m, kind, draw_arg(d), ticks, draw_value(d));
	if (draw(d, 3) == 0)
		sp_maker_extra(m, ticks / 2, draw(d, UINT64_MAX), draw(d, 2));
}

/* File ids have their type in them, names have not. */
static void add_definition(struct drawing *d, struct sp_maker *m, uint32_t pid)
{
	uint32_t id = 1 + (uint32_t)draw(d, NAMES);
	char name[96];

	if (draw(d, 2) == 0) {
		snprintf(name, sizeof(name), "/d/%u/\"\t\xC3\xA9\xFF-%u.jpg", pid, id);
		sp_maker_file(m, (uint32_t)SP_FILE_REGULAR << SP_FILE_TYPE_SHIFT | id,
			      SP_FILE_REGULAR, name);
	} else {
		snprintf(name, sizeof(name), "%s%u\t%u of a range of a longer name",
			 id % 2 ? "\t" : "", pid, id);
		sp_maker_define(m, SP_DEFINE_NAME, id, name, strlen(name));
	}
}

static void make_thread(struct drawing *d, const char *folder, uint32_t pid, uint32_t tid,
			int counter)
{
	uint64_t steps = 1 + draw(d, 600), since = 0;
	uint32_t capacity = 256;
	struct sp_maker m;
	char name[32];

	sp_maker_init(&m, pid, tid, counter);
	m.now_ticks += draw(d, UINT64_C(1) << 40);
	sp_maker_header(&m);
	for (uint64_t i = 0; i < steps; i++) {
		if (draw(d, 20) == 0)
			sp_maker_hole(&m);
		else if (draw(d, 6) == 0)
			add_definition(d, &m, pid);
		else
			add_event(d, &m);
		if (draw(d, 100) == 0) {
			sp_maker_block(&m, 0);
			since = draw(d, 4);
			if (since)
				sp_maker_free(&m, 8 * (1 + since), (uint8_t)since);
		}
	}
	while (capacity < m.slot_count)
		capacity *= 2;
	if (draw(d, 2) && capacity <= 4096)
		sp_maker_window(&m, capacity);
	else
		sp_maker_block(&m, SP_BLOCK_LAST);
	snprintf(name, sizeof(name), "%u-%u.zst", pid, tid);
	if (sp_maker_write(folder, name, m.bytes, m.size) < 0)
		abort();
	sp_maker_finish(&m);
}

int main(int argc, char **argv)
{
	struct drawing d = {.ticks_bits = 8};

	if (argc != 3)
		return EXIT_FAILURE;
	d.state = (strtoull(argv[1], NULL, 10) + 1) * UINT64_C(0x9E3779B97F4A7C15);
	for (int i = 0; i < 20; i++)
		draw(&d, 2);
	for (size_t i = 0; i < sizeof(d.mix) / sizeof(d.mix[0]); i++)
		d.mix[i] = kinds[draw(&d, sizeof(kinds) / sizeof(kinds[0]))];
	d.ticks_bits += draw(&d, 24);
	for (uint32_t pid = 10, processes = 1 + (uint32_t)draw(&d, 3), counter = draw(&d, 2) != 0;
	     pid < 10 + processes; pid++)
		for (uint32_t tid = pid, threads = 1 + (uint32_t)draw(&d, 3);
		     tid < pid + 10 * threads; tid += 10)
			make_thread(&d, argv[2], pid, tid, (int)counter);
	return EXIT_SUCCESS;
}

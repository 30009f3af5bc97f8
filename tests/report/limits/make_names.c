/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_names KIND COUNT BYTES FOLDER: a run that asks for much memory. KIND: what each of COUNT is;
 * BYTES: of each name. `noise` before a KIND makes names that do not compress.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/common/trace_maker.h"

#define AT_ONCE 16u /* definitions a block */

static char name[4352];
static size_t name_bytes;
static int is_noise;
static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	return random_state ^= random_state << 17;
}

static void name_make(uint32_t number)
{
	memset(name, 'x', name_bytes);
	for (size_t i = 0; is_noise && i < name_bytes; i++)
		name[i] = (char)('!' + random_next() % 90);
	snprintf(name + name_bytes - 9, 10, "%08x", number);
	name[name_bytes - 1] = 'x';
}

static void files(struct sp_maker *m, uint32_t count)
{
	for (uint32_t i = 1; i <= count; i++) {
		name_make(i);
		name[name_bytes] = '\0';
		sp_maker_file(m, i, SP_FILE_REGULAR, name);
		sp_maker_event(m, SP_EV_read, i, 100, 10);
		if (i % AT_ONCE == 0)
			sp_maker_block(m, 0);
	}
}

static void labels(struct sp_maker *m, uint32_t count)
{
	for (uint32_t i = 1; i <= count; i++) {
		name_make(i);
		sp_maker_define(m, SP_DEFINE_NAME, i, name, name_bytes);
		sp_maker_event(m, SP_EV_nvtx_range, i, 100, 0);
		if (i % AT_ONCE == 0)
			sp_maker_block(m, 0);
	}
}

/* Each names a file with the largest id that a process may have. */
static void ids(struct sp_maker *m, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		m->header.pid = m->header.tid = 1000 + i;
		sp_maker_header(m);
		sp_maker_file(m, 1u << 23, SP_FILE_REGULAR, "a");
		sp_maker_file(m, (1u << 24) - 1, SP_FILE_REGULAR, "b");
		sp_maker_define(m, SP_DEFINE_NAME, (1u << 20) - 1, "c", 1);
		sp_maker_block(m, SP_BLOCK_LAST);
	}
}

static void threads(struct sp_maker *m, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		m->header.tid = 1000 + i;
		sp_maker_header(m);
		sp_maker_event(m, SP_EV_read, 0, 100, 10);
		sp_maker_block(m, SP_BLOCK_LAST);
	}
}

static void slow(struct sp_maker *m, uint32_t count)
{
	struct sp_slow_call_metadata call = {.ticks = 1000, .kind = SP_EV_read};
	char blob[sizeof(call) + sizeof(name)];

	for (uint32_t i = 1; i <= count; i++) {
		name_make(i);
		call.start = i;
		memcpy(blob, &call, sizeof(call));
		memcpy(blob + sizeof(call), name, name_bytes - sizeof(call));
		sp_maker_define(m, SP_DEFINE_LINE, i, blob, name_bytes);
		sp_maker_define(m, SP_DEFINE_STACK, i, name, name_bytes / 8 * 8);
		sp_maker_define(m, SP_DEFINE_OBJECT, i, name, name_bytes);
		sp_maker_define(m, SP_DEFINE_SLOW, i, &call, sizeof(call));
		if (i % (AT_ONCE / 4) == 0)
			sp_maker_block(m, 0);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *kind;
		void (*make)(struct sp_maker *m, uint32_t count);
	} kinds[] = {{"files", files},
		     {"labels", labels},
		     {"ids", ids},
		     {"threads", threads},
		     {"slow", slow}};
	struct sp_maker m;

	is_noise = argc > 1 && strcmp(argv[1], "noise") == 0;
	argv += is_noise;
	if (argc - is_noise != 5)
		return EXIT_FAILURE;
	name_bytes = strtoul(argv[3], NULL, 10);
	if (name_bytes < 32 || name_bytes > 4300)
		return EXIT_FAILURE;
	sp_maker_init(&m, 100, 100, 0);
	sp_maker_header(&m);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].kind, argv[1]) == 0)
			kinds[i].make(&m, (uint32_t)strtoul(argv[2], NULL, 10));
	sp_maker_put(&m, argv[4], "a-100-100.zst");
	return EXIT_SUCCESS;
}

/*
 * Writes the seed corpora: make_seeds READER_FOLDER CODEC_FOLDER. The corpora are in the tree; this
 * is how they were made, and how to make them anew after a change of the format.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/trace_maker.h"
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
	static const char *const names[] = {
		"/\033]0;title\007\033[2J", "/two\nlines\r", "/\u202E\u2066gpj.exe", "/</script><b>&\"'",
		"=cmd|'/C calc'!A1", "@SUM(A1)", "/\xC0\xAF\xFF\xED\xA0\x80", "/../../etc/passwd", ""};
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
	struct sp_payload_facts facts;
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

int main(int argc, char **argv)
{
	if (argc != 3)
		return EXIT_FAILURE;
	folder = argv[1];
	make_reader_seeds();
	folder = argv[2];
	make_codec_seeds();
	return EXIT_SUCCESS;
}

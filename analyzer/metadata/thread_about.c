/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metadata/thread_about.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/order.h"

#define FILE_SYSTEM_BYTES 32u
#define TIMES_MAX (UINT64_C(1) << 32)

static void usage_fields(struct sp_digest_fields *f, struct sp_thread_usage *u)
{
	sp_digest_bool(f, &u->is_known);
	if (!u->is_known)
		return;
	sp_digest_number(f, &u->whole.cpu_ns);
	sp_digest_number(f, &u->whole.ready_ns);
	sp_digest_number(f, &u->whole.major_faults);
	sp_digest_number(f, &u->whole.blocks_read);
	sp_digest_number(f, &u->whole.process_cpu_ns);
	sp_digest_number(f, &u->whole.process_major_faults);
	sp_digest_number(f, &u->whole.process_ready_ns);
	sp_digest_number(f, &u->whole.process_threads);
}

/* A line of coverage or a note, and how often the process said it. */
struct reported_line {
	bool is_note;
	uint64_t times;
	uint8_t *text;
	uint32_t bytes;
};

SP_ORDER(compare_reported, struct reported_line,
	 SP_UP(is_note) ?: memcmp(x->text, y->text, x->bytes < y->bytes ? x->bytes : y->bytes)
	 ?: SP_UP(bytes))

static void reported_fields(struct sp_digest_fields *f, struct reported_line *t)
{
	sp_digest_bool(f, &t->is_note);
	sp_digest_number(f, &t->times);
	sp_digest_bytes(f, &t->text, &t->bytes);
}

/* In the order of the texts, so that the order of reading does not count. */
static void write_reported(struct sp_digest_fields *f, const struct sp_metadata *metadata,
			   const struct sp_process_metadata *image)
{
	struct reported_line *list = calloc(image->reported_count + 1u, sizeof(*list));
	uint32_t n = 0;

	f->is_bad |= !list;
	for (uint32_t i = 0; list && i < image->reported_count; i++) {
		bool is_note = image->reported[i] & SP_REPORTED_NOTE;
		const struct sp_tally *tally = is_note ? &metadata->notes : &metadata->coverage;
		size_t bytes;
		const char *text =
			sp_string_table_text(&tally->names, image->reported[i] & ~SP_REPORTED_NOTE,
					     &bytes);

		list[i] = (struct reported_line){is_note, 1, (uint8_t *)text, (uint32_t)bytes};
	}
	if (list)
		qsort(list, image->reported_count, sizeof(*list), compare_reported);
	for (uint32_t i = 0; list && i < image->reported_count; i++) {
		if (n && compare_reported(&list[n - 1], &list[i]) == 0)
			list[n - 1].times++;
		else
			list[n++] = list[i];
	}
	sp_digest_u32(f, &n);
	for (uint32_t i = 0; list && i < n; i++)
		reported_fields(f, &list[i]);
	free(list);
}

static void take_reported(struct sp_digest_fields *f, struct sp_metadata *metadata)
{
	uint32_t n = 0;

	sp_digest_u32(f, &n);
	for (uint32_t i = 0; i < n && !f->is_bad; i++) {
		struct reported_line t = {.times = 0};
		struct sp_tally *tally;

		reported_fields(f, &t);
		tally = t.is_note ? &metadata->notes : &metadata->coverage;
		if (!f->is_bad && t.times < TIMES_MAX)
			sp_tally_add(tally, (const char *)t.text, t.bytes, t.times);
		free(t.text);
	}
}

static void write_file(struct sp_digest_fields *f, const struct sp_metadata *metadata,
		       uint32_t number)
{
	const char *place = sp_metadata_file_system(metadata, number);
	char file_system[FILE_SYSTEM_BYTES] = "";
	size_t bytes;
	uint8_t *path = (uint8_t *)sp_string_table_text(&metadata->files, number, &bytes);
	uint32_t size = (uint32_t)bytes;

	strncpy(file_system, place ? place : "", sizeof(file_system) - 1);
	sp_digest_text(f, file_system, sizeof(file_system));
	sp_digest_bytes(f, &path, &size);
}

static uint32_t take_file(struct sp_digest_fields *f, struct sp_metadata *metadata, bool is_wanted)
{
	char file_system[FILE_SYSTEM_BYTES];
	uint32_t size = 0, number = SP_STRINGS_REST;
	uint8_t *path = NULL;

	sp_digest_text(f, file_system, sizeof(file_system));
	file_system[sizeof(file_system) - 1] = '\0';
	sp_digest_bytes(f, &path, &size);
	if (!f->is_bad && is_wanted && size)
		number = sp_metadata_add_file(metadata, (const char *)path, size, file_system);
	free(path);
	return number;
}

static bool is_first(const struct sp_index *index, uint32_t stream)
{
	return stream == 0 || index->streams[stream - 1]->image != index->streams[stream]->image;
}

void sp_thread_about_write(struct sp_digest_fields *f, const struct sp_metadata *metadata,
			   const struct sp_index *index, uint32_t stream, const uint32_t *files,
			   uint32_t file_count)
{
	const struct sp_process_metadata *image = &metadata->images[index->streams[stream]->image];
	struct sp_thread_usage usage = metadata->usages[stream];
	uint8_t *command = (uint8_t *)image->command;
	uint32_t command_bytes = (uint32_t)image->command_bytes;
	bool is_whole = is_first(index, stream);

	sp_digest_text(f, metadata->thread_names[stream], sizeof(metadata->thread_names[0]));
	usage_fields(f, &usage);
	sp_digest_u32(f, &file_count);
	for (uint32_t i = 0; i < file_count; i++)
		write_file(f, metadata, files[i]);
	sp_digest_bool(f, &is_whole);
	if (!is_whole)
		return;
	sp_digest_bytes(f, &command, &command_bytes);
	write_reported(f, metadata, image);
}

static int take_files(struct sp_digest_fields *f, struct sp_metadata *metadata,
		      struct sp_digested *digested, bool with_files)
{
	uint32_t n = 0;

	sp_digest_u32(f, &n);
	if (f->is_bad || n > (size_t)(f->in.end - f->in.at))
		return 0;
	digested->files = calloc(n + 1u, sizeof(*digested->files));
	if (!digested->files)
		return -ENOMEM;
	for (uint32_t i = 0; i < n && !f->is_bad; i++)
		digested->files[digested->file_count++] = take_file(f, metadata, with_files);
	return 0;
}

static int take_thread(struct sp_metadata *metadata, const struct sp_index *index, uint32_t stream,
		       bool with_files)
{
	struct sp_digested *digested = index->streams[stream]->digested;
	struct sp_digest_fields f = sp_digest_fields_of(digested->about, digested->about_bytes);
	struct sp_thread_usage usage = {.is_known = false};
	uint8_t *command = NULL;
	uint32_t command_bytes = 0;
	bool is_whole = false;
	int r;

	sp_digest_text(&f, metadata->thread_names[stream], sizeof(metadata->thread_names[0]));
	metadata->thread_names[stream][sizeof(metadata->thread_names[0]) - 1] = '\0';
	usage_fields(&f, &usage);
	metadata->usages[stream] = usage;
	r = take_files(&f, metadata, digested, with_files);
	sp_digest_bool(&f, &is_whole);
	if (r == 0 && is_whole) {
		sp_digest_bytes(&f, &command, &command_bytes);
		if (command_bytes && command)
			r = sp_metadata_add_command(metadata, index->streams[stream]->image,
						    command, command_bytes);
		free(command);
		take_reported(&f, metadata);
	}
	if (!f.is_bad && f.in.at < f.in.end && !digested->tail)
		sp_digest_bytes(&f, &digested->tail, &digested->tail_bytes);
	free(digested->about);
	digested->about = NULL;
	digested->about_bytes = 0;
	return r;
}

int sp_thread_abouts_take(struct sp_metadata *metadata, const struct sp_index *index,
			  bool with_files)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < index->stream_count; i++)
		if (index->streams[i]->digested)
			r = take_thread(metadata, index, i, with_files);
	return r;
}

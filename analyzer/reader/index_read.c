/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/reader/index_read.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/base/jobs.h"
#include "analyzer/reader/arenas.h"
#include "analyzer/reader/call_paths.h"
#include "analyzer/reader/digest.h"
#include "analyzer/reader/index_join.h"
#include "analyzer/reader/process_states.h"
#include "analyzer/reader/window.h"
#include "trace/arenas/arena_files.h"

#define WALK_AHEAD_BYTES 4096u
#define CALLS_MAX 1024u /* of a file: more than a launcher leaves */

static int add_file(struct sp_index *index, const char *path)
{
	struct sp_file *files;

	if ((index->file_count & (index->file_count - 1)) == 0) {
		size_t room = index->file_count ? 2 * (size_t)index->file_count : 1;

		files = realloc(index->files, room * sizeof(*files));
		if (!files)
			return -ENOMEM;
		index->files = files;
	}
	files = &index->files[index->file_count];
	*files = (struct sp_file){.path = strdup(path), .memory_fd = -1};
	if (!files->path)
		return -ENOMEM;
	index->file_count++;
	return 0;
}

static int is_trace_name(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	/* A hidden file is one that a recorder is still making. */
	return n > 4 && entry->d_name[0] != '.' && strcmp(entry->d_name + n - 4, ".zst") == 0;
}

/* A recorder makes regular files alone. Other entries are not opened, because an open alone could
 * have an effect. */
static int entry_refuse(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? 0 : S_ISLNK(st.st_mode) ? -ELOOP : -EINVAL;
}

static int add_directory(struct sp_index *index, const char *path)
{
	struct dirent **entries;
	int n = scandir(path, &entries, is_trace_name, alphasort), r = 0;

	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		char *name = NULL;

		if (r == 0 && asprintf(&name, "%s/%s", path, entries[i]->d_name) < 0)
			r = -ENOMEM;
		if (r == 0)
			r = add_file(index, name);
		if (r == 0)
			index->files[index->file_count - 1].error = entry_refuse(name);
		free(name);
		free(entries[i]);
	}
	free(entries);
	return r;
}

static int hex_read(const char *text, uint64_t *ret)
{
	char digits[17] = "";
	char *end;

	memcpy(digits, text, strnlen(text, 16));
	*ret = strtoull(digits, &end, 16);
	return *end == 0 && end == digits + 16 ? 0 : -EINVAL;
}

/* The run that a directory holds, by the name of its marker. */
static int run_of_directory(const char *path, uint64_t ret_token[2])
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	int r = -ENOENT;

	while (directory && r < 0 && (entry = readdir(directory)) != NULL)
		if (strncmp(entry->d_name, "0-run-", 6) == 0 && strlen(entry->d_name) == 42 &&
		    hex_read(entry->d_name + 6, &ret_token[0]) == 0 &&
		    hex_read(entry->d_name + 22, &ret_token[1]) == 0)
			r = 0;
	if (directory)
		closedir(directory);
	return r;
}

/* The tails that processes of the run have in memory are taken before their files are read. */
static int add_arenas(struct sp_index *index, const char *path)
{
	uint64_t token[2];
	char name[64];
	int fd;

	if (run_of_directory(path, token) < 0)
		return 0;
	sp_arenas_to_files(path, token);
	fd = sp_arenas_copy(path, token);
	if (fd < 0)
		return 0;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (add_file(index, name) < 0) {
		close(fd);
		return -ENOMEM;
	}
	index->files[index->file_count - 1].memory_fd = fd;
	return 0;
}

int sp_index_add(struct sp_index *index, const char *path)
{
	int r = add_arenas(index, path);

	if (r == 0)
		r = add_directory(index, path);

	/* Anything but a directory counts as a file; open(2) fails later where it is not one. */
	return r == -ENOTDIR || r == -ENOENT || r == -EACCES ? add_file(index, path) : r;
}

struct scratch {
	struct sp_source source;
	struct sp_window window;
};

static int scratch_init(struct scratch *s)
{
	int r = sp_source_init(&s->source);

	return r ? r : sp_window_init(&s->window);
}

static void scratch_finish(struct scratch *s)
{
	sp_source_finish(&s->source);
	sp_window_finish(&s->window);
}

/* The segment of a frame of this stream at this offset: the last segment, or a new one. */
static struct sp_segment *segment_at(struct sp_index *index, struct sp_file *file,
				     uint64_t stream_id, uint64_t at)
{
	struct sp_segment *s = file->last_segment;

	if (s && s->stream_id == stream_id)
		return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->stream_id = stream_id;
	s->file = (uint32_t)(file - index->files);
	s->at = at;
	s->window_at = UINT64_MAX;
	if (file->last_segment)
		file->last_segment->next = s;
	else
		file->segments = s;
	file->last_segment = s;
	return s;
}

/* A header may stand twice, with older words of the process image: counts only grow. */
static void words_keep(struct sp_file_header *h, const struct sp_file_header *before)
{
	const size_t end = offsetof(struct sp_file_header, reserved);

	for (size_t at = offsetof(struct sp_file_header, process_lost); at < end; at += 8) {
		uint64_t older, word, was, is;

		memcpy(&older, (const uint8_t *)before + at, sizeof(older));
		memcpy(&word, (const uint8_t *)h + at, sizeof(word));
		if (sp_checked_read(older, &was) == 0 &&
		    (sp_checked_read(word, &is) < 0 || is < was))
			memcpy((uint8_t *)h + at, &older, sizeof(older));
	}
}

static int note_header(struct sp_index *index, struct sp_file *file, const struct sp_unit *u)
{
	struct sp_segment *s = segment_at(index, file, u->header.stream_id, u->at);
	struct sp_file_header before;

	if (!s)
		return -ENOMEM;
	file->headers++;
	if (!s->header)
		s->header = calloc(1, sizeof(*s->header));
	if (!s->header)
		return -ENOMEM;
	before = *s->header;
	*s->header = u->header;
	words_keep(s->header, &before);
	memcpy(s->host, u->header.host, sizeof(s->host) - 1);
	s->pid = u->header.pid;
	s->tid = u->header.tid;
	sp_clock_learn(&s->clock, &u->header.opened);
	if (u->header.writer_version > file->newest_writer)
		file->newest_writer = u->header.writer_version;
	return 0;
}

static int note_block(struct sp_index *index, struct sp_file *file, const struct sp_unit *u)
{
	const struct sp_block_header *b = &u->block;
	struct sp_segment *s = segment_at(index, file, b->stream_id, u->at);

	if (!s)
		return -ENOMEM;
	if (u->cut)
		sp_file_damaged(file, SP_DAMAGE_CUT, u->at, u->bytes);
	if (!s->blocks || b->first_index < s->first)
		s->first = b->first_index;
	file->blocks++;
	file->zstd_bytes += b->zstd_bytes;
	file->payload_bytes += b->payload_bytes;
	s->blocks++;
	if (b->first_index + b->slots > s->limit) {
		s->limit = b->first_index + b->slots;
		s->events += b->events;
	}
	s->has_last |= (b->flags & SP_BLOCK_LAST) != 0 && !u->cut;
	s->lost = b->lost > s->lost ? b->lost : s->lost;
	if (!s->header) {
		memcpy(s->host, b->host, sizeof(b->host) - 1);
		s->pid = b->pid;
		s->tid = b->tid;
	}
	sp_clock_learn(&s->clock, &b->published);
	return 0;
}

static void note_counts(struct sp_file *file, struct sp_segment *s, const struct sp_unit *u)
{
	const struct sp_window_header *w = &u->window;
	uint64_t lost = 0;

	for (int i = 0; i < SP_LOST_CAUSES; i++) {
		if (sp_checked_read(w->lost[i], &s->lost_by[i]) < 0) {
			s->lost_by[i] = 0;
			sp_file_damaged(file, SP_DAMAGE_COUNT, u->at, 0);
		}
		lost += s->lost_by[i];
	}
	s->lost = lost > s->lost ? lost : s->lost;
	s->mark = w->mark;
	/* A mark has neither generation nor check; a slot with such bits is damaged. */
	if (s->mark.what >> 16 & 0xFFFF) {
		s->mark.what = 0;
		s->unfinished++;
	}
	s->mark_address = w->mark_address;
}

static int note_window(struct sp_index *index, struct sp_file *file, const struct sp_unit *u,
		       struct scratch *scratch)
{
	struct sp_segment *s = segment_at(index, file, u->window.stream_id, u->at);
	int r;

	if (!s)
		return -ENOMEM;
	if (u->cut)
		sp_file_damaged(file, SP_DAMAGE_CUT, u->at, u->bytes);
	if (!s->blocks)
		s->first = u->window.first_index;
	file->windows++;
	if (!s->blocks && !s->header) {
		s->pid = u->window.pid;
		s->tid = u->window.tid;
	}
	sp_clock_learn(&s->clock, &u->window.made);
	note_counts(file, s, u);
	r = sp_window_read(&scratch->window, &scratch->source, u->at, s->stream_id);
	if (r < 0)
		return r;
	if (r == 1) {
		s->window_at = u->at;
		s->limit = sp_window_limit(&scratch->window, s->limit);
		s->window_capacity = scratch->window.header.capacity;
		s->window_newest = sp_window_newest(&scratch->window);
		s->unfinished += sp_window_unfinished(&scratch->window);
	}
	return 0;
}

static int note_call(struct sp_file *file, const struct sp_unit *u)
{
	struct sp_call_frame *calls;

	if (file->call_count == CALLS_MAX)
		return 0;
	if ((file->call_count & (file->call_count - 1)) == 0) {
		size_t room = file->call_count ? 2 * (size_t)file->call_count : 1;

		calls = realloc(file->calls, room * sizeof(*calls));
		if (!calls)
			return -ENOMEM;
		file->calls = calls;
	}
	file->calls[file->call_count++] = u->call;
	return 0;
}

static int note_unit(struct sp_index *index, struct sp_file *file, const struct sp_unit *u,
		     struct scratch *scratch)
{
	switch (u->kind) {
	case SP_UNIT_HEADER:
		return note_header(index, file, u);
	case SP_UNIT_BLOCK:
		return note_block(index, file, u);
	case SP_UNIT_WINDOW:
		return note_window(index, file, u, scratch);
	case SP_UNIT_RUN:
		file->runs++;
		file->marker = u->run;
		return 0;
	case SP_UNIT_CALL:
		return note_call(file, u);
	case SP_UNIT_FREE:
	case SP_UNIT_UNKNOWN:
		file->frees++;
		file->free_bytes += u->bytes;
		return 0;
	case SP_UNIT_DAMAGE:
		sp_file_damaged(file, u->damage, u->at, u->bytes);
		if (u->damage == SP_DAMAGE_VERSION)
			file->damage.version = u->version;
		return 0;
	}
	return 0;
}

static void note_truncation(struct sp_file *file)
{
	for (struct sp_segment *s = file->segments; s; s = s->next)
		file->truncated |= !s->has_last && s->window_at == UINT64_MAX &&
				   !(s->header && s->header->flags & SP_HEADER_WRITE_MODE);
}

static int read_file(struct sp_index *index, struct sp_file *file, struct scratch *scratch)
{
	struct sp_walk walk;
	struct sp_unit unit;
	int r = file->error ? file->error
			    : sp_source_open(&scratch->source, file->path, WALK_AHEAD_BYTES);

	if (r < 0) {
		file->error = r;
		return 0;
	}
	file->size_bytes = scratch->source.size_bytes;
	file->is_digest = sp_digest_is(&scratch->source);
	if (file->is_digest) {
		r = sp_digest_read(index, file, &scratch->source);
		sp_source_close(&scratch->source);
		file->error = r == -ENOMEM ? 0 : r;
		return r == -ENOMEM ? r : 0;
	}
	sp_walk_init(&walk, &scratch->source, 0);
	while ((r = sp_walk_next(&walk, &unit)) > 0) {
		r = note_unit(index, file, &unit, scratch);
		if (r < 0)
			break;
	}
	if (r < 0 && r != -ENOMEM) {
		file->error = r;
		sp_file_damaged(file, SP_DAMAGE_READ, walk.at, 0);
		r = 0;
	}
	note_truncation(file);
	sp_source_close(&scratch->source);
	return r;
}

struct index_pass {
	struct sp_index *index;
	struct scratch *scratches;
};

static int read_one(void *context, unsigned worker, uint32_t i)
{
	struct index_pass *pass = context;

	return read_file(pass->index, &pass->index->files[i], &pass->scratches[worker]);
}

int sp_index_read(struct sp_index *index, unsigned jobs)
{
	struct index_pass pass = {index, calloc(jobs, sizeof(struct scratch))};
	struct timespec now = {0, 0};
	int r = pass.scratches ? 0 : -ENOMEM;

	clock_gettime(CLOCK_REALTIME, &now);
	index->read_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	if (!index->spill)
		index->spill = sp_spill_create(SP_INDEX_MEMORY_BYTES);
	for (unsigned i = 0; r == 0 && i < jobs; i++)
		r = scratch_init(&pass.scratches[i]);
	if (r == 0)
		r = sp_jobs_run(jobs, index->file_count, read_one, &pass);
	for (unsigned i = 0; pass.scratches && i < jobs; i++)
		scratch_finish(&pass.scratches[i]);
	free(pass.scratches);
	r = r < 0 ? r : sp_index_join(index);
	if (r < 0)
		return r;
	sp_process_states_learn(index);
	sp_call_paths_learn(index);
	return 0;
}

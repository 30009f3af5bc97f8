/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/exporters/launch_matching.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#define HEADER_BYTES 4u

/* A loader's worker process. */
struct sp_batch_worker {
	uint32_t fetched, sent;	    /* batches */
	struct sp_batch_pipe *pipe; /* that takes its batches */
};

struct message {
	uint64_t end; /* offset in the pipe */
	uint64_t id;
};

struct arrival {
	uint64_t end;
	uint32_t stream;
	int64_t at_ns;
};

struct sp_batch_pipe {
	UT_hash_handle hh;
	uint64_t key;
	uint64_t written, read; /* bytes */
	uint32_t reader;	/* image; UINT32_MAX: none yet */
	bool is_off, has_header;
	uint32_t message_count, read_count;
	struct message *messages; /* BATCH_WAITING_MAX; NULL: none yet */
	struct arrival *reads;	  /* BATCH_WAITING_MAX; NULL: none yet */
};

/* A lost write would shift all later matches. */
static bool is_whole(const struct sp_report *report)
{
	const struct sp_selection *s = &report->run.selection;

	return !s->pid && !s->tid && s->from_ns == INT64_MIN && s->to_ns == INT64_MAX &&
	       report->totals.lost == 0 && report->totals.missing == 0 &&
	       report->run.metadata.files.turned_away == 0;
}

int sp_batches_init(struct sp_batches *b, const struct sp_report *report)
{
	b->report = report;
	b->is_on = is_whole(report);
	b->pipes = NULL;
	b->workers = calloc(report->run.index.image_count + 1u, sizeof(*b->workers));
	return b->workers ? 0 : -ENOMEM;
}

void sp_batches_finish(struct sp_batches *b)
{
	struct sp_batch_pipe *pipe, *next;

	HASH_ITER(hh, b->pipes, pipe, next)
	{
		HASH_DEL(b->pipes, pipe);
		free(pipe->messages);
		free(pipe->reads);
		free(pipe);
	}
	free(b->workers);
	b->workers = NULL;
}

static bool is_pipe(const struct sp_batches *b, const struct sp_record *record)
{
	size_t bytes;
	const char *name =
		sp_string_table_text(&b->report->run.metadata.files, record->file, &bytes);

	return record->file != SP_STRINGS_REST && bytes > 6 && memcmp(name, "pipe:[", 6) == 0;
}

static struct sp_batch_pipe *pipe_of(struct sp_batches *b, const struct sp_record *record)
{
	uint32_t image = b->report->run.index.streams[record->stream]->image;
	uint64_t key = (uint64_t)b->report->run.index.images[image].host << 32 | record->file;
	struct sp_batch_pipe *pipe;

	HASH_FIND(hh, b->pipes, &key, sizeof(key), pipe);
	if (pipe || HASH_COUNT(b->pipes) >= BATCH_PIPES_MAX)
		return pipe;
	pipe = calloc(1, sizeof(*pipe));
	if (!pipe)
		return NULL;
	pipe->key = key;
	pipe->reader = UINT32_MAX;
	HASH_ADD(hh, b->pipes, key, sizeof(pipe->key), pipe);
	return pipe;
}

static void turn_off(struct sp_batch_pipe *pipe)
{
	pipe->is_off = true;
	pipe->message_count = pipe->read_count = 0;
}

static void *list_make(struct sp_batch_pipe *pipe, void *list, size_t bytes, uint32_t count)
{
	if (count == BATCH_WAITING_MAX) {
		turn_off(pipe);
		return NULL;
	}
	return list ? list : calloc(BATCH_WAITING_MAX, bytes);
}

static void drop_message(struct sp_batch_pipe *pipe)
{
	pipe->message_count--;
	memmove(pipe->messages, pipe->messages + 1, pipe->message_count * sizeof(*pipe->messages));
}

static void drop_read(struct sp_batch_pipe *pipe)
{
	pipe->read_count--;
	memmove(pipe->reads, pipe->reads + 1, pipe->read_count * sizeof(*pipe->reads));
}

/* A read may end before the write that it reads from, so each waits for the other. */
static int match(struct sp_batches *b, struct sp_batch_pipe *pipe)
{
	int r = 0;

	while (r == 0 && pipe->read_count) {
		struct arrival read = pipe->reads[0];
		struct message message;

		if (!pipe->message_count) {
			if (read.end > pipe->written)
				return 0;
			drop_read(pipe);
			continue;
		}
		message = pipe->messages[0];
		if (read.end > message.end) {
			turn_off(pipe);
			return 0;
		}
		drop_read(pipe);
		if (read.end == message.end) {
			drop_message(pipe);
			r = b->arrived(b->context, message.id, read.stream, read.at_ns);
		}
	}
	return r;
}

static int take_write(struct sp_batches *b, struct sp_batch_pipe *pipe,
		      const struct sp_record *record)
{
	uint32_t image = b->report->run.index.streams[record->stream]->image;
	struct sp_batch_worker *worker = &b->workers[image];

	pipe->written += (uint64_t)record->value;
	if (record->value == HEADER_BYTES && !pipe->has_header) {
		pipe->has_header = true;
		return 0;
	}
	pipe->has_header = false;
	if (worker->sent == worker->fetched || (worker->pipe && worker->pipe != pipe))
		return match(b, pipe);
	worker->pipe = pipe;
	worker->sent++;
	pipe->messages =
		list_make(pipe, pipe->messages, sizeof(*pipe->messages), pipe->message_count);
	if (!pipe->messages)
		return pipe->is_off ? 0 : -ENOMEM;
	pipe->messages[pipe->message_count++] =
		(struct message){pipe->written, (uint64_t)(image + 1) << 32 | worker->sent};
	return match(b, pipe);
}

static int take_read(struct sp_batches *b, struct sp_batch_pipe *pipe,
		     const struct sp_record *record)
{
	uint32_t image = b->report->run.index.streams[record->stream]->image;

	if (pipe->reader != UINT32_MAX && pipe->reader != image) {
		turn_off(pipe);
		return 0;
	}
	pipe->reader = image;
	pipe->read += (uint64_t)record->value;
	pipe->reads = list_make(pipe, pipe->reads, sizeof(*pipe->reads), pipe->read_count);
	if (!pipe->reads)
		return pipe->is_off ? 0 : -ENOMEM;
	pipe->reads[pipe->read_count++] =
		(struct arrival){pipe->read, record->stream, sp_record_end_ns(record)};
	return match(b, pipe);
}

int sp_batches_take(struct sp_batches *b, const struct sp_record *record, uint64_t *ret_id)
{
	uint32_t image = b->report->run.index.streams[record->stream]->image;
	struct sp_batch_pipe *pipe;

	*ret_id = 0;
	if (!b->is_on)
		return 0;
	if (record->kind == SP_EV_python_call && record->value == SP_PHASE_loader_fetch)
		*ret_id = (uint64_t)(image + 1) << 32 | ++b->workers[image].fetched;
	if ((record->stage != SP_STAGE_ipc_read && record->stage != SP_STAGE_ipc_write) ||
	    record->value <= 0 || !is_pipe(b, record))
		return 0;
	pipe = pipe_of(b, record);
	if (!pipe || pipe->is_off)
		return 0;
	return record->stage == SP_STAGE_ipc_write ? take_write(b, pipe, record)
						   : take_read(b, pipe, record);
}

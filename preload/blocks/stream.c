/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/blocks/stream.h"

#include <errno.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "preload/files/mapped_file.h"
#include "preload/sys/clock.h"
#include "preload/sys/fd_private_task.h"
#include "preload/sys/memory.h"
#include "preload/sys/paths.h"
#include "preload/sys/sys.h"

#define PAGE_BYTES 4096u
#define FILE_BYTES_MIN 16384u
#define NAME_BYTES SP_STREAM_FILE_NAME_BYTES
/* Free space that a file keeps for the thread that continues it. */
#define SPARE_BYTES_MAX (FILE_BYTES_MIN + PAGE_BYTES)
/* A published block ends on a multiple of 8: a FREE frame of 9 to 15 bytes follows a zstd frame
 * that does not. */
#define PAD_BYTES_MAX 16u
/* The most that a call of the host and the end of a thread wait for a file system; the blocks that
 * a tail keeps meanwhile, and the most that a call waits where they fill it. */
#define CALL_WAIT_NS 100000000u
#define END_WAIT_NS 1000000000u
#define WAITING_BYTES_MAX (1u << 20)
#define FULL_WAIT_NS 400000000u
#define TURN_PAUSE_NS 1000000
#define ALIGN_UP(x, to) (((x) + (to)-1) / (to) * (to))

/* The calls in which the two places for a tail differ. */
struct sp_storage {
	int (*grow)(struct sp_stream_writer *s, size_t block_bytes, uint32_t slots, uint64_t first,
		    uint64_t last);
	void (*finish)(struct sp_stream_writer *s);
	void (*leave)(struct sp_stream_writer *s); /* after another tail took its place */
};
static const struct sp_storage in_file, in_arena;

static size_t window_bytes(uint32_t slots)
{
	return SP_WINDOW_HEAD_BYTES + (size_t)slots * sizeof(struct sp_slot);
}

static uint8_t *at(const struct sp_stream_writer *s, uint64_t offset)
{
	return s->map + (offset - s->map_offset);
}

struct sp_window_header *sp_stream_window(const struct sp_stream_writer *stream)
{
	return (struct sp_window_header *)at(stream, stream->window_offset);
}

struct sp_slot *sp_stream_slots(const struct sp_stream_writer *stream)
{
	return (struct sp_slot *)at(stream, stream->window_offset + SP_WINDOW_HEAD_BYTES);
}

/* The one store that changes the file's meaning: the magic and the size of a frame together. */
static void frame_store(uint8_t *where, uint32_t magic, uint64_t size)
{
	sp_fault_store();
	__atomic_store_n((uint64_t *)where, (uint64_t)size << 32 | magic, __ATOMIC_RELEASE);
	sp_fault_store();
}

static void free_store(const struct sp_stream_writer *s, uint64_t begin, uint64_t end)
{
	if (end > begin)
		frame_store(at(s, begin), SP_FRAME_FREE, end - begin - sizeof(struct sp_frame));
}

static void header_fill(const struct sp_stream_writer *s, struct sp_file_header *h)
{
	h->frame = (struct sp_frame){SP_FRAME_HEADER, sizeof(*h) - sizeof(h->frame)};
	memcpy(h->tag, SP_TAG_HEADER, sizeof(h->tag));
	h->version = SP_FORMAT_VERSION;
	h->frame_bytes = SP_HEADER_FRAME_BYTES;
	h->stream_id = s->stream_id;
	if (s->write_mode)
		h->flags |= SP_HEADER_WRITE_MODE;
	h->header_hash = XXH64(h, offsetof(struct sp_file_header, header_hash), 0);
	h->process_lost = sp_checked_make(0);
}

/* All fields but the frame, which is stored when the window is to become visible. */
static void window_fill(const struct sp_stream_writer *s, struct sp_window_header *w,
			uint32_t slots, uint64_t first)
{
	memset(w, 0, sizeof(*w));
	memcpy(w->tag, SP_TAG_WINDOW, sizeof(w->tag));
	w->version = SP_FORMAT_VERSION;
	w->head_bytes = SP_WINDOW_HEAD_BYTES;
	w->stream_id = s->stream_id;
	w->pid = s->pid;
	w->tid = s->tid;
	w->capacity = slots;
	w->first_index = first;
	sp_clock_read(&w->made);
	w->frame = (struct sp_frame){SP_FRAME_WINDOW,
				     (uint32_t)(window_bytes(slots) - sizeof(struct sp_frame))};
	w->header_hash = XXH64(w, offsetof(struct sp_window_header, header_hash), 0);
	for (unsigned i = 0; i < SP_LOST_CAUSES; i++)
		w->lost[i] = sp_checked_make(0);
}

/* The window and the free space before it, up to `end`, from where the stream's blocks are. */
static void map_become(struct sp_stream_writer *s, const struct sp_file_mapping *mapping,
		       uint64_t free_offset, uint64_t end, uint32_t slots)
{
	s->map = mapping->bytes;
	s->map_bytes = end - mapping->offset;
	s->map_offset = mapping->offset;
	s->free_offset = free_offset;
	s->window_offset = end - window_bytes(slots);
	s->file_bytes = end;
}

static void tail_become(struct sp_stream_writer *s, const struct sp_tail *tail, uint32_t slots)
{
	const struct sp_file_mapping mapping = {.bytes = tail->bytes};

	s->storage = &in_arena;
	s->tail = *tail;
	map_become(s, &mapping, SP_HEADER_FRAME_BYTES, sp_tail_bytes(tail), slots);
	s->written = SP_HEADER_FRAME_BYTES;
}

/* HOST-PID-START. */
static struct sp_text image_name(char *buffer, size_t bytes, const char *host, uint32_t pid,
				 uint64_t image_start_ns)
{
	struct sp_text name = sp_text_init(buffer, bytes);

	sp_text_add(&name, host);
	sp_text_add_char(&name, '-');
	sp_text_add_number(&name, pid, 10);
	sp_text_add_char(&name, '-');
	sp_text_add_number(&name, image_start_ns, 16);
	return name;
}

static struct sp_tail tail_take(const struct sp_stream_writer *s, size_t bytes)
{
	const struct sp_file_header *h = &s->file.header;
	char name[SP_STREAM_NAME_BYTES];
	struct sp_text end = image_name(name, sizeof(name), h->host, h->pid, h->image_start_ns);
	const struct sp_arena_identity identity = {.header = h,
						   .directory = s->file.tail.directory.path,
						   .name = name,
						   .name_bytes = (uint32_t)(end.at - name)};

	return sp_tail_take(s->pool, &identity, bytes);
}

/*
 * An append, which may last longer than the caller waits. It reads blocks where they are: they are
 * not stored to, and their memory is in `tail` once the stream has another.
 */
struct sp_stream_append {
	struct sp_stream_file file; /* a copy */
	struct sp_stream_blocks blocks;
	uint64_t end; /* in the tail, of the blocks */
	struct sp_tail tail;
	int is_bound; /* to the name: no other file will do */
	int ret;
	uint64_t took_ns;
};

static void task_append(void *argument)
{
	struct sp_stream_append *a = argument;
	uint64_t begin_ns = sp_clock_ns(CLOCK_MONOTONIC);

	a->ret = a->is_bound ? sp_stream_file_append(&a->file, &a->blocks)
			     : sp_stream_file_append_somewhere(&a->file, &a->blocks);
	a->took_ns = sp_clock_ns(CLOCK_MONOTONIC) - begin_ns;
}

static int append_take_back(struct sp_stream_writer *s, const struct sp_stream_append *a)
{
	s->file = a->file;
	if (!a->ret)
		s->written = a->end;
	__atomic_store_n(&s->pool->is_slow, a->took_ns > CALL_WAIT_NS / 2, __ATOMIC_RELAXED);
	__atomic_store_n(&s->pool->is_stuck, 0, __ATOMIC_RELAXED);
	return a->ret;
}

/* Ends the append that was left, if there is one. -EINPROGRESS: it still runs. */
static int append_end(struct sp_stream_writer *s, uint64_t wait_ns)
{
	struct sp_stream_append *a = s->append;

	if (!a)
		return 0;
	if (sp_timed_task_wait(a, wait_ns))
		return -EINPROGRESS;
	append_take_back(s, a);
	if (a->tail.bytes)
		sp_tail_give(s->pool, &a->tail);
	sp_timed_task_free(a);
	s->append = NULL;
	return 0;
}

struct flush {
	uint64_t turn_ns, append_ns; /* to wait at most */
	int is_last, is_bound;
};

/* One append of a process waits for a file system at most. Threads that end do not wait for each
 * other: their tails stay, and the process's end takes them. */
static int turn_wait(struct sp_stream_writer *s, const struct flush *how)
{
	const struct timespec pause = {0, TURN_PAUSE_NS};
	uint64_t begin_ns = sp_clock_ns(CLOCK_MONOTONIC);
	int ret = append_end(s, how->turn_ns);

	while (!ret && __atomic_load_n(&s->pool->left, __ATOMIC_ACQUIRE)) {
		if (how->is_last || sp_clock_ns(CLOCK_MONOTONIC) - begin_ns >= how->turn_ns)
			return -EINPROGRESS;
		SP_SYS2(SYS_nanosleep, &pause, 0);
	}
	return ret;
}

static struct sp_stream_append append_of(const struct sp_stream_writer *s, int is_last,
					 int is_bound)
{
	const struct sp_tail_frames frames = {s->map + s->written, s->free_offset - s->written};

	return (struct sp_stream_append){.file = s->file,
					 .blocks = {.frames = frames,
						    .words = sp_arenas_header(s->pool),
						    /* the next one begins in the free space */
						    .is_last = is_last && !s->file.spares->table},
					 .end = s->free_offset,
					 .is_bound = is_bound};
}

/* Blocks that the tail holds go into the file. -EINPROGRESS: later. */
static int tail_flush(struct sp_stream_writer *s, struct flush how)
{
	struct sp_stream_append *a, here;
	int ret = turn_wait(s, &how);

	if (ret)
		return ret;
	a = sp_timed_task_make(sizeof(*a));
	if (!a) {
		here = append_of(s, how.is_last, how.is_bound);
		sp_fd_private_task(task_append, &here);
		return append_take_back(s, &here);
	}
	*a = append_of(s, how.is_last, how.is_bound);
	s->append = a;
	if (sp_timed_task(a, task_append, how.append_ns, &s->pool->left)) {
		__atomic_store_n(&s->pool->is_slow, 1, __ATOMIC_RELAXED);
		return -EINPROGRESS;
	}
	ret = a->ret;
	append_end(s, 0);
	return ret;
}

/* A call waits once for a file system that becomes slow, and then leaves each append at once. */
static uint64_t call_wait_ns(const struct sp_stream_writer *s)
{
	return __atomic_load_n(&s->pool->is_slow, __ATOMIC_RELAXED) ? 0 : CALL_WAIT_NS;
}

/* Where the file cannot be made, the tail does without: it is tried again with each flush. A
 * process has a file from its first event on, so that it is in the run whatever comes; further
 * threads have none before the first flush. */
static int create_written(struct sp_stream_writer *s, uint32_t slots, int is_first)
{
	struct sp_tail tail;
	int ret = 0;

	s->write_mode = 1;
	header_fill(s, &s->file.header);
	tail = tail_take(s, FILE_BYTES_MIN);
	if (!tail.bytes)
		return -ENOMEM;
	tail_become(s, &tail, slots);
	sp_stream_file_leave(&s->file);
	memcpy(s->map, &s->file.header, sizeof(s->file.header));
	free_store(s, s->free_offset, s->window_offset);
	if (!tail.is_new) /* a page that is not stored to takes no memory */
		memset(sp_stream_window(s), 0, window_bytes(slots));
	window_fill(s, sp_stream_window(s), slots, 0);
	if (is_first || !s->file.spares->table)
		ret = tail_flush(s, (struct flush){.append_ns = call_wait_ns(s), .is_bound = 1});
	if (ret == -EEXIST) {
		sp_tail_give(s->pool, &s->tail);
		sp_stream_abandon(s);
		return ret;
	}
	s->file_error = ret;
	sp_tail_show(&s->tail, s->stream_id, (uint32_t)s->window_offset);
	return 0;
}

static struct sp_mapped_file mapped_file(const struct sp_stream_writer *s, char *name,
					 char *temporary)
{
	sp_stream_file_name(&s->file, name, "");
	sp_stream_file_name(&s->file, temporary, ".new-");
	return (struct sp_mapped_file){.directory = s->file.tail.directory,
				       .inode = s->file.tail.inode,
				       .name = name,
				       .temporary = temporary};
}

static void image_fill(struct sp_stream_writer *s, uint8_t *image, uint64_t window, uint32_t slots)
{
	header_fill(s, &s->file.header);
	memcpy(image, &s->file.header, sizeof(s->file.header));
	*(struct sp_frame *)(image + sizeof(s->file.header)) =
		(struct sp_frame){SP_FRAME_FREE, (uint32_t)(window - sizeof(s->file.header) -
							    sizeof(struct sp_frame))};
	window_fill(s, (struct sp_window_header *)(image + window), slots, 0);
}

static int create_mapped(struct sp_stream_writer *s, uint32_t slots,
			 struct sp_file_header **ret_header_page)
{
	uint64_t bytes = FILE_BYTES_MIN, window = bytes - window_bytes(slots);
	uint8_t *image = sp_pages_make(bytes);
	char name[NAME_BYTES], temporary[NAME_BYTES];
	struct sp_mapped_file file = mapped_file(s, name, temporary);
	struct sp_file_mapping mapping;
	int ret;

	if (!image)
		return -ENOMEM;
	image_fill(s, image, window, slots);
	ret = sp_mapped_file_make(&file, image, bytes, ret_header_page != NULL, &mapping);
	sp_pages_free(image, bytes);
	if (ret)
		return ret;
	if (ret_header_page)
		*ret_header_page = (struct sp_file_header *)mapping.header;
	s->file.tail.inode = file.inode;
	sp_stream_file_note(&s->file);
	map_become(s, &mapping, sizeof(s->file.header), bytes, slots);
	return 0;
}

/* The file's new part is one FREE frame first. All is prepared inside of it, and the store of the
 * header's first eight bytes shows it. */
static void begin_at(struct sp_stream_writer *s, uint64_t begin, uint32_t slots)
{
	const size_t head = sizeof(struct sp_frame);

	free_store(s, begin, s->file_bytes);
	header_fill(s, &s->file.header);
	memcpy(at(s, begin) + head, (uint8_t *)&s->file.header + head,
	       sizeof(s->file.header) - head);
	memset(sp_stream_window(s), 0, window_bytes(slots));
	window_fill(s, sp_stream_window(s), slots, 0);
	free_store(s, s->free_offset, s->window_offset);
	frame_store(at(s, begin), s->file.header.frame.magic, s->file.header.frame.size);
}

struct create_task {
	struct sp_stream_writer *stream;
	uint32_t slots;
	struct sp_file_header **ret_header_page;
};

/* A file of less room than a new one has, but of as many pages that are stored to. */
static int continue_mapped(void *context)
{
	const struct create_task *task = context;
	struct sp_stream_writer *s = task->stream;
	char name[NAME_BYTES], temporary[NAME_BYTES];
	const struct sp_mapped_file file = mapped_file(s, name, temporary);
	struct sp_file_mapping mapping;
	struct sp_file_room room;
	int ret = sp_mapped_file_continue(&file, s->file.tail.end, FILE_BYTES_MIN - PAGE_BYTES / 2,
					  sp_spare_most(), task->ret_header_page != NULL, &room,
					  &mapping);

	if (ret)
		return ret;
	if (task->ret_header_page)
		*task->ret_header_page = (struct sp_file_header *)mapping.header;
	map_become(s, &mapping, room.begin + sizeof(s->file.header), room.end, task->slots);
	begin_at(s, room.begin, task->slots);
	return 0;
}

static uint64_t stream_id_make(const struct sp_file_header *h)
{
	return XXH64(h, offsetof(struct sp_file_header, header_hash), h->opened.ticks);
}

static void stream_init(struct sp_stream_writer *s, const struct sp_stream_identity *identity)
{
	memset(s, 0, sizeof(*s));
	s->storage = &in_file;
	s->file.header = identity->header;
	s->pid = s->file.header.pid;
	s->tid = s->file.header.tid;
	s->file.tail.directory = identity->directory;
	s->pool = identity->pool;
	s->file.spares = identity->spares;
	s->stream_id = stream_id_make(&s->file.header);
	memcpy(s->host, s->file.header.host, sizeof(s->host) - 1);
	sp_stream_file_leave(&s->file);
}

int sp_stream_create(struct sp_stream_writer *stream, const struct sp_stream_identity *identity,
		     uint32_t slots, struct sp_file_header **ret_header_page)
{
	int ret = -ENODEV;

	if (ret_header_page)
		*ret_header_page = NULL;
	stream_init(stream, identity);
	if (!sp_run_file_fits(FILE_BYTES_MIN))
		return -EFBIG;
	if (!identity->write_mode) {
		struct create_task task = {stream, slots, ret_header_page};

		ret = sp_stream_file_continue(&stream->file, continue_mapped, &task);
		if (ret)
			ret = create_mapped(stream, slots, ret_header_page);
	}
	/* Without a file the events stay in the arena until it is collected. */
	if (ret && ret != -EEXIST && ret != -ENOMEM) {
		ret = create_written(stream, slots, ret_header_page != NULL);
		if (!ret && ret_header_page)
			*ret_header_page = sp_arenas_header(stream->pool);
	}
	return ret;
}

size_t sp_stream_block_room(const struct sp_stream_writer *stream)
{
	uint64_t room = stream->window_offset - stream->free_offset;

	if (room < SP_BLOCK_FRAME_BYTES + PAD_BYTES_MAX)
		return 0;
	return room - SP_BLOCK_FRAME_BYTES - PAD_BYTES_MAX;
}

uint8_t *sp_stream_block_at(const struct sp_stream_writer *stream)
{
	return at(stream, stream->free_offset) + SP_BLOCK_FRAME_BYTES;
}

/* The size of a zstd frame that ends there, with the FREE frame after it. */
static uint64_t block_aligned_end(uint64_t end)
{
	return end % 8 ? ALIGN_UP(end, 8) + sizeof(struct sp_frame) : end;
}

static uint64_t block_end(const struct sp_stream_writer *s, const struct sp_block_header *header)
{
	uint64_t end = s->free_offset + SP_BLOCK_FRAME_BYTES + header->zstd_bytes;
	uint64_t aligned = block_aligned_end(end);

	if (aligned == end)
		return end;
	/* Not aligned, so memcpy; no reader sees it before the block's own store. */
	memcpy(at(s, end),
	       &(struct sp_frame){SP_FRAME_FREE,
				  (uint32_t)(aligned - end - sizeof(struct sp_frame))},
	       sizeof(struct sp_frame));
	return aligned;
}

static void block_fill(const struct sp_stream_writer *s, struct sp_block_header *header)
{
	header->frame =
		(struct sp_frame){SP_FRAME_BLOCK, SP_BLOCK_FRAME_BYTES - sizeof(struct sp_frame)};
	memcpy(header->tag, SP_TAG_BLOCK, sizeof(header->tag));
	header->version = SP_FORMAT_VERSION;
	header->stream_id = s->stream_id;
	header->pid = s->pid;
	header->tid = s->tid;
	memcpy(header->host, s->host, sizeof(header->host));
	header->header_hash = XXH64(header, offsetof(struct sp_block_header, header_hash), 0);
}

void sp_stream_publish(struct sp_stream_writer *stream, struct sp_block_header *header)
{
	uint64_t end = block_end(stream, header);
	uint8_t *block = at(stream, stream->free_offset);

	block_fill(stream, header);
	memcpy(block + sizeof(struct sp_frame), (uint8_t *)header + sizeof(struct sp_frame),
	       sizeof(*header) - sizeof(struct sp_frame));
	free_store(stream, end, stream->window_offset);
	frame_store(block, header->frame.magic, header->frame.size);
	stream->free_offset = end;
}

uint64_t sp_stream_catch_up(struct sp_stream_writer *stream)
{
	struct sp_block_header header;
	uint64_t end;

	memcpy(&header.frame, at(stream, stream->free_offset), sizeof(header.frame));
	if (header.frame.magic != SP_FRAME_BLOCK)
		return 0;
	memcpy(&header, at(stream, stream->free_offset), sizeof(header));
	end = stream->free_offset + SP_BLOCK_FRAME_BYTES + header.zstd_bytes;
	stream->free_offset = block_aligned_end(end);
	return header.first_index + header.slots;
}

/* Copies slots [first, last) into a window of another capacity:
 * positions and generations change. */
static void slots_carry(struct sp_slot *to, uint32_t to_capacity, const struct sp_slot *from,
			uint32_t from_capacity, uint64_t first, uint64_t last)
{
	for (uint64_t number = first; number < last; number++) {
		const struct sp_slot *slot = &from[number % from_capacity];

		if (!sp_slot_valid(slot, number / from_capacity))
			continue;
		to[number % to_capacity] = *slot;
		to[number % to_capacity].commit =
			sp_commit_make(slot->start, slot->ticks, (uint64_t)slot->value,
				       sp_what_make(sp_commit_kind(slot->commit),
						    sp_commit_arg(slot->commit)),
				       number / to_capacity);
	}
}

/* The free space that a window of this size asks for: a busy thread grows rarely. */
static uint64_t free_wanted(uint32_t slots)
{
	return slots >= SP_WINDOW_SLOTS_MAX ? 256u * 1024u : 32u * 1024u;
}

/* The room for blocks in a tail of an arena, which go into the file in portions of this size. */
static uint64_t tail_room(uint32_t slots)
{
	return slots >= SP_WINDOW_SLOTS_MAX ? 128u * 1024u : 24u * 1024u;
}

static uint64_t growth(const struct sp_stream_writer *s, size_t block_bytes, uint32_t slots)
{
	uint64_t wanted = free_wanted(slots), have = s->file_bytes - s->free_offset;
	uint64_t least = block_bytes + SP_BLOCK_FRAME_BYTES + PAD_BYTES_MAX;
	uint64_t window = window_bytes(slots), more;

	wanted = wanted > least ? wanted : least;
	more = wanted + window > have ? wanted + window - have : 0;
	return ALIGN_UP(more > window ? more : window, PAGE_BYTES);
}

/* The window in `w`, not seen yet, becomes the next one of the stream. */
static void window_carry(const struct sp_stream_writer *s, struct sp_window_header *w,
			 uint32_t slots, uint64_t first, uint64_t last)
{
	struct sp_window_header *old = sp_stream_window(s);
	struct sp_slot *to = (struct sp_slot *)((uint8_t *)w + SP_WINDOW_HEAD_BYTES);

	memset(to, 0, (size_t)slots * sizeof(*to));
	window_fill(s, w, slots, first);
	for (unsigned i = 0; i < SP_LOST_CAUSES; i++)
		w->lost[i] = old->lost[i];
	slots_carry(to, slots, sp_stream_slots(s), old->capacity, first, last);
}

/* Unmaps the file. Where a suspended frame may yet store to the mapping, address space that leads
 * nowhere takes its place: blocks will lie in these pages of the file. */
static void leave_mapped(struct sp_stream_writer *s)
{
	if (s->keeps_windows)
		sp_pages_detach(s->map, s->map_bytes);
	else
		sp_pages_free(s->map, s->map_bytes);
}

static void leave_written(struct sp_stream_writer *s)
{
	int is_read = s->append && !s->append->tail.bytes;

	if (s->keeps_windows || is_read)
		sp_tail_hide(&s->tail);
	else
		sp_tail_give(s->pool, &s->tail);
	if (is_read && !s->keeps_windows)
		s->append->tail = s->tail;
}

/* Three stores: the new pages become one FREE frame, the new window appears at their end, and the
 * old window and the free space on both its sides become one FREE frame. */
static void map_switch(struct sp_stream_writer *s, const struct sp_file_mapping *mapping,
		       uint64_t new_end, uint32_t slots, uint64_t first, uint64_t last)
{
	struct sp_stream_writer next = *s;

	map_become(&next, mapping, s->free_offset, new_end, slots);
	free_store(&next, s->file_bytes, new_end);
	window_carry(s, sp_stream_window(&next), slots, first, last);
	free_store(&next, s->file_bytes, next.window_offset);
	free_store(&next, s->free_offset, next.window_offset);
	leave_mapped(s);
	*s = next;
}

/* Another tail in the stead of this one, or of the mapping; blocks that are not in the file yet
 * and the window come along. In between, readers may find the same slots twice. */
static int tail_move(struct sp_stream_writer *s, size_t block_bytes, uint32_t slots, uint64_t first,
		     uint64_t last)
{
	size_t kept = s->storage == &in_arena ? s->free_offset - s->written : 0;
	uint64_t least = block_bytes + SP_BLOCK_FRAME_BYTES + PAD_BYTES_MAX;
	uint64_t room = tail_room(slots) > least ? tail_room(slots) : least;
	struct sp_stream_writer next = *s;
	struct sp_tail tail =
		tail_take(s, SP_HEADER_FRAME_BYTES + kept + room + window_bytes(slots));

	if (!tail.bytes)
		return -ENOMEM;
	tail_become(&next, &tail, slots);
	next.free_offset += kept;
	memcpy(next.map, &s->file.header, sizeof(s->file.header));
	memcpy(next.map + next.written, s->map + s->written, kept);
	if (s->append)
		s->append->end -= s->written - next.written;
	window_carry(s, sp_stream_window(&next), slots, first, last);
	free_store(&next, next.free_offset, next.window_offset);
	sp_tail_show(&tail, s->stream_id, (uint32_t)next.window_offset);
	s->storage->leave(s);
	*s = next;
	return 0;
}

/* The file has the blocks now: their place is free again. */
static void tail_empty(struct sp_stream_writer *s)
{
	free_store(s, SP_HEADER_FRAME_BYTES, s->window_offset);
	s->free_offset = s->written = SP_HEADER_FRAME_BYTES;
}

static int is_full(const struct sp_stream_writer *s)
{
	return s->free_offset - s->written >= WAITING_BYTES_MAX;
}

/* As tail_flush(). A full tail waits once for a file system that takes nothing, and again for one
 * that has taken something since. */
static int call_flush(struct sp_stream_writer *s)
{
	int ret = tail_flush(s, (struct flush){.append_ns = call_wait_ns(s)});

	if (ret != -EINPROGRESS || !is_full(s) ||
	    __atomic_load_n(&s->pool->is_stuck, __ATOMIC_RELAXED))
		return ret;
	ret = tail_flush(s, (struct flush){.turn_ns = FULL_WAIT_NS, .append_ns = FULL_WAIT_NS});
	if (ret == -EINPROGRESS && is_full(s))
		__atomic_store_n(&s->pool->is_stuck, 1, __ATOMIC_RELAXED);
	return ret;
}

/* On a full disk the tail becomes as large as it may, and the blocks stay in it. */
static int grow_written(struct sp_stream_writer *s, size_t block_bytes, uint32_t slots,
			uint64_t first, uint64_t last)
{
	int ret = call_flush(s);
	int may_move = !ret || (ret == -EINPROGRESS && !is_full(s));

	if (!ret)
		tail_empty(s);
	if (slots > sp_stream_window(s)->capacity ||
	    (may_move && sp_stream_block_room(s) < block_bytes))
		tail_move(s, block_bytes, slots, first, last);
	if (sp_stream_block_room(s) >= block_bytes)
		return 0;
	return ret ? ret : -ENOMEM;
}

/* A file that was replaced stays as it is found; what comes is written to another one. */
static int grow_elsewhere(struct sp_stream_writer *s, size_t block_bytes, uint32_t slots,
			  uint64_t first, uint64_t last)
{
	int ret;

	sp_stream_file_lose(&s->file);
	s->write_mode = 1;
	header_fill(s, &s->file.header);
	ret = tail_move(s, block_bytes, slots, first, last);
	if (ret)
		s->write_mode = 0;
	return ret;
}

static int grow_mapped(struct sp_stream_writer *s, size_t block_bytes, uint32_t slots,
		       uint64_t first, uint64_t last)
{
	uint64_t new_end = s->file_bytes + growth(s, block_bytes, slots);
	char name[NAME_BYTES], temporary[NAME_BYTES];
	const struct sp_mapped_file file = mapped_file(s, name, temporary);
	struct sp_file_mapping mapping = {.offset = s->free_offset / PAGE_BYTES * PAGE_BYTES};
	int ret;

	if (!sp_run_file_fits(new_end))
		return -EFBIG;
	ret = sp_mapped_file_extend(&file, s->file_bytes, new_end, &mapping);
	if (ret == -ESTALE || ret == -ENOENT)
		return grow_elsewhere(s, block_bytes, slots, first, last);
	if (!ret)
		map_switch(s, &mapping, new_end, slots, first, last);
	return ret;
}

int sp_stream_grow(struct sp_stream_writer *stream, size_t block_bytes, uint32_t slots,
		   uint64_t first, uint64_t last)
{
	return stream->storage->grow(stream, block_bytes, slots, first, last);
}

static void finish_mapped(struct sp_stream_writer *s)
{
	char name[NAME_BYTES], temporary[NAME_BYTES];
	const struct sp_mapped_file file = mapped_file(s, name, temporary);
	uint64_t end = s->free_offset;
	int ret = 0;

	if (s->file.spare && s->file_bytes - end <= SPARE_BYTES_MAX)
		free_store(s, end, s->file_bytes);
	else
		ret = sp_mapped_file_cut(&file, end);
	/* First: a frame that another thread resumes must not store to what is another's then. */
	leave_mapped(s);
	if (ret)
		sp_spare_forget(s->file.spares, s->file.spare);
	else
		sp_spare_give(s->file.spares, s->file.spare, end);
}

/* A file is whole after a failed append, so another thread may continue it all the same. */
static void finish_written(struct sp_stream_writer *s)
{
	int ret = tail_flush(s, (struct flush){END_WAIT_NS, END_WAIT_NS, .is_last = 1});

	if (!ret)
		leave_written(s);
	if (!s->append) /* it has the file, until the process ends */
		sp_spare_return(s->file.spares, s->file.spare, s->file.tail.end, ret);
}

static const struct sp_storage in_file = {grow_mapped, finish_mapped, leave_mapped},
			       in_arena = {grow_written, finish_written, leave_written};

void sp_stream_finish(struct sp_stream_writer *stream)
{
	stream->storage->finish(stream);
	stream->map = NULL;
	sp_stream_abandon(stream);
}

void sp_stream_abandon(struct sp_stream_writer *stream)
{
	if (stream->map && stream->storage == &in_file)
		leave_mapped(stream);
	stream->map = NULL;
	stream->map_bytes = 0;
	stream->tail = (struct sp_tail){.bytes = NULL};
}

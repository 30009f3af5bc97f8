#include "preload/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "preload/aside.h"
#include "preload/clock.h"
#include "preload/memory.h"
#include "preload/paths.h"
#include "preload/sys.h"
#include "trace/filesystems.h"

#define PAGE_BYTES 4096u
#define FILE_BYTES_MIN 16384u
#define PATH_BYTES 4352u
/* A published block ends on a multiple of 8: behind the zstd frame stands a FREE frame of 9 to 15 bytes
 * unless it ended on one. */
#define PAD_BYTES_MAX 16u
#define ALIGN_UP(x, to) (((x) + (to)-1) / (to) * (to))

static const struct free_page {
	struct sp_frame frame;
	uint8_t zeros[PAGE_BYTES - sizeof(struct sp_frame)];
} free_page = {.frame = {SP_FRAME_FREE, PAGE_BYTES - sizeof(struct sp_frame)}};

static size_t window_bytes(uint32_t slots)
{
	return SP_WINDOW_HEAD_BYTES + (size_t)slots * sizeof(struct sp_slot);
}

static uint8_t *at(const struct sp_stream *s, uint64_t offset)
{
	return s->map + (offset - s->map_offset);
}

struct sp_window_header *sp_stream_window(const struct sp_stream *stream)
{
	return (struct sp_window_header *)at(stream, stream->window_offset);
}

struct sp_slot *sp_stream_slots(const struct sp_stream *stream)
{
	return (struct sp_slot *)at(stream, stream->window_offset + SP_WINDOW_HEAD_BYTES);
}

/* The one store that changes what the file is: a frame's magic and size together. */
static void frame_store(uint8_t *where, uint32_t magic, uint64_t size)
{
	sp_fault_store();
	__atomic_store_n((uint64_t *)where, (uint64_t)size << 32 | magic, __ATOMIC_RELEASE);
	sp_fault_store();
}

static void free_store(const struct sp_stream *s, uint64_t begin, uint64_t end)
{
	if (end > begin)
		frame_store(at(s, begin), SP_FRAME_FREE, end - begin - sizeof(struct sp_frame));
}

static void stream_path(const struct sp_stream *s, char *buffer, const char *prefix)
{
	struct sp_text path = sp_text_init(buffer, PATH_BYTES);

	sp_text_add(&path, s->directory);
	sp_text_add(&path, "/");
	sp_text_add(&path, prefix);
	sp_text_add(&path, s->name);
	sp_text_add(&path, ".zst");
}

static void header_fill(const struct sp_stream *s, struct sp_file_header *h)
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

/* All but the frame, which is stored when the window is to be seen. */
static void window_fill(const struct sp_stream *s, struct sp_window_header *w, uint32_t slots,
			uint64_t first)
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

static int wants_write_mode(long fs_magic)
{
	uint32_t row = sp_file_system_row((uint64_t)fs_magic);

	return row < sp_file_systems() && sp_file_system(row)->kind == SP_FS_NETWORK;
}

static int size_is_allowed(uint64_t bytes)
{
	struct rlimit limit;

	if (SP_SYS4(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, &limit) < 0)
		return 1;
	return bytes <= limit.rlim_cur;
}

/* What the errands below work on; they run aside, with no descriptor in the host's table. */
struct file_errand {
	const struct sp_stream *stream;
	char path[PATH_BYTES], temporary[PATH_BYTES];
	const void *content; /* create and append: what to write */
	size_t content_bytes;
	uint64_t from, to;	  /* grow: the file's size before and after */
	uint64_t map_offset;	  /* where the mapping begins; it ends at the file's end */
	int header_page;	  /* create: map the first page too */
	long fs_magic, mapped, header_mapped;
	long error;
};

static long errand_open(struct file_errand *e, const char *path, int flags)
{
	long fd = SP_SYS4(SYS_openat, AT_FDCWD, path, flags | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		e->error = fd;
	return fd;
}

/* No EINTR to retry: the caller's signals are blocked. */
static long write_all(long fd, const uint8_t *bytes, size_t count, uint64_t offset)
{
	while (count) {
		long n = SP_SYS4(SYS_pwrite64, fd, bytes, count, offset);

		if (n <= 0)
			return n ? n : -EIO;
		bytes += n;
		offset += (uint64_t)n;
		count -= (size_t)n;
	}
	return 0;
}

static void errand_map(struct file_errand *e, long fd, uint64_t end)
{
	e->mapped = sp_pages_of_file(end - e->map_offset, MAP_SHARED, fd, e->map_offset);
	if (sp_sys_failed(e->mapped)) {
		e->error = e->mapped;
		return;
	}
	SP_SYS3(SYS_madvise, e->mapped, end - e->map_offset, MADV_DONTFORK);
	if (!e->header_page)
		return;
	e->header_mapped = sp_pages_of_file(PAGE_BYTES, MAP_SHARED, fd, 0);
	if (!sp_sys_failed(e->header_mapped))
		SP_SYS3(SYS_madvise, e->header_mapped, PAGE_BYTES, MADV_DONTFORK);
}

/* Written whole under a hidden name, then renamed: no reader ever meets half a file. */
static void errand_create(void *argument)
{
	struct file_errand *e = argument;
	struct statfs fs;
	long fd = errand_open(e, e->temporary, O_CREAT | O_EXCL | O_RDWR);

	if (fd < 0)
		return;
	e->fs_magic = SP_SYS2(SYS_fstatfs, fd, &fs) < 0 ? 0 : (long)fs.f_type;
	e->error = write_all(fd, e->content, e->content_bytes, 0);
	if (!e->error && !e->stream->write_mode && !wants_write_mode(e->fs_magic))
		errand_map(e, fd, e->content_bytes);
	if (!e->error) {
		e->error = SP_SYS5(SYS_renameat2, AT_FDCWD, e->temporary, AT_FDCWD, e->path,
				   RENAME_NOREPLACE);
		if (e->error == -EINVAL || e->error == -ENOSYS) /* e.g. NFS */
			e->error = SP_SYS4(SYS_renameat, AT_FDCWD, e->temporary, AT_FDCWD, e->path);
	}
	if (e->error)
		SP_SYS3(SYS_unlinkat, AT_FDCWD, e->temporary, 0);
	SP_SYS1(SYS_close, fd);
}

static void errand_append_pages(struct file_errand *e, long fd)
{
	struct iovec pages[64];

	for (unsigned i = 0; i < 64; i++)
		pages[i] = (struct iovec){(void *)(uintptr_t)&free_page, PAGE_BYTES};
	while (e->from < e->to) {
		uint64_t count = (e->to - e->from) / PAGE_BYTES;
		long n = SP_SYS5(SYS_pwritev, fd, pages, count < 64 ? count : 64, e->from, 0);

		if (n <= 0 || n % PAGE_BYTES) {
			e->error = n < 0 ? n : -EIO;
			return;
		}
		e->from += (uint64_t)n;
	}
}

static void errand_grow(void *argument)
{
	struct file_errand *e = argument;
	uint64_t before = e->from;
	long fd = errand_open(e, e->path, O_RDWR);

	if (fd < 0)
		return;
	errand_append_pages(e, fd);
	if (!e->error)
		errand_map(e, fd, e->to);
	/* All will be written: at once it costs half a microsecond a page, one by one as blocks come, ten. */
	if (!e->error)
		SP_SYS3(SYS_madvise, e->mapped, e->to - e->map_offset, MADV_POPULATE_WRITE);
	if (e->error)
		SP_SYS2(SYS_ftruncate, fd, before);
	SP_SYS1(SYS_close, fd);
}

static void errand_append(void *argument)
{
	struct file_errand *e = argument;
	long fd = errand_open(e, e->path, O_WRONLY);

	if (fd < 0)
		return;
	e->error = write_all(fd, e->content, e->content_bytes, e->from);
	if (e->error)
		SP_SYS2(SYS_ftruncate, fd, e->from);
	SP_SYS1(SYS_close, fd);
}

/* Errands are too large for a small stack. */
static struct file_errand *errand_make(const struct sp_stream *s)
{
	struct file_errand *e = sp_pages_make(sizeof(*e));

	if (!e)
		return NULL;
	e->stream = s;
	stream_path(s, e->path, "");
	stream_path(s, e->temporary, ".new-");
	return e;
}

static void errand_free(struct file_errand *e)
{
	sp_pages_free(e, sizeof(*e));
}

/* Where a shared mapping is not to be had: blocks are made here and written one by one. */
static int write_mode_init(struct sp_stream *s)
{
	size_t room = SP_BLOCK_FRAME_BYTES + SP_PAYLOAD_BYTES_MAX + SP_PAYLOAD_BYTES_MAX / 64;

	s->write_mode = 1;
	s->map_bytes = ALIGN_UP(room + window_bytes(SP_WINDOW_SLOTS_MAX), PAGE_BYTES);
	s->map = sp_pages_make(s->map_bytes);
	if (!s->map) {
		s->map_bytes = 0;
		return -ENOMEM;
	}
	s->map_offset = s->free_offset = s->file_bytes = SP_HEADER_FRAME_BYTES;
	s->window_offset = s->map_offset + s->map_bytes - window_bytes(SP_WINDOW_SLOTS_MAX);
	window_fill(s, sp_stream_window(s), SP_WINDOW_SLOTS_MAX, 0);
	return 0;
}

static int create_written(struct sp_stream *s, struct file_errand *e, struct sp_file_header *h)
{
	int ret;

	header_fill(s, h);
	e->content = h;
	e->content_bytes = sizeof(*h);
	e->error = 0;
	sp_aside(errand_create, e);
	if (e->error)
		return (int)e->error;
	ret = write_mode_init(s);
	return ret;
}

static int create_mapped(struct sp_stream *s, struct file_errand *e, struct sp_file_header *h,
			 uint32_t slots)
{
	uint64_t bytes = FILE_BYTES_MIN, window = bytes - window_bytes(slots);
	uint8_t *image = sp_pages_make(bytes);

	if (!image)
		return -ENOMEM;
	header_fill(s, h);
	memcpy(image, h, sizeof(*h));
	*(struct sp_frame *)(image + sizeof(*h)) =
		(struct sp_frame){SP_FRAME_FREE, (uint32_t)(window - sizeof(*h) - sizeof(struct sp_frame))};
	window_fill(s, (struct sp_window_header *)(image + window), slots, 0);
	e->content = image;
	e->content_bytes = bytes;
	sp_aside(errand_create, e);
	sp_pages_free(image, bytes);
	if (e->error)
		return (int)e->error;
	if (!e->mapped)
		return -ENODEV;
	s->map = (uint8_t *)e->mapped;
	s->map_bytes = bytes;
	s->map_offset = 0;
	s->free_offset = sizeof(*h);
	s->window_offset = window;
	s->file_bytes = bytes;
	return 0;
}

static uint64_t stream_id_make(const struct sp_file_header *h)
{
	return XXH64(h, offsetof(struct sp_file_header, header_hash), h->opened.ticks);
}

static void name_make(struct sp_stream *s, const struct sp_file_header *h)
{
	struct sp_text name = sp_text_init(s->name, sizeof(s->name) - 8);

	sp_text_add(&name, h->host);
	sp_text_add_char(&name, '-');
	sp_text_add_number(&name, h->pid, 10);
	sp_text_add_char(&name, '-');
	sp_text_add_number(&name, h->image_start_ns, 16);
	sp_text_add_char(&name, '-');
	sp_text_add_number(&name, h->tid, 10);
	if (h->part) {
		sp_text_add_char(&name, '-');
		sp_text_add_number(&name, h->part, 10);
	}
}

int sp_stream_create(struct sp_stream *stream, const struct sp_stream_identity *identity,
		     uint32_t slots, struct sp_file_header **ret_header_page)
{
	struct sp_file_header h = identity->header;
	struct file_errand *e;
	int ret;

	if (!size_is_allowed(FILE_BYTES_MIN))
		return -EFBIG;
	stream->map = NULL;
	stream->map_bytes = 0;
	stream->pid = h.pid;
	stream->tid = h.tid;
	stream->directory = identity->directory;
	stream->write_mode = identity->write_mode;
	stream->stream_id = stream_id_make(&h);
	memcpy(stream->host, h.host, sizeof(stream->host) - 1);
	name_make(stream, &h);
	e = errand_make(stream);
	if (!e)
		return -ENOMEM;
	e->header_page = ret_header_page != NULL;
	ret = stream->write_mode ? create_written(stream, e, &h) :
				   create_mapped(stream, e, &h, slots);
	if (!stream->write_mode && (ret == -ENODEV || ret == -EACCES)) {
		SP_SYS3(SYS_unlinkat, AT_FDCWD, e->path, 0);
		stream->write_mode = 1;
		ret = create_written(stream, e, &h);
	}
	if (ret_header_page)
		*ret_header_page = e->header_mapped && !sp_sys_failed(e->header_mapped) ?
					   (struct sp_file_header *)e->header_mapped :
					   NULL;
	errand_free(e);
	return ret;
}

size_t sp_stream_block_room(const struct sp_stream *stream)
{
	uint64_t room = stream->window_offset - stream->free_offset;

	if (room < SP_BLOCK_FRAME_BYTES + PAD_BYTES_MAX)
		return 0;
	return room - SP_BLOCK_FRAME_BYTES - PAD_BYTES_MAX;
}

uint8_t *sp_stream_block_at(const struct sp_stream *stream)
{
	return at(stream, stream->free_offset) + SP_BLOCK_FRAME_BYTES;
}

/* Of a zstd frame that ends there, with the FREE frame that stands behind it. */
static uint64_t block_aligned_end(uint64_t end)
{
	return end % 8 ? ALIGN_UP(end, 8) + sizeof(struct sp_frame) : end;
}

static uint64_t block_end(const struct sp_stream *s, const struct sp_block_header *header)
{
	uint64_t end = s->free_offset + SP_BLOCK_FRAME_BYTES + header->zstd_bytes;
	uint64_t aligned = block_aligned_end(end);

	if (aligned == end)
		return end;
	/* Not aligned, so memcpy; nobody sees it before the block's own store. */
	memcpy(at(s, end),
	       &(struct sp_frame){SP_FRAME_FREE, (uint32_t)(aligned - end - sizeof(struct sp_frame))},
	       sizeof(struct sp_frame));
	return aligned;
}

static void block_fill(const struct sp_stream *s, struct sp_block_header *header)
{
	header->frame = (struct sp_frame){SP_FRAME_BLOCK, SP_BLOCK_FRAME_BYTES - sizeof(struct sp_frame)};
	memcpy(header->tag, SP_TAG_BLOCK, sizeof(header->tag));
	header->version = SP_FORMAT_VERSION;
	header->stream_id = s->stream_id;
	header->pid = s->pid;
	header->tid = s->tid;
	memcpy(header->host, s->host, sizeof(header->host));
	header->header_hash = XXH64(header, offsetof(struct sp_block_header, header_hash), 0);
}

static int publish_written(struct sp_stream *s, uint64_t end)
{
	unsigned long before = sp_signals_block();
	struct file_errand *e = errand_make(s);
	int ret = -ENOMEM;

	if (e) {
		e->content = at(s, s->free_offset);
		e->content_bytes = end - s->free_offset;
		e->from = s->file_bytes;
		ret = size_is_allowed(e->from + e->content_bytes) ? 0 : -EFBIG;
		if (!ret) {
			sp_aside(errand_append, e);
			ret = (int)e->error;
		}
		if (!ret)
			s->file_bytes += e->content_bytes;
		errand_free(e);
	}
	sp_signals_restore(before);
	return ret;
}

int sp_stream_publish(struct sp_stream *stream, struct sp_block_header *header)
{
	uint64_t end = block_end(stream, header);
	uint8_t *block = at(stream, stream->free_offset);

	block_fill(stream, header);
	memcpy(block + sizeof(struct sp_frame), (uint8_t *)header + sizeof(struct sp_frame),
	       sizeof(*header) - sizeof(struct sp_frame));
	if (stream->write_mode) {
		memcpy(block, &header->frame, sizeof(header->frame));
		return publish_written(stream, end);
	}
	free_store(stream, end, stream->window_offset);
	frame_store(block, header->frame.magic, header->frame.size);
	stream->free_offset = end;
	return 0;
}

uint64_t sp_stream_settle(struct sp_stream *stream)
{
	struct sp_block_header header;
	uint64_t end;

	memcpy(&header.frame, at(stream, stream->free_offset), sizeof(header.frame));
	if (stream->write_mode || header.frame.magic != SP_FRAME_BLOCK)
		return 0;
	memcpy(&header, at(stream, stream->free_offset), sizeof(header));
	end = stream->free_offset + SP_BLOCK_FRAME_BYTES + header.zstd_bytes;
	stream->free_offset = block_aligned_end(end);
	return header.first_index + header.slots;
}

/* Slots [first, last) into a window of another capacity: other places, other generations. */
static void slots_carry(struct sp_slot *to, uint32_t to_capacity, const struct sp_slot *from,
			uint32_t from_capacity, uint64_t first, uint64_t last)
{
	for (uint64_t number = first; number < last; number++) {
		const struct sp_slot *slot = &from[number % from_capacity];

		if (!sp_slot_valid(slot, number / from_capacity))
			continue;
		to[number % to_capacity] = *slot;
		to[number % to_capacity].commit = sp_commit_make(
			slot->start, slot->ticks, (uint64_t)slot->value,
			sp_what_make(sp_commit_kind(slot->commit), sp_commit_arg(slot->commit)), number / to_capacity);
	}
}

/* How much free space a window of this size asks for: a busy thread grows rarely. */
static uint64_t free_wanted(uint32_t slots)
{
	return slots >= SP_WINDOW_SLOTS_MAX ? 256u * 1024u : 32u * 1024u;
}

static uint64_t growth(const struct sp_stream *s, size_t block_bytes, uint32_t slots)
{
	uint64_t wanted = free_wanted(slots), have = s->file_bytes - s->free_offset;
	uint64_t least = block_bytes + SP_BLOCK_FRAME_BYTES + PAD_BYTES_MAX;
	uint64_t window = window_bytes(slots), more;

	wanted = wanted > least ? wanted : least;
	more = wanted + window > have ? wanted + window - have : 0;
	return ALIGN_UP(more > window ? more : window, PAGE_BYTES);
}

/* Three stores: the new pages become one FREE frame, the new window appears at their end, and the old
 * window and the free space on both its sides become one FREE frame. */
static void tail_switch(struct sp_stream *s, uint64_t old_end, uint32_t slots, uint64_t first,
			uint64_t last)
{
	struct sp_window_header *old = sp_stream_window(s);
	const struct sp_slot *old_slots = sp_stream_slots(s);
	uint64_t window_offset = s->file_bytes - window_bytes(slots);
	struct sp_window_header *window = (struct sp_window_header *)at(s, window_offset);
	struct sp_slot *to = (struct sp_slot *)((uint8_t *)window + SP_WINDOW_HEAD_BYTES);

	free_store(s, old_end, s->file_bytes);
	memset(to, 0, (size_t)slots * sizeof(*to));
	window_fill(s, window, slots, first);
	for (unsigned i = 0; i < SP_LOST_CAUSES; i++)
		window->lost[i] = old->lost[i];
	slots_carry(to, slots, old_slots, old->capacity, first, last);
	free_store(s, old_end, window_offset);
	free_store(s, s->free_offset, window_offset);
	s->window_offset = window_offset;
}

int sp_stream_grow(struct sp_stream *stream, size_t block_bytes, uint32_t slots, uint64_t first,
		   uint64_t last)
{
	uint64_t old_end = stream->file_bytes, new_end;
	uint8_t *old_map = stream->map;
	size_t old_map_bytes = stream->map_bytes;
	struct file_errand *e;
	int ret;

	if (stream->write_mode)
		return -ENOSPC;
	new_end = old_end + growth(stream, block_bytes, slots);
	if (!size_is_allowed(new_end))
		return -EFBIG;
	e = errand_make(stream);
	if (!e)
		return -ENOMEM;
	e->from = old_end;
	e->to = new_end;
	e->map_offset = stream->free_offset / PAGE_BYTES * PAGE_BYTES;
	sp_aside(errand_grow, e);
	ret = (int)e->error;
	if (!ret) {
		stream->map = (uint8_t *)e->mapped;
		stream->map_bytes = new_end - e->map_offset;
		stream->map_offset = e->map_offset;
		stream->file_bytes = new_end;
		tail_switch(stream, old_end, slots, first, last);
		sp_pages_free(old_map, old_map_bytes);
	}
	errand_free(e);
	return ret;
}

void sp_stream_finish(struct sp_stream *stream)
{
	struct file_errand *e = stream->write_mode ? NULL : errand_make(stream);

	if (e) {
		SP_SYS2(SYS_truncate, e->path, stream->free_offset);
		errand_free(e);
	}
	sp_stream_abandon(stream);
}

void sp_stream_abandon(struct sp_stream *stream)
{
	sp_pages_free(stream->map, stream->map_bytes);
	stream->map = NULL;
	stream->map_bytes = 0;
}

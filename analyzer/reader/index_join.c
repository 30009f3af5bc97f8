/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/reader/index_join.h"
#include "analyzer/base/order.h"
#include "analyzer/reader/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/hash_free.h"
#include "analyzer/reader/index.h"

/* A block has fewer characters of its host's name than a header. */
#define BRIEF_BYTES sizeof(((struct sp_block_header *)0)->host)

struct host_node {
	struct {
		char name[sizeof(((struct sp_host *)0)->name)];
		uint8_t counter;
	} key;
	char brief[BRIEF_BYTES];
	struct sp_host host;
	uint32_t number;
	UT_hash_handle hh, hh_brief;
};

struct image_node {
	struct {
		struct host_node *host;
		uint64_t start_ns;
		uint64_t pid;
	} key;
	struct sp_process_image image;
	struct host_node *host;
	uint32_t number;
	UT_hash_handle hh;
};

/* The process image of a (host, pid), for streams whose header is lost; image NULL: several. */
struct pid_node {
	struct {
		struct host_node *host;
		uint64_t pid;
	} key;
	struct image_node *image;
	UT_hash_handle hh;
};

struct join {
	struct sp_index *index;
	struct host_node *hosts, *hosts_by_brief;
	struct image_node *images;
	struct pid_node *pids;
	struct image_node **stream_images; /* parallel to index->streams */
};

static struct host_node *host_make(struct join *j, const char *name, bool counter)
{
	struct host_node *h = calloc(1, sizeof(*h)), *other;

	if (!h)
		return NULL;
	memcpy(h->key.name, name, sizeof(h->key.name));
	h->key.counter = counter;
	memcpy(h->brief, name, sizeof(h->brief) - 1);
	memcpy(h->host.name, name, sizeof(h->host.name));
	h->host.counter = counter;
	HASH_ADD(hh, j->hosts, key, sizeof(h->key), h);
	HASH_FIND(hh_brief, j->hosts_by_brief, h->brief, sizeof(h->brief), other);
	if (!other)
		HASH_ADD(hh_brief, j->hosts_by_brief, brief, sizeof(h->brief), h);
	return h;
}

static struct host_node *host_of(struct join *j, const struct sp_segment *s)
{
	struct host_node probe = {.key.counter = 1}, *h;

	memcpy(probe.key.name, s->host, sizeof(s->host));
	if (s->header) {
		probe.key.counter = (s->header->flags & SP_HEADER_CLOCK_COUNTER) != 0;
		HASH_FIND(hh, j->hosts, &probe.key, sizeof(probe.key), h);
	} else {
		memcpy(probe.brief, s->host, sizeof(probe.brief) - 1);
		HASH_FIND(hh_brief, j->hosts_by_brief, probe.brief, sizeof(probe.brief), h);
	}
	return h ? h : host_make(j, probe.key.name, probe.key.counter);
}

static int pid_note(struct join *j, struct image_node *image)
{
	struct pid_node probe, *p;

	memset(&probe, 0, sizeof(probe));
	probe.key.host = image->host;
	probe.key.pid = image->image.pid;
	HASH_FIND(hh, j->pids, &probe.key, sizeof(probe.key), p);
	if (p) {
		p->image = NULL;
		return 0;
	}
	p = malloc(sizeof(*p));
	if (!p)
		return -ENOMEM;
	*p = probe;
	p->image = image;
	HASH_ADD(hh, j->pids, key, sizeof(p->key), p);
	return 0;
}

static struct image_node *image_make(struct join *j, struct host_node *host, uint32_t pid,
				     uint64_t start_ns)
{
	struct image_node *i = calloc(1, sizeof(*i));

	if (!i)
		return NULL;
	i->key.host = i->host = host;
	i->key.pid = i->image.pid = pid;
	i->key.start_ns = i->image.start_ns = start_ns;
	HASH_ADD(hh, j->images, key, sizeof(i->key), i);
	return pid_note(j, i) < 0 ? NULL : i;
}

static struct image_node *image_find(struct join *j, struct host_node *host, uint32_t pid,
				     uint64_t start_ns)
{
	struct image_node probe, *i;

	memset(&probe, 0, sizeof(probe));
	probe.key.host = host;
	probe.key.pid = pid;
	probe.key.start_ns = start_ns;
	HASH_FIND(hh, j->images, &probe.key, sizeof(probe.key), i);
	return i;
}

static struct image_node *image_of_pid(struct join *j, struct host_node *host, uint32_t pid)
{
	struct pid_node probe, *p;

	memset(&probe, 0, sizeof(probe));
	probe.key.host = host;
	probe.key.pid = pid;
	HASH_FIND(hh, j->pids, &probe.key, sizeof(probe.key), p);
	return p ? p->image : NULL;
}

/* The larger of two values of a header's count that only grows; a damaged count is not known. */
static void learn_word(uint64_t *known, uint64_t word)
{
	uint64_t count;

	if (sp_checked_read(word, &count) == 0 && count > *known)
		*known = count;
}

static void image_learn(struct image_node *i, const struct sp_file_header *h)
{
	i->image.ppid = h->ppid;
	i->image.parent_start_ns = h->parent_start_ns;
	i->image.forked |= (h->flags & SP_HEADER_FORKED) != 0;
	i->image.is_sampler |= (h->flags & SP_HEADER_SAMPLER) != 0;
	memcpy(i->image.exe, h->exe, sizeof(i->image.exe) - 1);
	learn_word(&i->image.process_lost, h->process_lost);
	learn_word(&i->image.rank, h->rank);
	learn_word(&i->image.local_rank, h->local_rank);
	learn_word(&i->image.world_size, h->world_size);
	learn_word(&i->image.event_ps, h->event_ps);
	learn_word(&i->image.own_ns, h->own_ns);
	learn_word(&i->image.stall_ns, h->stall_ns);
	learn_word(&i->image.ending, h->ending);
}

static const struct sp_segment *header_segment(const struct sp_stream *s)
{
	for (const struct sp_segment *g = s->segments; g; g = g->next)
		if (g->header)
			return g;
	return s->segments;
}

static void host_learn(struct host_node *host, const struct sp_stream *s)
{
	struct sp_clock *clock = &host->host.clock;

	for (const struct sp_segment *g = s->segments; g; g = g->next) {
		sp_clock_learn(clock, &g->clock.first);
		sp_clock_learn(clock, &g->clock.last);
		if (g->header && g->header->ticks_per_second > clock->ticks_per_second)
			clock->ticks_per_second = g->header->ticks_per_second;
	}
}

/* A window says its numbers modulo 256 generations. Where it stands apart from the last blocks of
 * its stream, these say the rest. */
static void windows_place(struct sp_stream *s)
{
	uint64_t end = 0;

	for (const struct sp_segment *g = s->segments; g; g = g->next)
		if (g->blocks && g->limit > end)
			end = g->limit;
	for (struct sp_segment *g = s->segments; g; g = g->next) {
		if (g->blocks || !g->window_capacity || g->window_newest == UINT64_MAX)
			continue;
		g->limit = sp_window_number_near(g->window_newest, g->window_capacity,
						 end > g->limit ? end : g->limit);
		s->limit = g->limit > s->limit ? g->limit : s->limit;
	}
}

/* with_header: streams with a header come first, so that the others find their image. */
static int place_stream(struct join *j, uint32_t n, bool with_header)
{
	struct sp_stream *s = j->index->streams[n];
	const struct sp_segment *g = header_segment(s);
	uint64_t start_ns = g->header ? g->header->image_start_ns : 0;
	struct image_node *image;
	struct host_node *host;

	if (with_header != (g->header != NULL))
		return 0;
	windows_place(s);
	host = host_of(j, g);
	if (!host)
		return -ENOMEM;
	image = g->header ? NULL : image_of_pid(j, host, g->pid);
	if (!image)
		image = image_find(j, host, g->pid, start_ns);
	if (!image)
		image = image_make(j, host, g->pid, start_ns);
	if (!image)
		return -ENOMEM;
	for (const struct sp_segment *part = s->segments; part; part = part->next)
		if (part->header)
			image_learn(image, part->header);
	host_learn(host, s);
	j->stream_images[n] = image;
	return 0;
}

static void stream_learn(struct sp_stream *s, struct sp_segment *g)
{
	s->digested = g->digested;
	s->limit = g->limit > s->limit ? g->limit : s->limit;
	s->lost = g->lost > s->lost ? g->lost : s->lost;
	for (int i = 0; i < SP_LOST_CAUSES; i++)
		if (g->lost_by[i] > s->lost_by[i])
			s->lost_by[i] = g->lost_by[i];
	s->unfinished = g->unfinished > s->unfinished ? g->unfinished : s->unfinished;
	s->has_last |= g->has_last;
	s->has_window |= g->window_at != UINT64_MAX;
	if (g->mark.what) {
		s->mark = g->mark;
		s->mark_address = g->mark_address;
	}
	if (g->clock.last.ticks > s->last_ticks)
		s->last_ticks = g->clock.last.ticks;
	if (!s->tid)
		s->tid = g->tid;
	if (g->header && !s->has_header) {
		s->has_header = true;
		s->segment = g->header->segment;
		s->tid = g->header->tid;
		s->opened_ticks = g->header->opened.ticks;
		s->write_mode = (g->header->flags & SP_HEADER_WRITE_MODE) != 0;
		memcpy(s->comm, g->header->comm, sizeof(s->comm) - 1);
	}
}

/* In the order of their slots: files of one stream may come in any order. */
static void segment_insert(struct sp_stream *s, struct sp_segment *g)
{
	struct sp_segment **at = &s->segments;

	while (*at && (*at)->first <= g->first)
		at = &(*at)->next;
	g->next = *at;
	*at = g;
}

/* True where a goes further than b: a digest of the same thread that was made later. */
static bool is_further(const struct sp_segment *a, const struct sp_segment *b)
{
	if (a->limit != b->limit)
		return a->limit > b->limit;
	return a->digested->sums_bytes + (uint64_t)a->digested->steps_bytes >
	       b->digested->sums_bytes + (uint64_t)b->digested->steps_bytes;
}

/*
 * Two inputs have the same thread, and one of them is a digest: one is dropped. Events are kept
 * rather than their sums. Returns true where g is dropped, and freed.
 */
static bool drop_repeated(struct sp_index *index, struct sp_stream *s, struct sp_segment *g)
{
	struct sp_segment *had = s->segments;
	UT_hash_handle hh = s->hh;

	if (g->digested && (!had->digested || !is_further(g, had))) {
		index->files[g->file].repeated++;
		sp_segment_free(g);
		return true;
	}
	index->files[had->file].repeated++;
	sp_segment_free(had); /* a thread of a digest has one segment */
	*s = (struct sp_stream){.id = g->stream_id, .hh = hh};
	return false;
}

static int take_segment(struct sp_index *index, struct sp_segment *g)
{
	struct sp_stream *s;

	g->next = NULL;
	HASH_FIND(hh, index->by_id, &g->stream_id, sizeof(g->stream_id), s);
	if (!s) {
		s = calloc(1, sizeof(*s));
		if (!s) {
			sp_segment_free(g);
			return -ENOMEM;
		}
		s->id = g->stream_id;
		HASH_ADD(hh, index->by_id, id, sizeof(s->id), s);
		index->stream_count++;
	}
	if (s->segments && (g->digested || s->segments->digested) && drop_repeated(index, s, g))
		return 0;
	segment_insert(s, g);
	stream_learn(s, g);
	return 0;
}

static int take_segments(struct sp_index *index)
{
	for (uint32_t i = 0; i < index->file_count; i++) {
		struct sp_file *file = &index->files[i];

		while (file->segments) {
			struct sp_segment *g = file->segments;
			int r;

			file->segments = g->next;
			r = take_segment(index, g);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* The walk does not report a header whose magic has become that of a FREE frame. */
static void note_headless(struct sp_index *index)
{
	for (uint32_t i = 0; i < index->stream_count; i++) {
		const struct sp_segment *first = index->streams[i]->segments;
		struct sp_file *file = &index->files[first->file];

		if (!index->streams[i]->has_header && file->damage.places == 0)
			sp_file_damaged(file, SP_DAMAGE_HEAD, first->at, 0);
	}
}

static int list_streams(struct sp_index *index)
{
	uint32_t n = 0;

	index->streams = calloc(index->stream_count + 1, sizeof(struct sp_stream *));
	if (!index->streams)
		return -ENOMEM;
	for (struct sp_stream *s = index->by_id; s; s = s->hh.next)
		index->streams[n++] = s;
	return 0;
}

SP_ORDER(compare_hosts, struct host_node *const,
	 memcmp((*x)->key.name, (*y)->key.name, sizeof((*x)->key.name))
		 ?: SP_COMPARE((*x)->key.counter, (*y)->key.counter))

static int order_hosts(struct join *j)
{
	uint32_t n = HASH_CNT(hh, j->hosts), k = 0;
	struct host_node **list = calloc(n + 1, sizeof(struct host_node *));

	j->index->hosts = calloc(n + 1, sizeof(*j->index->hosts));
	if (!list || !j->index->hosts) {
		free(list);
		return -ENOMEM;
	}
	for (struct host_node *h = j->hosts; h; h = h->hh.next)
		list[k++] = h;
	qsort(list, n, sizeof(struct host_node *), compare_hosts);
	for (k = 0; k < n; k++) {
		list[k]->number = k;
		sp_clock_fit(&list[k]->host.clock, list[k]->host.counter);
		j->index->hosts[k] = list[k]->host;
	}
	j->index->host_count = n;
	free(list);
	return 0;
}

SP_ORDER(compare_images, struct image_node *const,
	 SP_COMPARE((*x)->image.is_sampler, (*y)->image.is_sampler)
	 ?: SP_COMPARE((*x)->host->number, (*y)->host->number)
	 ?: SP_COMPARE((*x)->image.start_ns, (*y)->image.start_ns)
	 ?: SP_COMPARE((*x)->image.pid, (*y)->image.pid))

SP_ORDER(compare_pids, struct image_node *const,
	 SP_COMPARE((*x)->host->number, (*y)->host->number)
	 ?: SP_COMPARE((*x)->image.pid, (*y)->image.pid)
	 ?: SP_COMPARE((*x)->image.start_ns, (*y)->image.start_ns))

/* By a later image of the same pid that no fork made. Reorders the list. */
static void mark_replaced(struct image_node **list, uint32_t n)
{
	const struct image_node *next = NULL;
	uint64_t exec_ns = 0; /* the begin of the last image of the pid by exec; 0: none */

	qsort(list, n, sizeof(*list), compare_pids);
	for (uint32_t k = n; k-- > 0;) {
		struct sp_process_image *it = &list[k]->image;

		if (!next || next->host != list[k]->host || next->image.pid != it->pid)
			exec_ns = 0;
		it->is_replaced = exec_ns > it->start_ns;
		if (!it->forked && !it->is_sampler && !exec_ns)
			exec_ns = it->start_ns;
		next = list[k];
	}
}

static int order_images(struct join *j)
{
	uint32_t n = HASH_CNT(hh, j->images), k = 0;
	struct image_node **list = calloc(n + 1, sizeof(struct image_node *));

	j->index->images = calloc(n + 1, sizeof(*j->index->images));
	if (!list || !j->index->images) {
		free(list);
		return -ENOMEM;
	}
	for (struct image_node *i = j->images; i; i = i->hh.next)
		list[k++] = i;
	mark_replaced(list, n);
	qsort(list, n, sizeof(struct image_node *), compare_images);
	for (k = 0; k < n; k++) {
		list[k]->number = k;
		list[k]->image.host = list[k]->host->number;
		j->index->images[k] = list[k]->image;
	}
	j->index->image_count = n;
	free(list);
	return 0;
}

SP_ORDER(compare_streams, struct sp_stream *const,
	 SP_COMPARE((*x)->image, (*y)->image) ?: SP_COMPARE((*x)->tid, (*y)->tid)
	 ?: SP_COMPARE((*x)->segment, (*y)->segment) ?: SP_COMPARE((*x)->id, (*y)->id))

static void find_marked_files(struct sp_index *index)
{
	index->marked_from = index->marked_to = 0;
	for (uint32_t i = 0; i < index->file_count; i++) {
		if (!index->files[i].runs)
			continue;
		if (!index->marked_to)
			index->marked_from = i;
		index->marked_to = i + 1;
	}
}

/* Samplers are the last images, and so their streams are the last streams. */
static void leave_out_samplers(struct sp_index *index)
{
	while (index->stream_count &&
	       index->images[index->streams[index->stream_count - 1]->image].is_sampler) {
		index->stream_count--;
		index->sampler_count++;
	}
	while (index->image_count && index->images[index->image_count - 1].is_sampler)
		index->image_count--;
}

static void free_nodes(struct join *j)
{
	HASH_CLEAR(hh_brief, j->hosts_by_brief);
	SP_HASH_FREE(j->hosts);
	SP_HASH_FREE(j->images);
	SP_HASH_FREE(j->pids);
	free(j->stream_images);
}

static int place_streams(struct join *j)
{
	int r = 0;

	j->stream_images = calloc(j->index->stream_count + 1, sizeof(struct image_node *));
	if (!j->stream_images)
		return -ENOMEM;
	for (int with_header = 1; with_header >= 0; with_header--)
		for (uint32_t n = 0; r == 0 && n < j->index->stream_count; n++)
			r = place_stream(j, n, with_header);
	return r;
}

int sp_index_join(struct sp_index *index)
{
	struct join j = {.index = index};
	int r = take_segments(index);

	if (r == 0)
		r = list_streams(index);
	if (r == 0) {
		note_headless(index);
		r = place_streams(&j);
	}
	if (r == 0)
		r = order_hosts(&j);
	if (r == 0)
		r = order_images(&j);
	for (uint32_t n = 0; r == 0 && n < index->stream_count; n++)
		index->streams[n]->image = j.stream_images[n]->number;
	if (r == 0)
		qsort(index->streams, index->stream_count, sizeof(struct sp_stream *),
		      compare_streams);
	if (r == 0)
		leave_out_samplers(index);
	find_marked_files(index);
	free_nodes(&j);
	return r;
}

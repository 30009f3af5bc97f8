/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/workers/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/add_up.h"
#include "analyzer/base/intervals.h"
#include "analyzer/base/jobs.h"
#include "analyzer/workers/process_tree.h"
#include "analyzer/workers/thread_role.h"
#include "analyzer/totals/totals.h"
#include "analyzer/training/training.h"

#define SLOW_READ_NS 100000u /* memory is faster */
#define PIECES_MAX 65536u    /* in one fetch; beyond, the older half counts as outside */
#define FETCHES_MAX 64u	     /* that a later one may contain; beyond, the older half stands alone */

/* Time, and the part of the time that fell into the trainer's waits. */
struct span {
	uint64_t ns, meanwhile_ns;
};

/* A counted call, kept until the call that contains it ends. */
struct piece {
	int64_t start_ns, end_ns;
	enum sp_work work;
	bool receives;		   /* an idle call that reads from a socket or pipe */
	struct span self, covered; /* covered: self and the calls inside */
	uint64_t known_ns;	   /* of covered, in calls that read or wait */
	struct sp_fetch_files files;
};

/* A fetch, kept until no later one can contain it: a data set may read a loader of its own. */
struct fetch {
	int64_t start_ns, end_ns;
	struct sp_fetches part;
	struct sp_call_waits waits;	   /* in it, also in fetches inside */
	struct sp_wait_fetch whole, inner; /* with the fetches inside of it; the sums of those */
	uint64_t inner_blocked_ns, inner_preempted_ns; /* the same, in no known call */
	bool is_waited;				       /* for a step's batch */
};

struct worker_builder {
	const struct sp_run *run;
	struct sp_worker *worker;
	const struct sp_steps *steps;  /* the trainer's */
	struct sp_receiving receiving; /* of the training thread */
	struct piece *pieces;	       /* PIECES_MAX */
	uint32_t count;
	struct span aside; /* of the open fetch: page faults and waits for a core, in no piece */
	int64_t aside_ns;  /* begin of the last of them */
	struct sp_call_waits waits; /* of the open fetch */
	struct fetch fetches[FETCHES_MAX];
	uint32_t fetch_count;
	struct sp_wait_sums *causes;
	struct sp_reader reader;
	struct sp_event_reader events;
};

static struct span span_of(const struct worker_builder *b, int64_t start_ns, int64_t end_ns)
{
	const struct sp_steps *s = b->steps;

	return (struct span){(uint64_t)(end_ns - start_ns),
			     sp_intervals_before(s->waits, s->wait_count, end_ns) -
				     sp_intervals_before(s->waits, s->wait_count, start_ns)};
}

static const struct sp_process_metadata *metadata_of(const struct worker_builder *b)
{
	return sp_run_process(b->run, b->worker->stream);
}

static enum sp_stage stage_of(const struct worker_builder *b, const struct sp_read_event *event)
{
	uint32_t arg = sp_commit_arg(event->slot->commit);

	return sp_stage_of(event->kind, event->info->arg == SP_ARG_FILE
						? sp_process_fd_kind(metadata_of(b), arg)
						: SP_FD_KIND_UNKNOWN);
}

static void add_span(struct span *to, struct span span)
{
	to->ns += span.ns;
	to->meanwhile_ns += span.meanwhile_ns;
}

/* So much of it, with its share of the trainer's waits. */
static struct span part_of(struct span whole, uint64_t ns)
{
	return (struct span){ns, (uint64_t)((double)whole.meanwhile_ns * (double)ns /
					    (double)whole.ns)};
}

static void add(struct worker_builder *b, enum sp_work work, struct span span)
{
	b->worker->whole.ns[work] += span.ns;
	b->worker->meanwhile.ns[work] += span.meanwhile_ns;
}

static void move(struct worker_builder *b, enum sp_work from, enum sp_work to, struct span span)
{
	b->worker->whole.ns[from] -= span.ns;
	b->worker->meanwhile.ns[from] -= span.meanwhile_ns;
	add(b, to, span);
}

static bool reads_or_waits(enum sp_work work)
{
	enum sp_work_kind kind = sp_work_kind(work);

	return kind == SP_WORK_KIND_READ || kind == SP_WORK_KIND_RECEIVE ||
	       kind == SP_WORK_KIND_IDLE;
}

/* The library reads its file, and decompresses chunks, by calls that are seen as well. */
static void count_hdf5(struct worker_builder *b, const struct piece *inner)
{
	bool reads = inner->work == SP_WORK_file_read, unpacks = inner->work == SP_WORK_decompress;

	b->worker->whole.hdf5_file_ns += reads ? inner->self.ns : 0;
	b->worker->meanwhile.hdf5_file_ns += reads ? inner->self.meanwhile_ns : 0;
	b->worker->whole.hdf5_decompress_ns += unpacks ? inner->self.ns : 0;
	b->worker->meanwhile.hdf5_decompress_ns += unpacks ? inner->self.meanwhile_ns : 0;
}

static bool is_waited(const struct worker_builder *b, const struct span *span)
{
	return b->receiving.steps && span->meanwhile_ns > 0;
}

/* Counts a part of a fetch; for_step: for steps, too, because it lies in a wait of the training
 * thread for a step's batch. */
static void count(struct worker_builder *b, bool for_step, const struct sp_fetches *part)
{
	SP_ADD_UP(&b->worker->fetches, part);
	if (for_step)
		SP_ADD_UP(&b->worker->waited, part);
}

/* A wait inside a fetch is no idleness. */
static void stop_idling(struct worker_builder *b, const struct piece *p)
{
	move(b, p->work, p->receives ? SP_WORK_pipe_read : SP_WORK_fetch_wait, p->self);
	if (!p->receives)
		count(b, is_waited(b, &p->self), &(struct sp_fetches){.locked_ns = p->self.ns});
}

/* PyTorch's own collating copies samples into large tensors, so its time goes with their bytes. */
static bool is_stacking(const struct worker_builder *b, const struct sp_slot *slot)
{
	static const char name[] = "default_collate";
	uint32_t label = sp_process_label(metadata_of(b), sp_commit_arg(slot->commit));
	size_t bytes;
	const char *text = sp_string_table_text(&b->run->metadata.labels, label, &bytes);

	return bytes == sizeof(name) - 1 && memcmp(text, name, bytes) == 0;
}

static void count_stacking(struct worker_builder *b, const struct piece *collating)
{
	b->worker->fetches.stacked_ns += collating->self.ns;
	if (b->receiving.steps)
		b->worker->waited.stacked_ns += collating->self.meanwhile_ns;
}

static bool is_of_validation(const struct worker_builder *b, const struct fetch *f)
{
	const struct sp_phase_segment *at =
		sp_thread_timeline_at(&b->steps->timeline,
				      f->start_ns + (f->end_ns - f->start_ns) / 2);

	return at && at->phase == SP_ACCOUNT_validation;
}

/* Counts the first n of the fetches that were kept. */
static void settle(struct worker_builder *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		count(b, b->fetches[i].is_waited, &b->fetches[i].part);
		b->worker->validation_batches += is_of_validation(b, &b->fetches[i]);
	}
	b->fetch_count -= n;
	memmove(b->fetches, &b->fetches[n], b->fetch_count * sizeof(b->fetches[0]));
}

#define FETCH_TIMES(DO) DO(wall_ns) DO(cpu_ns) DO(ready_ns) DO(read_ns) DO(blocked_ns) DO(page_ns)

static void sum_fetches(struct sp_wait_fetch *sum, const struct sp_wait_fetch *fetch)
{
#define SUM(time) sum->time += fetch->time;
	FETCH_TIMES(SUM)
}

/* A batch of a loader inside a fetch is a part of that fetch's batch. */
static void put_fetch(struct worker_builder *b, const struct piece *p)
{
	uint32_t first = SP_NEST_FIRST(b->fetches, b->fetch_count, start_ns, p->start_ns);
	struct fetch fetch = {.start_ns = p->start_ns,
			      .end_ns = p->end_ns,
			      .part = {.batches = 1, .files = p->files},
			      .waits = b->waits,
			      .is_waited = is_waited(b, &p->covered)};

	/* The recorder counts on from the end of a fetch inside. */
	b->waits = (struct sp_call_waits){.has_switches = false};
	for (uint32_t i = first; i < b->fetch_count; i++) {
		fetch.waits.page_blocked_ns += b->fetches[i].waits.page_blocked_ns;
		fetch.waits.ready_ns += b->fetches[i].waits.ready_ns;
		fetch.waits.blocked_ns += b->fetches[i].waits.blocked_ns;
		sum_fetches(&fetch.inner, &b->fetches[i].whole);
		fetch.inner_blocked_ns += b->fetches[i].part.usage.blocked_ns;
		fetch.inner_preempted_ns += b->fetches[i].part.usage.preempted_ns;
	}
	b->fetch_count = first;
	if (first == FETCHES_MAX)
		settle(b, FETCHES_MAX / 2);
	b->fetches[b->fetch_count++] = fetch;
}

/* A picture of a decoder that stays open may have begun in the fetch of an earlier batch. */
static int64_t after_fetch(const struct worker_builder *b, int64_t start_ns)
{
	for (uint32_t i = b->count; i > 0 && b->pieces[i - 1].end_ns > start_ns; i--)
		if (b->pieces[i - 1].work == SP_WORK_transform)
			return b->pieces[i - 1].end_ns;
	return start_ns;
}

/* The call that an interval lies in; NULL: it lies in none that has ended. */
static struct piece *piece_around(struct worker_builder *b, int64_t start_ns, int64_t end_ns)
{
	uint32_t first = SP_LOWER_BOUND(b->pieces, b->count, end_ns, end_ns);

	return first < b->count && b->pieces[first].start_ns <= start_ns ? &b->pieces[first] : NULL;
}

/* Time that the recorder emits at the fetch's end: it is taken out of the call that it lies in. */
static void take_aside(struct worker_builder *b, enum sp_work work, int64_t start_ns,
		       int64_t end_ns)
{
	struct span span = span_of(b, start_ns, end_ns);
	struct piece *p = piece_around(b, start_ns, end_ns);

	if (!p) {
		add(b, work, span);
		add_span(&b->aside, span);
		b->aside_ns = start_ns;
		return;
	}
	span.ns = sp_least_ns(span.ns, p->self.ns);
	span.meanwhile_ns = sp_least_ns(span.meanwhile_ns, p->self.meanwhile_ns);
	p->self.ns -= span.ns;
	p->self.meanwhile_ns -= span.meanwhile_ns;
	move(b, p->work, work, span);
}

/* inside_ns: the call's own time if that is known to be less than its span, else UINT64_MAX. */
static void take(struct worker_builder *b, enum sp_work work, enum sp_stage stage, int64_t start_ns,
		 int64_t end_ns, uint64_t inside_ns)
{
	int64_t from_ns = inside_ns == UINT64_MAX ? start_ns : after_fetch(b, start_ns);
	struct span span = span_of(b, from_ns, end_ns);
	struct piece p = {.start_ns = from_ns,
			  .end_ns = end_ns,
			  .work = work,
			  .receives = stage == SP_STAGE_ipc_read};
	uint32_t first = SP_NEST_FIRST(b->pieces, b->count, start_ns, from_ns);
	uint64_t room;

	while (b->count > first) {
		const struct piece *inner = &b->pieces[--b->count];

		add_span(&p.covered, inner->covered);
		p.known_ns += inner->known_ns;
		SP_ADD_UP(&p.files, &inner->files);
		if (inner->work == SP_WORK_idle && work == SP_WORK_transform)
			stop_idling(b, inner);
		else if (inner->work == SP_WORK_decompress && sp_work_contains_decompression(work))
			move(b, inner->work, work, inner->self);
		else if (inner->work == SP_WORK_idle && sp_work_kind(work) == SP_WORK_KIND_DECODE)
			move(b, inner->work, work, inner->self); /* for the library's threads */
		else if (work == SP_WORK_hdf5)
			count_hdf5(b, inner);
	}
	if (reads_or_waits(work))
		p.known_ns = span.ns;
	if (work == SP_WORK_transform) {
		/* A fetch whose end was lost keeps its own. */
		if (b->aside_ns >= from_ns)
			add_span(&p.covered, b->aside);
		b->aside = (struct span){0, 0};
	}
	room = sp_rest_ns(span.ns, p.covered.ns);
	p.self = (struct span){room, sp_rest_ns(span.meanwhile_ns, p.covered.meanwhile_ns)};
	if (inside_ns < room)
		p.self = part_of(p.self, inside_ns);
	add(b, work, p.self);
	add_span(&p.covered, p.self);
	if (work == SP_WORK_transform)
		put_fetch(b, &p);
	if (b->count == PIECES_MAX) {
		b->count /= 2;
		memmove(b->pieces, b->pieces + b->count, b->count * sizeof(*b->pieces));
	}
	b->pieces[b->count++] = p;
}

/* Moves a part of a fetch's own time from transform, which is time on a core. */
static void move_part(struct worker_builder *b, struct span *self, uint64_t ns, enum sp_work to)
{
	struct span moved = {sp_least_ns(ns, self->ns), 0};

	if (!moved.ns)
		return;
	moved = part_of(*self, moved.ns);
	move(b, SP_WORK_transform, to, moved);
	self->ns -= moved.ns;
	self->meanwhile_ns -= moved.meanwhile_ns;
}

/* Reading what the page cache holds is copying, which takes a core and no disk. */
static void move_cached(struct worker_builder *b, const struct piece *fetch, uint64_t cached_ns)
{
	struct span moved = {sp_least_ns(cached_ns, b->worker->whole.ns[SP_WORK_file_read]), 0};

	if (fetch->covered.ns)
		moved = part_of(fetch->covered, moved.ns);
	moved.meanwhile_ns =
		sp_least_ns(moved.meanwhile_ns, b->worker->meanwhile.ns[SP_WORK_file_read]);
	move(b, SP_WORK_file_read, SP_WORK_cached_read, moved);
}

/* Returns the time of reads of files in the fetch's own part that was surely on a core. */
static uint64_t take_causes(struct worker_builder *b, const struct piece *p, struct fetch *fetch,
			    bool waits_for_pages)
{
	const struct sp_call_rusage_sums *usage = &fetch->part.usage;
	const struct sp_call_waits *waits = &fetch->waits;
	const struct sp_wait_fetch *inner = &fetch->inner;
	const struct sp_wait_fetch whole = {.start_ns = p->start_ns,
					    .wall_ns = sp_interval_ns(p->start_ns, p->end_ns),
					    .cpu_ns = usage->cpu_ns,
					    .ready_ns = waits->has_switches ? waits->ready_ns
									    : usage->preempted_ns,
					    .read_ns = p->files.read_ns,
					    .is_observed = waits->has_switches,
					    .waits_for_pages = waits_for_pages,
					    .blocked_ns = waits->blocked_ns,
					    .page_ns = waits->page_blocked_ns};
	struct sp_wait_fetch own = whole;

#define TAKE_OUT(time) own.time = sp_rest_ns(whole.time, inner->time);
	FETCH_TIMES(TAKE_OUT)
	fetch->whole = whole;
	return sp_wait_sums_fetch(b->causes, &own);
}

/* Takes the last piece as a fetch. Its time without a core in no known call is no transform, but in
 * fetches inside it has been taken. Waits for a core that were observed are in no piece already. */
static void take_fetch(struct worker_builder *b, uint64_t ns, const uint64_t words[3])
{
	const struct piece *p = &b->pieces[b->count - 1];
	struct fetch *fetch = &b->fetches[b->fetch_count - 1];
	const struct sp_call_rusage_sums usage =
		sp_call_rusage_sums_of(words, ns, p->known_ns, &fetch->waits);
	bool is_mapped = !fetch->waits.has_faults && sp_call_rusage_blocks_on_pages(&usage);
	struct span self = p->self;

	fetch->part.usage = usage;
	move_cached(b, p, take_causes(b, p, fetch, is_mapped));
	move_part(b, &self, sp_rest_ns(usage.blocked_ns, fetch->inner_blocked_ns),
		  is_mapped ? SP_WORK_mapped_read : SP_WORK_fetch_wait);
	move_part(b, &self,
		  fetch->waits.has_switches
			  ? 0
			  : sp_rest_ns(usage.preempted_ns, fetch->inner_preempted_ns),
		  SP_WORK_core_wait);
}

/* The sums of a fetch, which comes next, or of a time between fetches. */
static void take_waits(struct worker_builder *b, const struct sp_slot *slot,
		       const struct sp_slot *extra, int64_t at_ns)
{
	uint32_t flags = sp_commit_arg(slot->commit);
	bool has_lost = slot->value != 0;

	if (flags & SP_WAITS_OUTSIDE)
		sp_wait_sums_between(b->causes,
				     &(struct sp_wait_between){.end_ns = at_ns,
							       .has_lost = has_lost,
							       .blocked_ns = extra->ticks,
							       .page_ns = extra->start,
							       .ready_ns = (uint64_t)extra->value});
	else
		b->waits = (struct sp_call_waits){.has_switches = !has_lost,
						  .has_faults = flags & SP_WAITS_FAULTS,
						  .page_blocked_ns = extra->start,
						  .blocked_ns = extra->ticks,
						  .ready_ns = (uint64_t)extra->value};
}

/* Observations of a fetch come before the fetch itself. */
static void take_observed(struct worker_builder *b, const struct sp_read_event *event)
{
	const struct sp_slot *slot = event->slot, *extra = event->extra;
	uint32_t arg = sp_commit_arg(slot->commit);
	int64_t start_ns = sp_event_start_ns(&b->events, event),
		end_ns = sp_event_end_ns(&b->events, event);

	if (end_ns < start_ns)
		return;
	if (event->kind == SP_EV_off_core)
		sp_wait_sums_off_core(b->causes, (enum sp_no_core)slot->value, start_ns, end_ns);
	if (event->kind == SP_EV_page_fault) {
		sp_wait_sums_page(b->causes, arg, (uint64_t)(end_ns - start_ns));
		if (!(slot->value & SP_PAGE_OUTSIDE))
			take_aside(b, SP_WORK_mapped_read, start_ns, end_ns);
	} else if (event->kind == SP_EV_off_core && slot->value == SP_NO_CORE_PREEMPTED && !arg) {
		take_aside(b, SP_WORK_core_wait, start_ns, end_ns);
	} else if (event->kind == SP_EV_waits && extra) {
		take_waits(b, slot, extra, end_ns);
	}
}

/* Gives a call that may wait to the sums by cause. */
static void take_cause(struct worker_builder *b, const struct sp_read_event *event,
		       enum sp_stage stage)
{
	const struct sp_slot *slot = event->slot;
	uint32_t arg = sp_commit_arg(slot->commit);
	enum sp_fd_kind fd_kind = event->info->arg == SP_ARG_FILE
					  ? sp_process_fd_kind(metadata_of(b), arg)
					  : SP_FD_KIND_UNKNOWN;
	struct sp_wait_call call = {.reads_file = stage == SP_STAGE_file_read,
				    .is_timed_out = slot->value == -ETIMEDOUT,
				    .id = event->info->arg == SP_ARG_NONE ? 0 : arg};

	if (!sp_cause_of(event->kind, stage, fd_kind, &call.cause, &call.waits_all))
		return;
	call.start_ns = sp_event_start_ns(&b->events, event);
	call.end_ns = sp_event_end_ns(&b->events, event);
	sp_wait_sums_call(b->causes, &call);
}

static void take_usage(struct worker_builder *b, const struct sp_slot *slot,
		       const struct sp_slot *extra, uint64_t ns)
{
	uint64_t words[3] = {extra->start, extra->ticks, (uint64_t)extra->value};

	if (slot->value == SP_PHASE_loader_fetch)
		take_fetch(b, ns, words);
}

static void note_files(struct sp_fetch_files *files, enum sp_stage stage, int64_t value,
		       uint64_t ns)
{
	if (stage == SP_STAGE_file_read) {
		files->reads++;
		files->read_bytes += value > 0 ? (uint64_t)value : 0;
		files->read_ns += ns;
		files->slow_reads += ns >= SLOW_READ_NS;
		files->slow_read_ns += ns >= SLOW_READ_NS ? ns : 0;
	}
	files->opens += stage == SP_STAGE_file_open;
	files->plain_bytes += stage == SP_STAGE_decompress && value > 0 ? (uint64_t)value : 0;
	if (stage == SP_STAGE_hdf5_read && value > 0) { /* `files` has what is inside of it */
		files->hdf5_bytes += (uint64_t)value;
		files->hdf5_inner_bytes += files->plain_bytes > files->read_bytes
						   ? files->plain_bytes
						   : files->read_bytes;
	}
	if (stage == SP_STAGE_hdf5_open) {
		files->hdf5_opens++;
		files->hdf5_open_ns += ns;
	}
}

/* The names of the last files of a long run may have found no room: the last one is known. */
static bool is_shm(const struct worker_builder *b, uint32_t file)
{
	const struct sp_process_metadata *image = metadata_of(b);
	uint32_t name = sp_process_file(image, file);
	const char *path;
	size_t bytes;

	if (image->shm_last && sp_file_count(file) == image->shm_last)
		return true;
	if (!image->files || name == SP_STRINGS_REST)
		return false;
	path = sp_string_table_text(&b->run->metadata.files, name, &bytes);
	return sp_metadata_is_shm(path, bytes);
}

static bool meets_full_shm(const struct worker_builder *b, const struct sp_read_event *event)
{
	return event->kind == SP_EV_fallocate && event->slot->value == -ENOSPC &&
	       is_shm(b, sp_commit_arg(event->slot->commit));
}

static void take_event(struct worker_builder *b, const struct sp_read_event *event)
{
	const struct sp_slot *slot = event->slot, *extra = event->extra;
	bool is_call = event->kind == SP_EV_python_call;
	bool is_usage = extra && is_call, is_draw = is_call && slot->value == SP_PHASE_sampler;
	enum sp_stage stage = stage_of(b, event);
	enum sp_work work = SP_WORKS;
	int64_t start_ns, end_ns;

	take_observed(b, event);
	take_cause(b, event, stage);
	b->worker->met_full_shm |= meets_full_shm(b, event);
	if (!sp_work_of(slot, stage, &work) && !is_usage && !is_draw)
		return;
	start_ns = sp_event_start_ns(&b->events, event);
	end_ns = sp_event_end_ns(&b->events, event);
	if (end_ns < start_ns)
		return;
	if (b->receiving.steps && is_draw)
		sp_receiving_draw(&b->receiving, start_ns, end_ns);
	else if (b->receiving.steps)
		sp_receiving_take(&b->receiving, stage, start_ns, end_ns, slot->value);
	if (work != SP_WORKS) {
		take(b, work, stage, start_ns, end_ns,
		     extra && !is_usage
			     ? sp_clock_span_ns(b->events.clock->ns_per_tick, extra->start)
			     : UINT64_MAX);
		note_files(&b->pieces[b->count - 1].files, stage, slot->value,
			   (uint64_t)(end_ns - start_ns));
		if (work == SP_WORK_collate && is_stacking(b, slot))
			count_stacking(b, &b->pieces[b->count - 1]);
	}
	if (is_usage)
		take_usage(b, slot, extra, (uint64_t)(end_ns - start_ns));
}

/* The context switches of a fetch tell roughly how long it waited for a core. The kernel knows how
 * long the thread did in its whole life: what is beyond was a wait for something else. */
static void bound_core_waits(struct worker_builder *b)
{
	const struct sp_thread_usage *usage = &b->run->metadata.usages[b->worker->stream];
	struct span waits = {b->worker->whole.ns[SP_WORK_core_wait],
			     b->worker->meanwhile.ns[SP_WORK_core_wait]};
	uint64_t beyond_ns = sp_rest_ns(waits.ns, usage->whole.ready_ns);

	if (usage->is_known && beyond_ns)
		move(b, SP_WORK_core_wait, SP_WORK_fetch_wait, part_of(waits, beyond_ns));
}

static void finish_sums(struct worker_builder *b)
{
	struct sp_worker *w = b->worker;
	struct span life = span_of(b, w->begin_ns, w->end_ns);

	bound_core_waits(b);
	for (int work = 0; work < SP_WORK_other; work++) {
		life.ns = sp_rest_ns(life.ns, w->whole.ns[work]);
		life.meanwhile_ns = sp_rest_ns(life.meanwhile_ns, w->meanwhile.ns[work]);
	}
	w->whole.ns[SP_WORK_other] = life.ns;
	w->meanwhile.ns[SP_WORK_other] = life.meanwhile_ns;
}

static void read_worker(struct worker_builder *b)
{
	struct sp_stream *stream = b->run->index.streams[b->worker->stream];
	struct sp_read_event event;

	b->count = b->fetch_count = 0;
	b->aside = (struct span){0, 0};
	b->waits = (struct sp_call_waits){.has_switches = false};
	sp_event_reader_open(&b->events, &b->reader, &b->run->index, stream);
	b->events.span = sp_run_span(b->run, stream->image);
	while (sp_event_reader_next(&b->events, &event))
		take_event(b, &event);
	settle(b, b->fetch_count);
}

/* A worker waits all its life, also for the trainer; a trainer in its steps. */
static struct sp_wait_times times_of(const struct worker_builder *b)
{
	const struct sp_worker *w = b->worker;
	const struct sp_thread_usage *usage = &b->run->metadata.usages[w->stream];
	const struct sp_rusage_metadata *whole = &usage->whole, *first = &usage->first.usage,
					*last = &usage->last.usage;
	const struct sp_clock *clock = &sp_run_host(b->run, w->stream)->clock;

	if (b->receiving.steps && usage->first.at && usage->last.at > usage->first.at)
		return (struct sp_wait_times){.begin_ns =
						      sp_clock_realtime_ns(clock, usage->first.at),
					      .end_ns = sp_clock_realtime_ns(clock, usage->last.at),
					      .is_known = first->ready_ns != UINT64_MAX &&
							  last->ready_ns != UINT64_MAX,
					      .cpu_ns = sp_rest_ns(last->cpu_ns, first->cpu_ns),
					      .ready_ns =
						      sp_rest_ns(last->ready_ns, first->ready_ns)};
	return (struct sp_wait_times){.begin_ns = w->begin_ns,
				      .end_ns = w->end_ns,
				      .is_known = usage->is_known && whole->ready_ns != UINT64_MAX,
				      .cpu_ns = whole->cpu_ns,
				      .ready_ns = whole->ready_ns};
}

static bool find_trainer(const struct sp_training *training, uint32_t stream, struct sp_worker *ret)
{
	uint32_t image = training->run->index.streams[stream]->image;

	ret->trainer = sp_trainer_above(training, image);
	if (ret->trainer == training->count)
		return false;
	ret->is_trainer = sp_trainer_process(training, ret->trainer) == image;
	return ret->is_trainer || sp_may_serve(training->run, stream);
}

struct worker_pass {
	const struct sp_totals *totals;
	const struct sp_training *training;
	struct worker_builder *builders;   /* one a job */
	struct sp_batch_receive *receives; /* one a job */
	struct sp_worker *list;		   /* by stream */
	struct sp_thread_waits *waits;	   /* by stream */
};

static int read_stream(void *context, unsigned job, uint32_t i)
{
	struct worker_pass *pass = context;
	struct worker_builder *b = &pass->builders[job];
	struct sp_worker *w = &pass->list[i];
	struct sp_batch_receive received;
	struct sp_wait_times times;

	w->stream = pass->waits[i].stream = i;
	if (!sp_run_process(pass->training->run, i)->labels ||
	    !sp_run_selects(pass->training->run, i) || !find_trainer(pass->training, i, w))
		return 0;
	sp_stream_life(pass->training->run, pass->totals, i, &w->begin_ns, &w->end_ns);
	b->worker = w;
	b->steps = &pass->training->trainers[w->trainer].steps;
	b->receiving = (struct sp_receiving){
		.steps = i == pass->training->trainers[w->trainer].stream ? b->steps : NULL};
	times = times_of(b);
	sp_wait_sums_begin(b->causes, &times);
	read_worker(b);
	finish_sums(b);
	received = sp_receiving_sum(&b->receiving);
	SP_ADD_UP(&pass->receives[job], &received);
	if (!w->fetches.batches && !b->receiving.steps)
		return 0;
	return sp_wait_sums_end(b->causes, &pass->waits[i]);
}

static int builder_init(struct worker_builder *b, const struct sp_run *run)
{
	b->run = run;
	b->pieces = calloc(PIECES_MAX, sizeof(*b->pieces));
	b->causes = sp_wait_sums_new();
	return sp_reader_init(&b->reader) < 0 || !b->pieces || !b->causes ? -ENOMEM : 0;
}

static uint32_t pid_of(const struct sp_run *run, uint32_t stream)
{
	return run->index.images[run->index.streams[stream]->image].pid;
}

static int read_streams(struct sp_workers *workers, struct worker_pass *pass, unsigned jobs)
{
	uint32_t n = pass->training->run->index.stream_count;
	int result = 0;

	for (unsigned i = 0; i < jobs; i++)
		if (builder_init(&pass->builders[i], pass->training->run) < 0)
			result = -ENOMEM;
	if (result == 0)
		result = sp_jobs_run(jobs, n, read_stream, pass);
	for (unsigned i = 0; i < jobs; i++) {
		SP_ADD_UP(&workers->receive, &pass->receives[i]);
		sp_reader_finish(&pass->builders[i].reader);
		free(pass->builders[i].pieces);
		sp_wait_sums_free(pass->builders[i].causes);
	}
	for (uint32_t i = 0; result == 0 && i < n && !workers->full_shm_pid; i++)
		if (pass->list[i].met_full_shm)
			workers->full_shm_pid = pid_of(pass->training->run, i);
	for (uint32_t i = 0; result == 0 && i < n; i++)
		if (pass->list[i].fetches.batches)
			workers->list[workers->count++] = pass->list[i];
	for (uint32_t i = 0; i < n; i++)
		if (pass->waits[i].rows)
			workers->waits[workers->wait_count++] = pass->waits[i];
	return result;
}

int sp_workers_read(struct sp_workers *workers, const struct sp_totals *totals,
		    const struct sp_training *training)
{
	struct worker_pass pass = {.totals = totals, .training = training};
	int result = -ENOMEM;

	*workers = (struct sp_workers){.list = NULL};
	pass.builders = calloc(training->run->jobs, sizeof(*pass.builders));
	pass.receives = calloc(training->run->jobs, sizeof(*pass.receives));
	workers->list = pass.list =
		calloc(training->run->index.stream_count + 1u, sizeof(*pass.list));
	workers->waits = pass.waits =
		calloc(training->run->index.stream_count + 1u, sizeof(*pass.waits));
	if (pass.builders && pass.receives && pass.list && pass.waits)
		result = read_streams(workers, &pass, training->run->jobs);
	free(pass.builders);
	free(pass.receives);
	return result;
}

void sp_workers_finish(struct sp_workers *workers)
{
	for (uint32_t i = 0; i < workers->wait_count; i++)
		free(workers->waits[i].rows);
	free(workers->waits);
	free(workers->list);
	*workers = (struct sp_workers){.list = NULL};
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/hang.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/instant.h"
#include "analyzer/hang/thread_past.h"
#include "analyzer/reader/clock_convert.h"
#include "analyzer/report/report.h"
#include "analyzer/totals/process_end.h"
#include "analyzer/totals/thread_end.h"
#include "analyzer/workers/thread_role.h"
#include "trace/events.h"

/* A loader asks its queue again every 5 s, so a wait that is longer is no loader's. */
#define LEAST_NS INT64_C(4000000000)
#define LEAST_UNTRIED_NS INT64_C(10000000000) /* with too few steps to know how long one takes */
#define POLL_NS INT64_C(5500000000)
#define STEPS_TRIED 5u
#define TIMES_LONGEST 3			/* as long as the longest stretch without a step so far */
#define GIVEN_UP_NS INT64_C(1000000000) /* a shorter call that was given up ends no hang */
#define SILENT_LEAST_NS INT64_C(6000000000)
/* Trainers that gave up a wait: each one's end is compared with all others' calls. */
#define GIVEN_UP_TRIED 8u
/* A killed thread is hardly found by chance in a call that took less than 1/RARE of its life. */
#define RARE 100u

struct looking {
	const struct sp_report *report;
	int64_t end_ns; /* of the run, or when it was read, or when the trainer gave up */
	struct sp_thread_past *past; /* of each stream at end_ns, once read; NULL: what they do at
					their end */
	bool is_signal;		     /* one ended the trainer's wait at end_ns */
	bool is_matched;
	struct sp_group_match
		match; /* of the ranks, once is_matched; none in a run of one trainer */
};

static const struct sp_stream *stream_of(const struct sp_report *report, uint32_t i)
{
	return report->run.index.streams[i];
}

struct sp_process_end sp_hang_end_of(const struct sp_report *report, uint32_t stream)
{
	const struct sp_stream *s = stream_of(report, stream);
	struct sp_hang_tail tail;

	return sp_hang_tail_read(s, &tail)
		       ? tail.end
		       : sp_process_end_of(&report->run, &report->totals, s->image);
}

static bool has_ended(const struct looking *l, uint32_t stream)
{
	if (sp_thread_end_of(&l->report->run, &l->report->totals, stream) == SP_THREAD_END_NONE)
		return false;
	/* A signal for all processes reaches some earlier. */
	return !l->past ||
	       sp_hang_end_of(l->report, stream).at_ns < l->end_ns - SP_THREAD_PAST_SIGNAL_NS;
}

/* The kind of a mark; 0: none. */
static uint32_t marked(const struct sp_stream *s)
{
	uint32_t kind = sp_commit_kind(s->mark.what);

	return s->mark.what && kind < SP_EVENT_KINDS ? kind : 0;
}

static const struct sp_thread_past *past_of(const struct looking *l, uint32_t stream)
{
	if (!l->past || marked(stream_of(l->report, stream)))
		return NULL;
	if (!l->past[stream].is_read)
		l->past[stream] =
			sp_thread_past_read(&l->report->run, stream, l->end_ns, l->is_signal);
	return &l->past[stream];
}

/* The kind of the call that the thread is inside of; 0: of none. */
static uint32_t call_of(const struct looking *l, uint32_t stream)
{
	const struct sp_thread_past *past = past_of(l, stream);

	return past ? past->kind : marked(stream_of(l->report, stream));
}

static int64_t mark_ns(const struct looking *l, uint32_t stream)
{
	const struct sp_thread_past *past = past_of(l, stream);
	int64_t start = past ? past->since_ns
			     : sp_clock_realtime_ns(&sp_run_host(&l->report->run, stream)->clock,
						    stream_of(l->report, stream)->mark.start_ticks);

	return start < l->end_ns ? l->end_ns - start : 0;
}

/* CLOCK_REALTIME, of the thread's last event. */
static int64_t last_event_ns(const struct sp_report *report, uint32_t stream)
{
	int64_t begin_ns, end_ns;

	sp_stream_life(&report->run, &report->totals, stream, &begin_ns, &end_ns);
	return end_ns;
}

/* Since the last event of the thread. */
static int64_t silent_ns(const struct looking *l, uint32_t stream)
{
	const struct sp_thread_past *past = past_of(l, stream);
	int64_t end_ns = past ? past->since_ns : last_event_ns(l->report, stream);

	return end_ns < l->end_ns ? l->end_ns - end_ns : 0;
}

/* For another thread, process or device. */
static bool is_wait(uint32_t kind)
{
	enum sp_class class = kind ? sp_event_info(kind)->class : SP_CLASS_OFF;

	return class == SP_CLASS_WAIT || class == SP_CLASS_CUDA_SYNC || class == SP_CLASS_NCCL ||
	       class == SP_CLASS_COLLECTIVE;
}

static bool is_on_device(uint32_t kind)
{
	enum sp_library library =
		kind ? sp_class_library(sp_event_info(kind)->class) : SP_LIBRARY_NONE;

	return library == SP_LIBRARY_CUDA || library == SP_LIBRARY_NCCL;
}

/* The last stream of a trainer's thread: a clean end begins another one, which follows in the
 * index. */
static uint32_t last_part(const struct sp_report *report, uint32_t stream)
{
	const struct sp_stream *s = stream_of(report, stream);
	uint32_t next = stream + 1;

	while (next < report->run.index.stream_count &&
	       stream_of(report, next)->image == s->image && stream_of(report, next)->tid == s->tid)
		next++;
	return next - 1;
}

/* The run's end: when its files were read where the process still ran; else the command's end, or
 * the last event, or the last look of a launcher that was killed too. */
static int64_t run_end_ns(const struct sp_report *report, uint32_t stream)
{
	struct sp_process_end end = sp_hang_end_of(report, stream);
	struct sp_command_end command = sp_command_end_of(&report->run);
	struct sp_hang_tail tail;
	int64_t seen_ns;

	if (sp_hang_tail_read(stream_of(report, stream), &tail))
		return tail.run_end_ns;
	if (end.how == SP_PROCESS_RUNNING || end.how == SP_PROCESS_STOPPED)
		return report->run.index.read_ns;
	if (command.is_known && command.end.at_ns > report->totals.end_ns)
		return command.end.at_ns;
	seen_ns = sp_command_seen_ns(&report->run, &report->totals);
	return seen_ns > report->totals.end_ns ? seen_ns : report->totals.end_ns;
}

static const char *file_of(const struct looking *l, uint32_t stream, size_t *ret_bytes)
{
	const struct sp_report *report = l->report;
	const struct sp_stream *s = stream_of(report, stream);
	const struct sp_thread_past *past = past_of(l, stream);
	uint32_t number = SP_STRINGS_REST;

	if (!past && s->mark_path) {
		*ret_bytes = strlen(s->mark_path);
		return s->mark_path;
	}
	if (sp_event_info(call_of(l, stream))->arg == SP_ARG_FILE &&
	    report->run.naming == SP_NAMING_PATH)
		number = sp_process_file(&report->run.metadata.images[s->image],
					 past ? past->arg : sp_commit_arg(s->mark.what));
	return sp_string_table_text(&report->run.metadata.files, number, ret_bytes);
}

/* The launcher sees the end of a wait for a lock up to a second after a signal. */
static bool still_waits(const struct looking *l, const struct sp_stream *s)
{
	return !s->lock_gone_ns ||
	       (l->past && (int64_t)s->lock_gone_ns >= l->end_ns - SP_THREAD_PAST_SIGNAL_NS);
}

/* The lock that the thread waits for now; of a run that has ended the one that the launcher saw,
 * if the thread did nothing after that. */
static bool lock_find(const struct looking *l, uint32_t stream, struct sp_live_lock *ret)
{
	const struct sp_report *report = l->report;
	const struct sp_stream *s = stream_of(report, stream);
	enum sp_process_how how = sp_hang_end_of(report, stream).how;
	uint32_t kind = call_of(l, stream);
	int64_t for_ns = kind ? mark_ns(l, stream) : silent_ns(l, stream);
	struct sp_hang_tail tail;

	if (sp_hang_tail_read(s, &tail)) {
		*ret = tail.lock;
		return ret->what != SP_LIVE_LOCK_NONE;
	}
	*ret = (struct sp_live_lock){.what = SP_LIVE_LOCK_NONE};
	if ((kind && !is_wait(kind)) || how == SP_PROCESS_STOPPED || has_ended(l, stream))
		return false;
	if (how == SP_PROCESS_RUNNING)
		sp_live_lock(report->run.index.images[s->image].pid, s->tid, ret);
	else if (s->lock && (int64_t)s->lock_seen_ns > l->end_ns - for_ns && still_waits(l, s))
		*ret = *s->lock;
	if (kind && ret->what == SP_LIVE_LOCK_FILE) /* of another thread */
		ret->what = SP_LIVE_LOCK_NONE;
	return ret->what != SP_LIVE_LOCK_NONE;
}

static struct sp_hang_link link_of(const struct looking *l, uint32_t stream, enum sp_hang_role role,
				   uint64_t number)
{
	const struct sp_stream *s = stream_of(l->report, stream);
	struct sp_hang_link link;
	struct sp_process_end end = sp_hang_end_of(l->report, stream);
	size_t bytes = 0;
	uint32_t kind = call_of(l, stream);
	struct sp_hang_tail tail;
	bool has_tail = sp_hang_tail_read(s, &tail);
	const char *file = kind && !has_tail ? file_of(l, stream, &bytes) : tail.file;

	link = (struct sp_hang_link){
		.stream = stream,
		.role = role,
		.number = number,
		.kind = kind,
		.is_stopped = end.how == SP_PROCESS_STOPPED,
		.is_silent = !kind,
		.missing = has_tail ? tail.missing
			   : bytes  ? SP_PATH_NOT_MISSING
				    : s->path_missing,
	};
	link.is_gone = has_ended(l, stream);
	lock_find(l, stream, &link.lock);
	link.for_ns = (uint64_t)(link.kind ? mark_ns(l, stream) : silent_ns(l, stream));
	snprintf(link.file, sizeof(link.file), "%.*s", (int)(bytes ? bytes : strlen(file)), file);
	return link;
}

static void add_link(const struct looking *l, struct sp_hang *hang, uint32_t stream,
		     enum sp_hang_role role, uint64_t number)
{
	hang->chain[hang->count++] = link_of(l, stream, role, number);
}

/* Moves *stream to the next main thread of one of the trainer's workers that had not ended. Returns
 * false where there is none. */
static bool find_worker(const struct looking *l, uint32_t trainer_image, uint32_t *stream)
{
	const struct sp_report *report = l->report;
	const struct sp_process_image *images = report->run.index.images;

	for (; *stream < report->run.index.stream_count; ++*stream) {
		const struct sp_stream *s = stream_of(report, *stream);

		if (s->tid == images[s->image].pid &&
		    sp_index_is_child(&images[s->image], &images[trainer_image]) &&
		    !has_ended(l, *stream) &&
		    strcmp(sp_role_of(&report->training, *stream), "worker") == 0)
			return true;
	}
	return false;
}

/* How surely this worker is the one that holds the others up; 0: it is idle. */
static unsigned blame(const struct looking *l, uint32_t stream, int64_t least_ns)
{
	uint32_t kind = call_of(l, stream);
	struct sp_live_lock lock;

	if (sp_hang_end_of(l->report, stream).how == SP_PROCESS_STOPPED)
		return 4;
	if (kind && !is_wait(kind) && mark_ns(l, stream) >= least_ns / 2)
		return 3;
	if ((kind ? mark_ns(l, stream) : silent_ns(l, stream)) >= least_ns / 2 &&
	    lock_find(l, stream, &lock))
		return 3;
	if (kind && mark_ns(l, stream) > POLL_NS)
		return 2;
	return !kind && silent_ns(l, stream) >= SILENT_LEAST_NS ? 1 : 0;
}

/* Adds the worker that the trainer waits for, where one is known. */
static void follow_worker(const struct looking *l, struct sp_hang *hang, uint32_t trainer,
			  int64_t least_ns)
{
	uint32_t image = stream_of(l->report, trainer)->image, worst = 0, number = 0, index = 0;
	unsigned most = 0;

	for (uint32_t i = 0; find_worker(l, image, &i); i++, index++) {
		unsigned b = blame(l, i, least_ns);

		if (b > most) {
			most = b;
			worst = i;
			number = index;
		}
	}
	if (most)
		add_link(l, hang, worst, SP_HANG_WORKER, number);
}

static uint32_t trainer_stream(const struct sp_report *report, uint32_t t)
{
	return last_part(report, report->training.trainers[t].stream);
}

/* The number of a rank whose environment does not say it. */
static uint64_t number_of(const struct looking *l, uint32_t t)
{
	bool is_known = l->match.ranks && l->match.ranks[t].number != UINT64_MAX;

	return is_known ? l->match.ranks[t].number : t;
}

static void add_trainer(const struct looking *l, struct sp_hang *hang, uint32_t t)
{
	uint32_t stream = trainer_stream(l->report, t);
	const struct sp_process_image *image =
		&l->report->run.index.images[stream_of(l->report, stream)->image];

	if (l->report->training.count < 2)
		add_link(l, hang, stream, SP_HANG_TRAINER, 0);
	else
		add_link(l, hang, stream, SP_HANG_RANK,
			 image->rank ? image->rank - 1 : number_of(l, t));
}

/* In one wait for as long as nothing moved: a collective, not a loader's queue. */
static bool is_in_collective(const struct looking *l, uint32_t t, int64_t stuck_ns)
{
	uint32_t stream = trainer_stream(l->report, t);

	if (l->match.ranks && sp_rank_is_inside(l->match.ranks[t].state))
		return true;
	return is_wait(call_of(l, stream)) && mark_ns(l, stream) > stuck_ns / 2 &&
	       mark_ns(l, stream) > LEAST_NS;
}

/* Sets l->match once; the caller finishes it. */
static int match_ranks(struct looking *l)
{
	uint32_t count = l->report->training.count;
	struct sp_standing *standing;
	int r;

	if (count < 2 || l->is_matched)
		return 0;
	l->is_matched = true;
	standing = calloc(count, sizeof(*standing));
	if (!standing)
		return -ENOMEM;
	for (uint32_t t = 0; t < count; t++) {
		uint32_t stream = trainer_stream(l->report, t);

		standing[t] =
			(struct sp_standing){has_ended(l, stream), is_wait(call_of(l, stream)),
					     is_on_device(call_of(l, stream))};
	}
	r = sp_group_match_find(l->report, l->end_ns, standing, &l->match);
	free(standing);
	return r;
}

/* By what each rank called, where groups of ranks were observed. */
static bool find_matched(const struct looking *l, uint32_t *ret, uint32_t *ret_waiting)
{
	uint32_t count = l->report->training.count;

	*ret = sp_group_match_culprit(&l->match, count);
	*ret_waiting = UINT32_MAX;
	for (uint32_t t = 0; l->match.ranks && *ret_waiting == UINT32_MAX && t < count; t++)
		if (l->match.ranks[t].state == SP_RANK_WAITS)
			*ret_waiting = t;
	return *ret != UINT32_MAX && *ret_waiting != UINT32_MAX;
}

/* The trainer that the others wait for in a collective, and the first of these. False where none is
 * known. */
static bool find_missing(const struct looking *l, int64_t stuck_ns, uint32_t *ret,
			 uint32_t *ret_waiting)
{
	uint32_t missing = UINT32_MAX, waiting = UINT32_MAX;

	if (find_matched(l, ret, ret_waiting))
		return true;
	for (uint32_t t = 0; t < l->report->training.count; t++) {
		uint32_t stream = trainer_stream(l->report, t);
		uint32_t *first = is_in_collective(l, t, stuck_ns) ? &waiting : &missing;

		if (*first == UINT32_MAX && !has_ended(l, stream))
			*first = t;
	}
	*ret = missing;
	*ret_waiting = waiting;
	return missing != UINT32_MAX && waiting != UINT32_MAX;
}

/* The end of the last step so far, and the longest stretch from one step to the next. */
struct stretches {
	uint32_t steps;
	int64_t end_ns, longest_ns;
};

static void add_step(struct stretches *s, int64_t start_ns, int64_t end_ns)
{
	int64_t ns = end_ns - (s->steps++ ? s->end_ns : start_ns);

	s->longest_ns = ns > s->longest_ns ? ns : s->longest_ns;
	s->end_ns = end_ns;
}

/* Where a digest is made, steps are kept as series alone. */
static struct stretches stretches_of(const struct sp_trainer *trainer)
{
	struct stretches s = {.steps = 0};
	int64_t starts[SP_SERIES_STEPS], walls[SP_SERIES_STEPS];

	for (uint32_t i = 0; trainer->steps.steps && i < trainer->steps.count; i++)
		add_step(&s, trainer->steps.steps[i].start_ns, trainer->steps.steps[i].end_ns);
	for (uint32_t b = 0; !trainer->steps.steps && b < trainer->series.block_count; b++)
		if (sp_series_column(&trainer->series, b, SP_SERIES_START, starts) == 0 &&
		    sp_series_column(&trainer->series, b, SP_SERIES_WALL, walls) == 0)
			for (uint32_t i = 0; i < trainer->series.blocks[b].steps; i++)
				add_step(&s, sp_instant(starts[i]),
					 sp_instant(starts[i] + walls[i]));
	return s;
}

/* The end of the trainer's last step, and how long nothing may follow. False: not known. */
static bool find_times(const struct sp_report *report, uint32_t t, int64_t *ret_since_ns,
		       int64_t *ret_least_ns)
{
	const struct sp_trainer *trainer = &report->training.trainers[t];
	struct sp_hang_tail tail;
	struct stretches s;

	*ret_since_ns = 0;
	*ret_least_ns = LEAST_NS;
	if (sp_hang_tail_read(stream_of(report, trainer->stream), &tail)) {
		*ret_since_ns = tail.since_ns;
		*ret_least_ns = tail.least_ns;
		return tail.since_ns && tail.least_ns >= LEAST_NS;
	}
	if (stream_of(report, trainer->stream)->digested)
		return false;
	s = stretches_of(trainer);
	*ret_since_ns = s.end_ns;
	if (s.steps < STEPS_TRIED)
		*ret_least_ns = LEAST_UNTRIED_NS;
	if (TIMES_LONGEST * s.longest_ns > *ret_least_ns)
		*ret_least_ns = TIMES_LONGEST * s.longest_ns;
	return s.steps > 0;
}

/* The last link says what does not move: it is there, and it has been there for long. */
static bool is_blocked(const struct sp_hang *hang, int64_t least_ns)
{
	const struct sp_hang_link *last = &hang->chain[hang->count - 1];

	if (last->is_stopped || last->is_gone || last->lock.what)
		return true;
	if (last->is_silent)
		return hang->count > 1 && last->for_ns >= (uint64_t)SILENT_LEAST_NS;
	return hang->count > 1 || last->for_ns >= (uint64_t)least_ns / 2 || is_wait(last->kind);
}

/* In a call; or its calls so far were waits that it repeats, as a loader's are. */
static bool waits_or_repeats(const struct looking *l, uint32_t stream)
{
	return call_of(l, stream) || silent_ns(l, stream) < POLL_NS;
}

static void follow(const struct looking *l, struct sp_hang *hang, uint32_t t, int64_t least_ns)
{
	uint32_t missing, waiting;

	if (find_missing(l, (int64_t)hang->for_ns, &missing, &waiting)) {
		add_trainer(l, hang, waiting);
		t = missing;
	}
	add_trainer(l, hang, t);
	if (!hang->chain[hang->count - 1].is_stopped && !hang->chain[hang->count - 1].is_gone)
		follow_worker(l, hang, trainer_stream(l->report, t), least_ns);
}

/* A part of the run may end anywhere. */
static bool is_whole(const struct sp_report *report)
{
	const struct sp_selection *s = &report->run.selection;

	return !s->pid && !s->tid && s->to_ns == INT64_MAX;
}

static void judge(struct looking *l, struct sp_hang *hang, uint32_t t, int64_t least_ns)
{
	if (match_ranks(l) < 0)
		return;
	follow(l, hang, t, least_ns);
	hang->is_hung = (hang->count > 1 || waits_or_repeats(l, trainer_stream(l->report, t)) ||
			 hang->chain[0].is_stopped || hang->chain[0].lock.what) &&
			is_blocked(hang, least_ns);
}

/* The run ends at the same time for nearly all trainers, whose match is the same then. */
static void look_from(struct looking *l, int64_t end_ns)
{
	if (l->end_ns == end_ns)
		return;
	sp_group_match_finish(&l->match);
	l->is_matched = false;
	l->end_ns = end_ns;
}

/* A trainer that neither ended nor moves. */
static void find_standing(struct looking *l, uint32_t t, struct sp_hang *hang)
{
	const struct sp_report *report = l->report;
	int64_t since_ns, least_ns;

	if (!find_times(report, t, &since_ns, &least_ns))
		return;
	look_from(l, run_end_ns(report, trainer_stream(report, t)));
	if (has_ended(l, trainer_stream(report, t)) || l->end_ns - since_ns < least_ns)
		return;
	*hang = (struct sp_hang){.since_ns = since_ns, .for_ns = (uint64_t)(l->end_ns - since_ns)};
	judge(l, hang, t, least_ns);
}

static bool has_failed(const struct sp_report *report, uint32_t stream)
{
	struct sp_process_end end = sp_hang_end_of(report, stream);

	return end.how == SP_PROCESS_EXITED && end.status != 0;
}

/* When another trainer than that of `stream` does something again after after_ns: a signal reaches
 * ranks that sleep ahead of those that wait for these in native code. */
static int64_t stirring_ns(const struct sp_report *report, uint32_t stream, int64_t after_ns)
{
	int64_t first_ns = INT64_MAX;

	for (uint32_t t = 0; t < report->training.count; t++) {
		uint32_t other = trainer_stream(report, t);
		int64_t ns = other == stream ? INT64_MAX
					     : sp_first_call_find(&report->run, other, after_ns);

		first_ns = ns < first_ns ? ns : first_ns;
	}
	return first_ns;
}

/* When the trainer's wait was given up; INT64_MIN: none was. */
static int64_t given_up_ns(const struct sp_report *report, uint32_t stream, int64_t since_ns,
			   int64_t least_ns)
{
	bool failed = has_failed(report, stream);
	int64_t end_ns, stirs_ns;

	if (last_event_ns(report, stream) - since_ns < least_ns)
		return INT64_MIN;
	end_ns = sp_interruption_find(&report->run, stream, since_ns, GIVEN_UP_NS, failed);
	stirs_ns = failed && end_ns > since_ns
			   ? stirring_ns(report, stream, since_ns + least_ns) - 1
			   : end_ns;
	return stirs_ns < end_ns ? stirs_ns : end_ns;
}

/* The call that held all up came to its own end, as that of a worker that works long and then
 * raises. A wait in native code does so at a signal, too. */
static bool has_moved(const struct looking *l, const struct sp_hang_link *link)
{
	const struct sp_thread_past *past = past_of(l, link->stream);

	return past && past->has_ended && !is_wait(link->kind);
}

/* A trainer that did not move until a signal, an exception or a time limit ended its wait. Returns
 * false where nothing of it was given up. */
static bool find_given_up(const struct sp_report *report, uint32_t t, struct sp_hang *hang)
{
	uint32_t stream = trainer_stream(report, t);
	struct looking l = {.report = report};
	int64_t since_ns, least_ns;

	if (!find_times(report, t, &since_ns, &least_ns))
		return false;
	l.end_ns = given_up_ns(report, stream, since_ns, least_ns);
	if (l.end_ns < since_ns + least_ns)
		return false;
	l.is_signal = sp_signal_find(&report->run, stream, l.end_ns);
	l.past = calloc(report->run.index.stream_count, sizeof(*l.past));
	if (!l.past)
		return false;
	*hang = (struct sp_hang){.since_ns = since_ns,
				 .for_ns = (uint64_t)(l.end_ns - since_ns),
				 .is_given_up = true,
				 .is_signal = l.is_signal};
	judge(&l, hang, t, least_ns);
	sp_group_match_finish(&l.match);
	/* A wait alone may be one that was only slow. */
	hang->is_hung &= hang->count > 1 || !is_wait(hang->chain[0].kind);
	hang->is_hung = hang->is_hung && !has_moved(&l, &hang->chain[hang->count - 1]);
	free(l.past);
	return true;
}

void sp_hang_find(const struct sp_report *report, struct sp_hang *hang)
{
	struct looking l = {.report = report, .end_ns = INT64_MIN};
	uint32_t tried = 0;

	*hang = (struct sp_hang){.is_hung = false};
	if (!is_whole(report))
		return;
	for (uint32_t t = 0; !hang->is_hung && t < report->training.count; t++)
		find_standing(&l, t, hang);
	sp_group_match_finish(&l.match);
	if (sp_index_has_digested(&report->run.index))
		return; /* only events tell of it */
	for (uint32_t t = 0; !hang->is_hung && tried < GIVEN_UP_TRIED && t < report->training.count;
	     t++)
		tried += find_given_up(report, t, hang) ? 1 : 0;
}

/* At the end of the run, or when it was given up. Sets l->past, the caller frees it. */
static int look_at(const struct sp_report *report, const struct sp_hang *hang, struct looking *l)
{
	*l = (struct looking){.report = report,
			      .end_ns = hang->since_ns + (int64_t)hang->for_ns,
			      .is_signal = hang->is_signal};
	if (!hang->is_given_up)
		return 0;
	l->past = calloc(report->run.index.stream_count, sizeof(*l->past));
	return l->past ? 0 : -ENOMEM;
}

int sp_hang_ranks(const struct sp_report *report, const struct sp_hang *hang,
		  struct sp_group_match *ret)
{
	struct looking l;
	int r = look_at(report, hang, &l);

	*ret = (struct sp_group_match){.groups = NULL};
	if (r == 0)
		r = match_ranks(&l);
	*ret = l.match;
	free(l.past);
	return r;
}

uint32_t sp_hang_links(const struct sp_report *report, const struct sp_hang *hang,
		       const struct sp_group_match *match, uint32_t trainer,
		       struct sp_hang_link ret[2])
{
	struct sp_hang one = {.is_hung = true};
	int64_t since_ns, least_ns;
	struct looking l;

	if (look_at(report, hang, &l) < 0)
		return 0;
	l.match = *match; /* borrowed */
	add_trainer(&l, &one, trainer);
	/* Only one that others wait for is followed: the search is of all threads. */
	if (!one.chain[0].is_stopped && !one.chain[0].is_gone &&
	    !(match->ranks && sp_rank_is_inside(match->ranks[trainer].state))) {
		find_times(report, trainer, &since_ns, &least_ns);
		follow_worker(&l, &one, trainer_stream(report, trainer), least_ns);
	}
	memcpy(ret, one.chain, one.count * sizeof(*ret));
	free(l.past);
	return one.count;
}

static bool is_worker(const struct sp_report *report, uint32_t stream)
{
	const struct sp_stream *s = stream_of(report, stream);

	return s->tid == report->run.index.images[s->image].pid &&
	       strcmp(sp_role_of(&report->training, stream), "worker") == 0;
}

/* The trainer of this thread; its count: of none. */
static uint32_t trainer_of(const struct sp_report *report, const struct sp_stream *s)
{
	uint32_t t = 0;

	for (; t < report->training.count; t++) {
		const struct sp_stream *its =
			stream_of(report, report->training.trainers[t].stream);

		if (its->image == s->image && its->tid == s->tid)
			break;
	}
	return t;
}

void sp_hang_tail_write(struct sp_digest_fields *f, const struct sp_report *report, uint32_t stream)
{
	struct looking l = {.report = report, .end_ns = run_end_ns(report, stream)};
	uint32_t t = trainer_of(report, stream_of(report, stream));
	struct sp_process_groups groups = {.list = NULL};
	bool is_trainer = t < report->training.count;
	struct sp_hang_link link;
	struct sp_hang_tail tail;

	if (!is_trainer && !is_worker(report, stream))
		return;
	link = link_of(&l, stream, SP_HANG_WORKER, 0);
	tail = (struct sp_hang_tail){.end = sp_hang_end_of(report, stream),
				     .run_end_ns = l.end_ns,
				     .missing = link.missing,
				     .lock = link.lock};
	memcpy(tail.file, link.file, sizeof(tail.file));
	if (is_trainer && report->training.trainers[t].stream == stream) {
		if (!find_times(report, t, &tail.since_ns, &tail.least_ns))
			tail.least_ns = 0;
		f->is_bad |= sp_trainer_groups_read(&groups, NULL, report, t, l.end_ns) < 0;
	}
	sp_hang_tail_fields(f, &tail);
	sp_hang_groups_fields(f, &groups);
	sp_process_groups_finish(&groups);
}

static bool was_killed(const struct looking *l, uint32_t stream)
{
	struct sp_process_end end = sp_hang_end_of(l->report, stream);

	return !has_ended(l, stream) &&
	       (end.how == SP_PROCESS_KILLED || end.how == SP_PROCESS_SIGNALED ||
		end.how == SP_PROCESS_OOM || end.how == SP_PROCESS_UNKNOWN);
}

/* The time of all calls of this class, of whatever file. */
static uint64_t spent_ns(const struct sp_stream_sums *sums, enum sp_class class)
{
	uint64_t ns = 0;
	bool is_added[SP_STAGES] = {false};

	for (int kind = 0; kind < SP_FD_KINDS; kind++) {
		enum sp_stage stage = sp_class_stage(class, (enum sp_fd_kind)kind);

		if (stage < SP_STAGES && !is_added[stage])
			ns += sums->stages[stage].total_ns;
		if (stage < SP_STAGES)
			is_added[stage] = true;
	}
	return ns;
}

static uint64_t life_ns(const struct sp_report *report, uint32_t stream)
{
	int64_t begin_ns, end_ns;

	sp_stream_life(&report->run, &report->totals, stream, &begin_ns, &end_ns);
	return end_ns > begin_ns ? (uint64_t)(end_ns - begin_ns) : 0;
}

/* Killed inside a call on a file that took so little of its
 * life that chance does not explain it. */
static bool is_suspect(const struct looking *l, uint32_t stream)
{
	const struct sp_report *report = l->report;
	uint32_t kind = call_of(l, stream);
	enum sp_class class = kind ? sp_event_info(kind)->class : SP_CLASS_OFF;
	struct sp_live_lock lock;

	if (!was_killed(l, stream))
		return false;
	return lock_find(l, stream, &lock) ||
	       ((class == SP_CLASS_OPEN || class == SP_CLASS_READ || class == SP_CLASS_STAT) &&
		spent_ns(&report->totals.streams[stream], class) < life_ns(report, stream) / RARE);
}

/* The trainer, or one of its workers while the trainer waits. */
static bool suspect_of(const struct looking *l, uint32_t t, struct sp_hang_link *ret)
{
	uint32_t trainer = trainer_stream(l->report, t), number = 0;
	uint32_t image = stream_of(l->report, trainer)->image;

	if (is_suspect(l, trainer)) {
		*ret = link_of(l, trainer, SP_HANG_TRAINER, 0);
		return true;
	}
	for (uint32_t i = 0; find_worker(l, image, &i); i++, number++)
		if (is_suspect(l, i)) {
			*ret = link_of(l, i, SP_HANG_WORKER, number);
			return true;
		}
	return false;
}

bool sp_hang_suspect(const struct sp_report *report, struct sp_hang_link *ret)
{
	for (uint32_t t = 0; is_whole(report) && t < report->training.count; t++) {
		uint32_t stream = trainer_stream(report, t);
		struct looking l = {.report = report, .end_ns = report->totals.end_ns};

		if (report->training.trainers[t].steps.count && was_killed(&l, stream) &&
		    suspect_of(&l, t, ret))
			return true;
	}
	return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/exporters/tracks.h"
#include "analyzer/base/order.h"
#include "analyzer/training/training_account.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Sums of a process. */
struct bucket {
	int64_t number; /* of TRACKS_BUCKET_NS since 1970 */
	uint64_t bytes;
	bool is_open;
};

struct running {
	struct sp_tracks *t;
	struct sp_nest nest;
	struct sp_batches batches;
	struct sp_backwards backwards;
	uint64_t backward_count;
	struct bucket (*buckets)[SP_TRACKS_COUNTERS]; /* by process */
};

/* Keys to find repeated threads and processes, in the order of a list of streams. */
struct place {
	uint32_t host, pid, tid, stream;
};

SP_ORDER(compare_places, struct place, SP_UP(host) ?: SP_UP(pid) ?: SP_UP(tid) ?: SP_UP(stream))

static uint32_t list_selected(const struct sp_report *report, struct place *places)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < report->run.index.stream_count; i++) {
		const struct sp_stream *s = report->run.index.streams[i];
		const struct sp_process_image *image = &report->run.index.images[s->image];

		if (sp_run_selects(&report->run, i))
			places[n++] = (struct place){image->host, image->pid, s->tid, i};
	}
	qsort(places, n, sizeof(*places), compare_places);
	return n;
}

static void number_tracks(struct sp_tracks *t, const struct place *places, uint32_t n)
{
	const struct sp_report *report = t->export->report;

	for (uint32_t i = 0; i < n; i++) {
		const struct place *p = &places[i], *before = i ? &places[i - 1] : NULL;
		bool same_process = before && before->host == p->host && before->pid == p->pid;

		if (!same_process)
			t->processes[t->process_count++] = (struct sp_tracks_process){
				report->run.index.streams[p->stream]->image, p->host, p->pid};
		if (!same_process || before->tid != p->tid)
			t->tracks[t->track_count++] =
				(struct sp_tracks_thread){p->stream, t->process_count - 1, p->tid};
		t->track_of[p->stream] = t->track_count - 1;
	}
}

int sp_tracks_init(struct sp_tracks *t, struct sp_export *export, const struct sp_tracks_sink *sink,
		   void *context)
{
	uint32_t room = export->report->run.index.stream_count + 1u;
	struct place *places = calloc(room, sizeof(*places));

	*t = (struct sp_tracks){.export = export, .sink = sink, .context = context};
	t->processes = calloc(room, sizeof(*t->processes));
	t->tracks = calloc(room, sizeof(*t->tracks));
	t->track_of = calloc(room, sizeof(*t->track_of));
	if (!places || !t->processes || !t->tracks || !t->track_of) {
		free(places);
		return -ENOMEM;
	}
	number_tracks(t, places, list_selected(export->report, places));
	free(places);
	return 0;
}

void sp_tracks_finish(struct sp_tracks *t)
{
	free(t->processes);
	free(t->tracks);
	free(t->track_of);
}

const char *sp_tracks_process_name(const struct sp_tracks *t, uint32_t process, size_t *ret_bytes)
{
	const struct sp_process_image *image =
		&t->export->report->run.index.images[t->processes[process].image];
	const char *slash;

	*ret_bytes = strnlen(image->exe, sizeof(image->exe));
	slash = memrchr(image->exe, '/', *ret_bytes);
	if (!slash)
		return image->exe;
	*ret_bytes -= (size_t)(slash + 1 - image->exe);
	return slash + 1;
}

static int give_slice(void *context, const struct sp_record *record, uint32_t track, uint32_t lane)
{
	struct running *running = context;
	struct sp_tracks_slice slice = {record, track, lane, record->batch};

	return running->t->sink->slice(running->t->context, &slice);
}

static int give_arrival(void *context, uint64_t id, uint32_t stream, int64_t at_ns)
{
	struct running *running = context;
	struct sp_tracks *t = running->t;
	const struct sp_report *report = t->export->report;
	const struct sp_trainer *trainer =
		sp_training_of(&report->training, report->run.index.streams[stream]->image);
	struct sp_tracks_arrival arrival = {
		.batch = id,
		.track = t->track_of[stream],
		.trainer = trainer ? (uint32_t)(trainer - report->training.trainers) : UINT32_MAX,
		.at_ns = at_ns,
	};

	return t->sink->arrival(t->context, &arrival);
}

static int give_backward(void *context, const struct sp_backward_match *match)
{
	struct running *running = context;
	struct sp_tracks *t = running->t;
	struct sp_tracks_backward backward = {
		.number = ++running->backward_count,
		.forward_track = t->track_of[match->forward_stream],
		.backward_track = t->track_of[match->backward_stream],
		.forward_ns = match->forward_ns,
		.backward_ns = match->backward_ns,
	};

	return t->sink->backward(t->context, &backward);
}

static int give_bucket(struct running *running, uint32_t process, enum sp_tracks_counter counter,
		       int64_t next)
{
	struct bucket *b = &running->buckets[process][counter];
	struct sp_tracks *t = running->t;
	int r;

	if (!b->is_open)
		return 0;
	b->is_open = false;
	r = t->sink->counter(t->context, process, counter, b->number * TRACKS_BUCKET_NS, b->bytes);
	if (r == 0 && next != b->number + 1)
		r = t->sink->counter(t->context, process, counter,
				     (b->number + 1) * TRACKS_BUCKET_NS, 0);
	return r;
}

static int count(struct running *running, const struct sp_record *record)
{
	enum sp_traffic_way way = sp_stage_traffic(record->stage);
	enum sp_tracks_counter counter =
		way == SP_TRAFFIC_READ ? SP_TRACKS_READ : SP_TRACKS_WRITTEN;
	uint32_t process = running->t->tracks[running->t->track_of[record->stream]].process;
	struct bucket *b = &running->buckets[process][counter];
	int64_t number = sp_record_end_ns(record) / TRACKS_BUCKET_NS;
	int r = 0;

	if ((way != SP_TRAFFIC_READ && way != SP_TRAFFIC_WRITTEN) || !sp_record_has_bytes(record) ||
	    record->value == 0)
		return 0;
	if (b->is_open && b->number != number)
		r = give_bucket(running, process, counter, number);
	if (!b->is_open)
		*b = (struct bucket){number, 0, true};
	b->bytes += (uint64_t)record->value;
	return r;
}

static int take(void *context, const struct sp_record *record)
{
	struct running *running = context;
	struct sp_record fetched = *record;
	int r = sp_batches_take(&running->batches, record, &fetched.batch);

	if (r == 0)
		r = count(running, record);
	if (r == 0)
		r = sp_backwards_take(&running->backwards, record);
	/* A span of GPU work belongs to its CUDA stream and not to the thread that wrote it. CUDA
	 * streams have tracks where there are kernels. */
	if (record->kind == SP_EV_gpu_span)
		return 0;
	/* A stream's works follow each other, so nothing nests. */
	if (r == 0 && record->is_gpu)
		return give_slice(running, record, running->t->track_of[record->stream], 0);
	if (r == 0)
		r = sp_nest_take(&running->nest, running->t->track_of[record->stream], &fetched);
	return r;
}

static int give_pause(struct sp_tracks *t, const struct sp_steps *steps,
		      const struct sp_pause *pause, struct sp_tracks_step *step)
{
	struct sp_pause_part part;
	int r = 0;

	step->step = NULL;
	for (int64_t at = pause->start_ns; r == 0 && sp_pause_next(steps, pause, at, &part);
	     at = part.end_ns) {
		step->start_ns = part.start_ns;
		step->end_ns = part.end_ns;
		step->is_validation = part.is_validation;
		r = t->sink->step(t->context, step);
	}
	return r;
}

static int give_trainer(struct sp_tracks *t, uint32_t number)
{
	const struct sp_report *report = t->export->report;
	const struct sp_trainer *trainer = &report->training.trainers[number];
	struct sp_tracks_step step = {.trainer = number, .track = t->track_of[trainer->stream]};
	uint32_t pause = 0;
	bool has_steps = false;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i <= trainer->steps.count; i++) {
		for (; r == 0 && pause < trainer->steps.pause_count &&
		       trainer->steps.pauses[pause].step <= i;
		     pause++) {
			step.number =
				i < trainer->steps.count ? sp_step_number(&trainer->steps, i) : i;
			r = give_pause(t, &trainer->steps, &trainer->steps.pauses[pause], &step);
		}
		if (r != 0 || i == trainer->steps.count ||
		    !sp_step_is_selected(&report->training, trainer, i))
			continue;
		step.step = &trainer->steps.steps[i];
		step.is_first = !has_steps;
		has_steps = true;
		step.number = sp_step_number(&trainer->steps, i);
		step.start_ns = step.step->start_ns;
		step.end_ns = step.step->end_ns;
		r = t->sink->step(t->context, &step);
	}
	return r;
}

static int give_heads(struct sp_tracks *t)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < t->process_count; i++)
		r = t->sink->process(t->context, i);
	for (uint32_t i = 0; r == 0 && i < t->track_count; i++)
		r = t->sink->track(t->context, i);
	for (uint32_t i = 0; r == 0 && i < t->export->report->training.count; i++)
		if (sp_run_selects(&t->export->report->run,
				   t->export->report->training.trainers[i].stream))
			r = give_trainer(t, i);
	return r;
}

static int give_records(struct running *running)
{
	struct sp_tracks *t = running->t;
	int r = sp_export_records(t->export, take, running);

	if (r == 0)
		r = sp_nest_flush(&running->nest);
	if (r == 0)
		r = sp_backwards_flush(&running->backwards);
	for (uint32_t i = 0; r == 0 && i < t->process_count; i++)
		for (int counter = 0; r == 0 && counter < SP_TRACKS_COUNTERS; counter++)
			r = give_bucket(running, i, (enum sp_tracks_counter)counter, INT64_MAX);
	return r;
}

int sp_tracks_run(struct sp_tracks *t)
{
	struct running running = {
		.t = t,
		.nest = {.give = give_slice, .context = &running},
		.batches = {.arrived = give_arrival, .context = &running},
		.backwards = {.matched = give_backward, .context = &running},
	};
	int r = sp_nest_init(&running.nest, t->track_count);

	if (r == 0)
		r = sp_batches_init(&running.batches, t->export->report);
	if (r == 0 && t->sink->backward)
		r = sp_backwards_init(&running.backwards, t->export->report);
	running.buckets = calloc(t->process_count + 1u, sizeof(*running.buckets));
	if (r == 0)
		r = running.buckets ? give_heads(t) : -ENOMEM;
	if (r == 0)
		r = give_records(&running);
	free(running.buckets);
	sp_backwards_finish(&running.backwards);
	sp_batches_finish(&running.batches);
	sp_nest_finish(&running.nest);
	return r;
}

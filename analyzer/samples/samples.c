/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/samples/samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/metadata/definition_parser.h"
#include "analyzer/reader/clock_convert.h"
#include "analyzer/reader/reader.h"
#include "analyzer/samples/sample_calls.h"

#define NUMBERS_MAX (1u << 22) /* frames of all stacks; later stacks are the rest */
#define SUMS_MAX (1u << 20)
#define TAKEN_MAX (1u << 17) /* samples; the events of their threads are read once for them */
#define NS_IN_US 1000
#define NS_IN_S 1000000000u

/* One sampler's stream at a time. */
struct sample_pass {
	struct sp_samples *samples;
	const struct sp_training *training;
	struct sp_sampled_roles roles;
	const struct sp_clock *clock;
	uint32_t host;
	uint32_t *frame_ids, *stack_ids;   /* numbers, by the stream's ids; 0: not defined */
	struct sp_sampler_metadata counts; /* the last ones of the stream */
	struct sp_taken_sample *taken;	   /* whose calls were not looked for yet */
	uint32_t taken_count;
};

static int take_frame(struct sample_pass *pass, const struct sp_definition *d)
{
	struct sp_samples *samples = pass->samples;
	struct sp_python_frame_metadata metadata;
	struct sp_sampled_frame *frame;

	if (d->id == 0 || d->id >= SP_SAMPLE_IDS_MAX || d->bytes < sizeof(metadata) ||
	    samples->frame_count == UINT32_MAX)
		return 0;
	memcpy(&metadata, d->blob, sizeof(metadata));
	frame = SP_LIST_ADD(samples->frames, samples->frame_count, samples->frame_room);
	if (!frame)
		return -ENOMEM;
	*frame = (struct sp_sampled_frame){
		.text = sp_string_table_add(&samples->texts,
					    (const char *)d->blob + sizeof(metadata),
					    d->bytes - sizeof(metadata)),
		.line = metadata.line,
		.first_line = metadata.first_line,
	};
	pass->frame_ids[d->id] = samples->frame_count - 1;
	return 0;
}

static int add_number(struct sp_samples *samples, uint32_t number)
{
	uint32_t *added =
		SP_LIST_ADD(samples->frame_numbers, samples->number_count, samples->number_room);

	if (!added)
		return -ENOMEM;
	*added = number;
	return 0;
}

static int take_stack(struct sample_pass *pass, const struct sp_definition *d)
{
	struct sp_samples *samples = pass->samples;
	uint32_t frames = d->bytes / (uint32_t)sizeof(uint32_t);
	struct sp_sampled_stack *stack;
	int r = 0;

	if (d->id == 0 || d->id >= SP_SAMPLE_IDS_MAX || frames > SP_SAMPLE_DEPTH_MAX ||
	    samples->number_count + frames > NUMBERS_MAX)
		return 0;
	stack = SP_LIST_ADD(samples->stacks, samples->stack_count, samples->stack_room);
	if (!stack)
		return -ENOMEM;
	stack->frame_at = samples->number_count;
	for (uint32_t i = 0; r == 0 && i < frames; i++) {
		uint32_t id;

		memcpy(&id, d->blob + i * sizeof(id), sizeof(id));
		if (id < SP_SAMPLE_IDS_MAX && pass->frame_ids[id])
			r = add_number(samples, pass->frame_ids[id]);
	}
	stack->frames = samples->number_count - stack->frame_at;
	pass->stack_ids[d->id] = samples->stack_count - 1;
	return r;
}

/* Images of a host are in the order of their starts: the last one that had begun. */
static uint32_t image_of(const struct sample_pass *pass, uint32_t pid, int64_t at_ns)
{
	const struct sp_index *index = &pass->training->run->index;
	uint32_t found = UINT32_MAX;

	for (uint32_t i = 0; i < index->image_count; i++)
		if (index->images[i].pid == pid && index->images[i].host == pass->host &&
		    (found == UINT32_MAX || (int64_t)index->images[i].start_ns <= at_ns))
			found = i;
	return found;
}

static bool is_selected(const struct sample_pass *pass, const struct sp_python_sample *sample,
			int64_t at_ns)
{
	const struct sp_run *run = pass->training->run;
	struct sp_tick_range span;
	uint32_t image;

	if ((run->selection.pid && run->selection.pid != sample->pid) ||
	    (run->selection.tid && run->selection.tid != sample->tid))
		return false;
	if (!sp_run_is_cut(run))
		return true;
	image = image_of(pass, sample->pid, at_ns);
	if (image == UINT32_MAX)
		return false;
	span = sp_run_span(run, image);
	return sample->at >= span.from_ticks && sample->at < span.to_ticks;
}

static uint32_t call_text(struct sp_samples *samples, uint32_t kind)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "\t%s", kind ? sp_event_info(kind)->name : "");

	return kind ? sp_string_table_add(&samples->texts, text, (size_t)n) : 0;
}

/* A sample stands for the time since the one before it; the first one for the mean interval. */
static uint64_t span_ns(const struct sample_pass *pass, const struct sp_python_sample *sample)
{
	uint64_t rate = pass->counts.rate ? pass->counts.rate : 1;

	return sample->span_us ? (uint64_t)sample->span_us * NS_IN_US : NS_IN_S / rate;
}

static int add_sample(struct sample_pass *pass, const struct sp_taken_sample *sample)
{
	struct sp_samples *samples = pass->samples;
	int64_t at_ns = sp_clock_realtime_ns(pass->clock, sample->at);
	struct sp_sample_sums sums = {
		.stack = sample->stack,
		.phase = sp_sampled_role_phase(&pass->roles, sample->pid, sample->tid, at_ns,
					       sample->work),
		.is_waiting = sample->is_waiting,
		.object = sample->object,
		.call = call_text(samples, sample->call),
		.samples = sample->samples,
		.ns = sample->ns,
	};
	int r = sp_sample_table_add(&samples->table, &sums);

	samples->samples += r > 0 ? sample->samples : 0;
	return r < 0 ? r : 0;
}

static int add_taken(struct sample_pass *pass)
{
	int r = sp_sample_calls_join(pass->taken, pass->taken_count, pass->training->run,
				     pass->host);

	for (uint32_t i = 0; r == 0 && i < pass->taken_count; i++)
		r = add_sample(pass, &pass->taken[i]);
	pass->taken_count = 0;
	return r;
}

/* A thread that was found waiting several times may have gone on since the last of these looks was
 * decided on: the wait is in the middle. */
static uint64_t instant_of(const struct sample_pass *pass, const struct sp_python_sample *sample)
{
	int64_t at_ns = sp_clock_realtime_ns(pass->clock, sample->at);

	if (sample->samples == 1 || sample->state == 'R' || !sample->span_us)
		return sample->at;
	return sp_clock_ticks(pass->clock, at_ns - (int64_t)sample->span_us * NS_IN_US / 2);
}

static uint32_t library_of(const struct sample_pass *pass, const struct sp_python_sample *sample)
{
	uint32_t frame = sample->object < SP_SAMPLE_IDS_MAX ? pass->frame_ids[sample->object] : 0;

	return pass->samples->frames[frame].text;
}

static int take_sample(struct sample_pass *pass, const struct sp_python_sample *sample)
{
	if (!sample->samples)
		return 0;
	if (!is_selected(pass, sample, sp_clock_realtime_ns(pass->clock, sample->at))) {
		pass->samples->unfit += sample->samples;
		return 0;
	}
	pass->taken[pass->taken_count++] = (struct sp_taken_sample){
		.at = instant_of(pass, sample),
		.ns = span_ns(pass, sample),
		.pid = sample->pid,
		.tid = sample->tid,
		.stack = sample->stack < SP_SAMPLE_IDS_MAX ? pass->stack_ids[sample->stack] : 0,
		.object = library_of(pass, sample),
		.samples = sample->samples,
		.is_waiting = sample->state && sample->state != 'R',
	};
	return pass->taken_count == TAKEN_MAX ? add_taken(pass) : 0;
}

static int take_definition(void *context, const struct sp_definition *d)
{
	struct sample_pass *pass = context;
	struct sp_python_sample sample;
	int r = 0;

	if (d->what == SP_DEFINE_PYTHON_FRAME)
		return take_frame(pass, d);
	if (d->what == SP_DEFINE_PYTHON_STACK)
		return take_stack(pass, d);
	if (d->what == SP_DEFINE_SAMPLER && d->bytes >= sizeof(pass->counts))
		memcpy(&pass->counts, d->blob, sizeof(pass->counts));
	if (d->what == SP_DEFINE_SAMPLES)
		for (uint32_t i = 0; r == 0 && i + sizeof(sample) <= d->bytes;
		     i += sizeof(sample)) {
			memcpy(&sample, d->blob + i, sizeof(sample));
			r = take_sample(pass, &sample);
		}
	return r;
}

static void add_counts(struct sp_sampler_metadata *into, const struct sp_sampler_metadata *from)
{
	into->rate = from->rate;
	into->ticks += from->ticks;
	into->samples += from->samples;
	into->torn += from->torn;
	into->refused += from->refused;
	into->foreign += from->foreign;
	into->cpu_ns += from->cpu_ns;
	into->wall_ns += from->wall_ns;
	into->leafless += from->leafless;
}

static int read_stream(struct sample_pass *pass, struct sp_reader *reader, struct sp_stream *stream)
{
	const struct sp_index *index = &pass->training->run->index;
	struct sp_definition_parser *parser = malloc(sizeof(*parser));
	struct sp_batch batch;
	int r = 0;

	if (!parser)
		return -ENOMEM;
	pass->samples->is_known = true;
	pass->host = index->images[stream->image].host;
	pass->clock = &index->hosts[pass->host].clock;
	pass->counts = (struct sp_sampler_metadata){.rate = 0};
	memset(pass->frame_ids, 0, SP_SAMPLE_IDS_MAX * sizeof(*pass->frame_ids));
	memset(pass->stack_ids, 0, SP_SAMPLE_IDS_MAX * sizeof(*pass->stack_ids));
	parser->defined = take_definition;
	parser->context = pass;
	sp_definition_parser_reset(parser);
	sp_reader_open(reader, index, stream);
	while (r == 0 && sp_reader_next(reader, &batch))
		r = sp_definition_parser_take(parser, &batch);
	if (r == 0)
		r = add_taken(pass);
	add_counts(&pass->samples->counts, &pass->counts);
	free(parser);
	return r;
}

/* Number 0 of frames and of stacks stands for those that are not known. */
static int begin(struct sp_samples *samples)
{
	int r = sp_string_table_init(&samples->texts, SP_SAMPLE_IDS_MAX);

	if (r < 0 || !SP_LIST_ADD(samples->frames, samples->frame_count, samples->frame_room) ||
	    !SP_LIST_ADD(samples->stacks, samples->stack_count, samples->stack_room))
		return -ENOMEM;
	return 0;
}

int sp_samples_read(struct sp_samples *samples, const struct sp_training *training,
		    const struct sp_workers *workers)
{
	const struct sp_index *index = &training->run->index;
	struct sample_pass pass = {.samples = samples, .training = training};
	struct sp_reader reader;
	int r;

	if (!index->sampler_count)
		return 0;
	samples->table.most = SUMS_MAX;
	r = sp_reader_init(&reader);
	pass.frame_ids = malloc(SP_SAMPLE_IDS_MAX * sizeof(*pass.frame_ids));
	pass.stack_ids = malloc(SP_SAMPLE_IDS_MAX * sizeof(*pass.stack_ids));
	pass.taken = malloc(TAKEN_MAX * sizeof(*pass.taken));
	if (!pass.frame_ids || !pass.stack_ids || !pass.taken)
		r = -ENOMEM;
	if (r == 0)
		r = begin(samples);
	if (r == 0)
		r = sp_sampled_roles_read(&pass.roles, training, workers);
	for (uint32_t i = 0; r == 0 && i < index->sampler_count; i++)
		r = read_stream(&pass, &reader, index->streams[index->stream_count + i]);
	sp_sampled_roles_finish(&pass.roles);
	sp_sample_table_close(&samples->table);
	free(pass.frame_ids);
	free(pass.stack_ids);
	free(pass.taken);
	sp_reader_finish(&reader);
	return r;
}

void sp_samples_finish(struct sp_samples *samples)
{
	sp_string_table_finish(&samples->texts);
	free(samples->frames);
	free(samples->stacks);
	free(samples->frame_numbers);
	free(samples->table.sums);
}

bool sp_sample_is_native(const struct sp_samples *samples, uint32_t library)
{
	static const char *const own[] = {"python", "libpython"};
	size_t bytes;
	const char *text = sp_string_table_text(&samples->texts, library, &bytes);

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (bytes >= strlen(own[i]) && memcmp(text, own[i], strlen(own[i])) == 0)
			return false;
	return library != 0;
}

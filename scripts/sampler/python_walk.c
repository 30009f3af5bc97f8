/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/sampler/python_walk.h"

#include <errno.h>
#include <string.h>

#define STATE_BYTES 512u
#define FRAME_BYTES 128u
#define STEPS_MAX 4096u	 /* frames of a stack, those of the interpreter included */
#define TAG_BITS 3u	 /* of a reference on the stack, since 3.14 */
#define NEAR_BYTES 1024u /* frames this near to each other are one place */
#define PLACE_BYTES_MAX 16384u

/* The reading of one stack. */
struct walking {
	struct sp_python_walk *walk;
	struct sp_walk_guess *guess; /* places: of the last time, until the end */
	const struct sp_other_parts *parts;
	const struct sp_python_layout *layout;
	struct sp_walk_guess next;
	uint32_t frame_bytes;
	uint64_t chunk;
};

static uint64_t word_at(const uint8_t *bytes, uint32_t at)
{
	uint64_t word;

	memcpy(&word, bytes + at, sizeof(word));
	return word;
}

static uint32_t max(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static uint32_t state_bytes(const struct sp_python_layout *l)
{
	return max(max(l->thread_tid, l->thread_chunk), l->thread_frame) +
	       (uint32_t)sizeof(uint64_t);
}

static uint32_t frame_bytes(const struct sp_python_layout *l)
{
	return max(max(l->frame_instruction, l->frame_previous),
		   max(l->frame_owner, l->frame_code)) +
	       (uint32_t)sizeof(uint64_t);
}

static void take_state(struct sp_walk_thread *ret, const struct sp_python_layout *l,
		       const uint8_t *bytes)
{
	*ret = (struct sp_walk_thread){
		.next = word_at(bytes, l->thread_next),
		.frame = word_at(bytes, l->thread_frame),
		.chunk = l->thread_chunk ? word_at(bytes, l->thread_chunk) : 0,
		.tid = word_at(bytes, l->thread_tid),
	};
}

int sp_walk_thread(struct sp_walk_thread *ret, const struct sp_sampled_python *python, pid_t pid,
		   uint64_t state)
{
	const struct sp_python_layout *l = &python->layout;
	uint8_t bytes[STATE_BYTES];
	int r;

	if (state_bytes(l) > STATE_BYTES || frame_bytes(l) > FRAME_BYTES)
		return -ENOTSUP;
	r = sp_other_read(pid, state, bytes, state_bytes(l));
	if (r == 0)
		take_state(ret, l, bytes);
	return r;
}

void sp_walk_guess(struct sp_walk_guess *guess, struct sp_other_parts *parts,
		   const struct sp_sampled_python *python, uint64_t state)
{
	const struct sp_python_layout *l = &python->layout;

	guess->first_part = parts->count;
	sp_other_parts_add(parts, state, state_bytes(l));
	if (guess->cframe)
		sp_other_parts_add(parts, guess->cframe + (uint32_t)l->cframe, sizeof(uint64_t));
	for (uint32_t i = 0; i < guess->count; i++)
		sp_other_parts_add(parts, guess->places[i].begin,
				   guess->places[i].end - guess->places[i].begin);
	guess->end_part = parts->count;
}

static int read_guessed(const struct walking *w, uint64_t at, void *ret, size_t bytes)
{
	const void *copy =
		sp_other_parts_find(w->parts, w->guess->first_part, w->guess->end_part, at, bytes);

	if (!copy)
		return sp_other_read(w->parts->pid, at, ret, bytes);
	memcpy(ret, copy, bytes);
	return 0;
}

/* Frames of a chunk are one above the other: those outside of this one are before it. */
static int read_missed(struct walking *w, uint64_t at)
{
	struct sp_python_walk *walk = w->walk;
	uint64_t end = at + w->frame_bytes, begin = end - SP_WALK_MISSED_BYTES;

	if (w->chunk && at > w->chunk && end - w->chunk < PLACE_BYTES_MAX)
		begin = begin > w->chunk ? begin : w->chunk;
	else
		begin = at;
	walk->missed_at = begin;
	walk->missed_bytes = 0;
	if (sp_other_read(w->parts->pid, begin, walk->missed, end - begin) < 0)
		return -EAGAIN;
	walk->missed_bytes = (uint32_t)(end - begin);
	return 0;
}

/* Returns NULL where there is no such memory. */
static const uint8_t *frame_at(struct walking *w, uint64_t at)
{
	const struct sp_python_walk *walk = w->walk;
	const void *copy = sp_other_parts_find(w->parts, w->guess->first_part, w->guess->end_part,
					       at, w->frame_bytes);
	uint64_t from = at - walk->missed_at;

	if (copy)
		return copy;
	if (from >= walk->missed_bytes || walk->missed_bytes - from < w->frame_bytes) {
		if (read_missed(w, at) < 0)
			return NULL;
		from = at - walk->missed_at;
	}
	return walk->missed + from;
}

/* The innermost frame may have inner ones the next time. */
static void keep_place(struct walking *w, uint64_t at)
{
	uint64_t end = at + w->frame_bytes + (w->next.count ? 0 : NEAR_BYTES / 2);
	struct sp_walk_place *place;

	for (uint32_t i = 0; i < w->next.count; i++) {
		place = &w->next.places[i];
		if (at + NEAR_BYTES < place->begin || at > place->end + NEAR_BYTES)
			continue;
		if (at < place->begin && place->end - at <= PLACE_BYTES_MAX)
			place->begin = at;
		else if (end > place->end && end - place->begin <= PLACE_BYTES_MAX)
			place->end = end;
		else if (at < place->begin || end > place->end)
			continue;
		return;
	}
	if (w->next.count < SP_WALK_PLACES_MAX)
		w->next.places[w->next.count++] = (struct sp_walk_place){at, end};
}

static void take_frame(struct walking *w, uint64_t at, const uint8_t *frame)
{
	const struct sp_python_layout *l = w->layout;
	struct sp_python_walk *walk = w->walk;
	int32_t counted;

	if (l->frame_owner && frame[l->frame_owner] >= l->foreign_owner)
		return;
	if (walk->count == SP_WALK_FRAMES_MAX) {
		walk->was_cut = true;
		return;
	}
	memcpy(&counted, frame + l->frame_instruction, sizeof(counted));
	walk->frames[walk->count++] = (struct sp_walk_frame){
		.at = at,
		.code = word_at(frame, l->frame_code) & ~(uint64_t)TAG_BITS,
		.instruction = l->place == SP_PLACE_ADDRESS
				       ? (int64_t)word_at(frame, l->frame_instruction)
				       : counted,
	};
}

static int walk_frames(struct walking *w, uint64_t at)
{
	uint32_t steps = 0;

	for (; at && steps < STEPS_MAX; steps++) {
		const uint8_t *frame = at % sizeof(uint64_t) ? NULL : frame_at(w, at);

		if (!frame)
			return -EAGAIN;
		take_frame(w, at, frame);
		keep_place(w, at);
		at = word_at(frame, w->layout->frame_previous);
	}
	return at ? -EAGAIN : 0;
}

int sp_walk_stack(struct sp_python_walk *ret, struct sp_walk_guess *guess,
		  const struct sp_other_parts *parts, const struct sp_sampled_python *python,
		  uint64_t state, uint64_t tid)
{
	const struct sp_python_layout *l = &python->layout;
	struct walking w = {.walk = ret,
			    .guess = guess,
			    .parts = parts,
			    .layout = l,
			    .frame_bytes = frame_bytes(l)};
	struct sp_walk_thread thread;
	uint8_t bytes[STATE_BYTES];
	uint64_t at;
	int r;

	ret->count = ret->missed_bytes = 0;
	ret->missed_at = 0;
	ret->was_cut = false;
	r = read_guessed(&w, state, bytes, state_bytes(l));
	if (r < 0)
		return r;
	take_state(&thread, l, bytes);
	if (tid && thread.tid != tid)
		return -ESRCH;
	at = thread.frame;
	w.chunk = thread.chunk;
	if (at && l->cframe >= 0) {
		w.next.cframe = at;
		if (read_guessed(&w, at + (uint32_t)l->cframe, &at, sizeof(at)) < 0)
			return -EAGAIN;
	}
	r = walk_frames(&w, at);
	if (r == 0)
		*guess = w.next;
	return r;
}

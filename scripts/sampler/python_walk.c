/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/sampler/python_walk.h"

#include <errno.h>
#include <string.h>

#include "scripts/sampler/other_memory.h"

#define STATE_BYTES 512u
#define FRAME_BYTES 128u
#define STEPS_MAX 4096u /* frames of a stack, those of the interpreter included */
#define TAG_BITS 3u	/* of a reference on the stack, since 3.14 */

/* A chunk begins with the chunk before it, its size, and the frames' end where it is not the last.
 */
#define CHUNK_SIZE_AT 8u

uint64_t sp_walk_first_thread(const struct sp_sampled_python *python, pid_t pid)
{
	const struct sp_python_layout *l = &python->layout;
	uint64_t head = sp_other_word(pid, python->runtime + l->interpreters_head);

	return head ? sp_other_word(pid, head + l->threads_head) : 0;
}

static uint64_t word_at(const uint8_t *bytes, uint32_t at)
{
	uint64_t word;

	memcpy(&word, bytes + at, sizeof(word));
	return word;
}

int sp_walk_thread(struct sp_walk_thread *ret, const struct sp_sampled_python *python, pid_t pid,
		   uint64_t state)
{
	const struct sp_python_layout *l = &python->layout;
	uint8_t bytes[STATE_BYTES];
	uint32_t last = l->thread_tid > l->thread_chunk ? l->thread_tid : l->thread_chunk;
	int r;

	if (l->thread_frame > last)
		last = l->thread_frame;
	if (last > STATE_BYTES - sizeof(uint64_t))
		return -ENOTSUP;
	r = sp_other_read(pid, state, bytes, last + sizeof(uint64_t));
	if (r < 0)
		return r;
	*ret = (struct sp_walk_thread){
		.next = word_at(bytes, l->thread_next),
		.frame = word_at(bytes, l->thread_frame),
		.chunk = l->thread_chunk ? word_at(bytes, l->thread_chunk) : 0,
		.tid = word_at(bytes, l->thread_tid),
	};
	return 0;
}

/* The chunk may be shorter than what is asked for, or end the mapping: then frames are read one by
 * one. */
static void read_chunk(struct sp_python_walk *walk, pid_t pid, uint64_t chunk)
{
	uint64_t size;

	walk->chunk_at = chunk;
	walk->chunk_bytes = 0;
	if (!chunk || sp_other_read(pid, chunk, walk->chunk, sizeof(walk->chunk)) < 0)
		return;
	size = word_at(walk->chunk, CHUNK_SIZE_AT);
	walk->chunk_bytes = size < sizeof(walk->chunk) ? (uint32_t)size : sizeof(walk->chunk);
}

static int read_frame(const struct sp_python_walk *walk, pid_t pid, uint64_t at, uint8_t *ret,
		      uint32_t bytes)
{
	if (at % sizeof(uint64_t))
		return -EAGAIN;
	if (at >= walk->chunk_at && at - walk->chunk_at < walk->chunk_bytes &&
	    walk->chunk_bytes - (at - walk->chunk_at) >= bytes) {
		memcpy(ret, walk->chunk + (at - walk->chunk_at), bytes);
		return 0;
	}
	return sp_other_read(pid, at, ret, bytes);
}

static uint32_t frame_bytes(const struct sp_python_layout *l)
{
	uint32_t last = l->frame_instruction;

	if (l->frame_previous > last)
		last = l->frame_previous;
	if (l->frame_owner > last)
		last = l->frame_owner;
	return last + (uint32_t)sizeof(uint64_t);
}

static void take_frame(struct sp_python_walk *walk, const struct sp_python_layout *l,
		       const uint8_t *frame)
{
	int32_t counted;

	if (l->frame_owner && frame[l->frame_owner] >= l->foreign_owner)
		return;
	if (walk->count == SP_WALK_FRAMES_MAX) {
		walk->was_cut = true;
		return;
	}
	memcpy(&counted, frame + l->frame_instruction, sizeof(counted));
	walk->frames[walk->count++] = (struct sp_walk_frame){
		.code = word_at(frame, l->frame_code) & ~(uint64_t)TAG_BITS,
		.instruction = l->place == SP_PLACE_ADDRESS
				       ? (int64_t)word_at(frame, l->frame_instruction)
				       : counted,
	};
}

int sp_walk_stack(struct sp_python_walk *ret, const struct sp_sampled_python *python, pid_t pid,
		  const struct sp_walk_thread *thread)
{
	const struct sp_python_layout *l = &python->layout;
	uint32_t bytes = frame_bytes(l), steps = 0;
	uint64_t at = thread->frame;
	uint8_t frame[FRAME_BYTES];

	ret->count = 0;
	ret->was_cut = false;
	if (bytes > FRAME_BYTES)
		return -ENOTSUP;
	if (at && l->cframe >= 0)
		at = sp_other_word(pid, at + (uint32_t)l->cframe);
	read_chunk(ret, pid, at ? thread->chunk : 0);
	for (; at && steps < STEPS_MAX; steps++) {
		int r = read_frame(ret, pid, at, frame, bytes);

		if (r < 0)
			return r == -EFAULT ? -EAGAIN : r;
		take_frame(ret, l, frame);
		at = word_at(frame, l->frame_previous);
	}
	return at ? -EAGAIN : 0;
}

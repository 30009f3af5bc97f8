/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metadata/slow_calls.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/hash_free.h"
#include "trace/format.h"
#include "analyzer/base/order.h"

#define OBJECT_NAME_BYTES 64u

/* *ret: NULL where there is no room. Returns 0 or -ENOMEM. */
static int slow_of(struct sp_slow_calls *calls, uint32_t image, uint32_t stack,
		   const struct sp_slow_call_metadata *metadata, struct sp_slow **ret)
{
	struct sp_slow_key key = {image, stack, metadata->kind,
				  sp_way_of(metadata->kind, metadata->arg)};
	struct sp_slow *slow;

	HASH_FIND(hh, calls->by_key, &key, sizeof(key), slow);
	if (!slow && HASH_COUNT(calls->by_key) < SP_SLOW_MAX) {
		slow = calloc(1, sizeof(*slow));
		if (!slow)
			return -ENOMEM;
		slow->key = key;
		HASH_ADD(hh, calls->by_key, key, sizeof(slow->key), slow);
	}
	*ret = slow;
	return 0;
}

static void sum_add(struct sp_slow_sum *sum, uint64_t ticks)
{
	sum->calls++;
	sum->ticks += ticks;
	sum->max_ticks = ticks > sum->max_ticks ? ticks : sum->max_ticks;
}

/* The call that a definition is about, and its row; *ret: NULL where it is cut short, or there is
 * no room. */
static int slow_read(struct sp_slow_calls *calls, uint32_t image, const struct sp_definition *d,
		     struct sp_slow_call_metadata *ret_metadata, struct sp_slow **ret)
{
	*ret = NULL;
	if (d->bytes < sizeof(*ret_metadata))
		return 0;
	memcpy(ret_metadata, d->blob, sizeof(*ret_metadata));
	return slow_of(calls, image, d->id, ret_metadata, ret);
}

static int take_slow(struct sp_slow_calls *calls, uint32_t image, const struct sp_definition *d)
{
	struct sp_slow_call_metadata metadata;
	struct sp_slow *slow;
	int r = slow_read(calls, image, d, &metadata, &slow);

	if (r == 0 && slow) {
		if (metadata.ticks >= slow->all.max_ticks)
			slow->max_arg = metadata.arg;
		sum_add(&slow->all, metadata.ticks);
	} else if (r == 0) {
		calls->turned_away++;
	}
	return r;
}

/* The call of a LINE definition also has a SLOW definition, before or after it. */
static int take_line(struct sp_slow_calls *calls, uint32_t image, const struct sp_definition *d)
{
	struct sp_slow_call_metadata metadata;
	struct sp_slow *slow;
	int r = slow_read(calls, image, d, &metadata, &slow);

	if (r == 0 && slow)
		sum_add(&slow->with_line, metadata.ticks);
	return r < 0 ? r : sp_lines_take(&calls->lines, image, d);
}

static int take_stack(struct sp_slow_calls *calls, uint32_t image, const struct sp_definition *d)
{
	uint32_t count = d->bytes / sizeof(uint64_t);
	size_t bytes = sizeof(struct sp_stack) + count * sizeof(uint64_t);
	struct sp_stack key = {.key = {.image = image, .id = d->id}}, *stack;

	HASH_FIND(hh, calls->stacks, &key.key, sizeof(key.key), stack);
	if (stack || HASH_COUNT(calls->stacks) >= SP_SLOW_MAX ||
	    !sp_text_budget_take(calls->texts, bytes))
		return 0;
	stack = malloc(bytes);
	if (!stack)
		return -ENOMEM;
	stack->key = key.key;
	stack->count = count;
	memcpy(stack->addresses, d->blob, count * sizeof(uint64_t));
	HASH_ADD(hh, calls->stacks, key, sizeof(stack->key), stack);
	return 0;
}

static const char *object_name(const char *path, size_t bytes)
{
	const char *slash = memrchr(path, '/', bytes);
	size_t skip = slash ? (size_t)(slash + 1 - path) : 0;

	return path + (bytes - skip < OBJECT_NAME_BYTES ? skip : bytes - (OBJECT_NAME_BYTES - 1));
}

static int make_room(struct sp_slow_calls *calls)
{
	size_t room = calls->object_room ? 2 * calls->object_room : 64;
	struct sp_object *objects;

	if (calls->object_count < calls->object_room)
		return 0;
	objects = realloc(calls->objects, room * sizeof(*objects));
	if (!objects)
		return -ENOMEM;
	calls->objects = objects;
	calls->object_room = room;
	return 0;
}

static int take_object(struct sp_slow_calls *calls, uint32_t image, const struct sp_definition *d)
{
	struct sp_object o = {.image = image, .id = d->id};
	size_t bytes = d->bytes - sizeof(o.metadata);

	if (d->bytes < sizeof(o.metadata) || calls->object_count >= SP_SLOW_MAX ||
	    !sp_text_budget_take(calls->texts, bytes + 1))
		return 0;
	o.path = strndup((const char *)d->blob + sizeof(o.metadata), bytes);
	if (!o.path || make_room(calls) < 0) {
		free(o.path);
		return -ENOMEM;
	}
	memcpy(&o.metadata, d->blob, sizeof(o.metadata));
	o.name = object_name(o.path, strlen(o.path));
	calls->objects[calls->object_count++] = o;
	return 0;
}

static int take_build(struct sp_slow_calls *calls, uint32_t image, const struct sp_definition *d)
{
	struct sp_build *build, *old;

	if (d->bytes > sizeof(build->id) || HASH_COUNT(calls->builds) >= SP_SLOW_MAX)
		return 0;
	build = calloc(1, sizeof(*build));
	if (!build)
		return -ENOMEM;
	build->key.image = image;
	build->key.object = d->id;
	build->bytes = d->bytes;
	memcpy(build->id, d->blob, d->bytes);
	HASH_FIND(hh, calls->builds, &build->key, sizeof(build->key), old);
	if (old)
		free(build);
	else
		HASH_ADD(hh, calls->builds, key, sizeof(build->key), build);
	return 0;
}

int sp_slow_take(struct sp_slow_calls *calls, uint32_t image, const struct sp_definition *d)
{
	switch (d->what) {
	case SP_DEFINE_SLOW:
		return take_slow(calls, image, d);
	case SP_DEFINE_STACK:
		return take_stack(calls, image, d);
	case SP_DEFINE_OBJECT:
		return take_object(calls, image, d);
	case SP_DEFINE_BUILD:
		return take_build(calls, image, d);
	case SP_DEFINE_LINE:
		return take_line(calls, image, d);
	}
	return 0;
}

SP_ORDER(compare_objects, struct sp_object,
	 SP_UP(image) ?: SP_UP(metadata.begin) ?: strcmp(x->name, y->name))

static int compare_slow(const struct sp_slow *a, const struct sp_slow *b)
{
	return memcmp(&a->key, &b->key, sizeof(a->key));
}

void sp_slow_sort(struct sp_slow_calls *calls)
{
	if (calls->object_count)
		qsort(calls->objects, calls->object_count, sizeof(*calls->objects),
		      compare_objects);
	HASH_SORT(calls->by_key, compare_slow);
	sp_lines_sort(&calls->lines);
}

void sp_slow_finish(struct sp_slow_calls *calls)
{
	SP_HASH_FREE(calls->by_key);
	SP_HASH_FREE(calls->stacks);
	SP_HASH_FREE(calls->builds);
	for (size_t i = 0; i < calls->object_count; i++)
		free(calls->objects[i].path);
	free(calls->objects);
	sp_lines_finish(&calls->lines);
	*calls = (struct sp_slow_calls){.by_key = NULL};
}

const struct sp_stack *sp_stack_find(const struct sp_slow_calls *calls, uint32_t image,
				     uint32_t stack)
{
	const struct {
		uint32_t image, id;
	} key = {image, stack};
	struct sp_stack *found;

	HASH_FIND(hh, calls->stacks, &key, sizeof(key), found);
	return found;
}

const struct sp_build *sp_build_of(const struct sp_slow_calls *calls,
				   const struct sp_object *object)
{
	const struct {
		uint32_t image, object;
	} key = {object->image, object->id};
	struct sp_build *build;

	HASH_FIND(hh, calls->builds, &key, sizeof(key), build);
	return build;
}

/* The last object of the process that begins at or below the address; NULL where it ends below. */
const struct sp_object *sp_object_at(const struct sp_slow_calls *calls, uint32_t image,
				     uint64_t address)
{
	size_t low = 0, high = calls->object_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct sp_object *o = &calls->objects[middle];

		if (o->image < image || (o->image == image && o->metadata.begin <= address))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || calls->objects[low - 1].image != image ||
	    calls->objects[low - 1].metadata.end <= address)
		return NULL;
	return &calls->objects[low - 1];
}

size_t sp_stack_frame(const struct sp_slow_calls *calls, uint32_t image, uint64_t address,
		      char ret[SP_FRAME_BYTES])
{
	const struct sp_object *o = sp_object_at(calls, image, address);

	return (size_t)snprintf(ret, SP_FRAME_BYTES, "%s+0x%" PRIx64, o ? o->name : "?",
				o ? address - o->metadata.bias : address);
}

size_t sp_stack_text(const struct sp_slow_calls *calls, const struct sp_stack *stack,
		     char ret[SP_STACK_TEXT_BYTES])
{
	size_t used = 0;

	for (uint32_t i = 0; stack && i < stack->count && i < SP_STACK_FRAMES_MAX; i++) {
		if (i)
			ret[used++] = ';';
		used += sp_stack_frame(calls, stack->key.image, stack->addresses[i], ret + used);
	}
	return used;
}

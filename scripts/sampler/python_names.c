/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/sampler/python_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/settings/redact.h"
#include "scripts/sampler/line_table.h"
#include "scripts/sampler/other_memory.h"
#include "scripts/sampler/python_text.h"

#define TABLE_BYTES 65536u /* a longer table of lines is not read */
#define FILE_BYTES 1024u
#define NAME_BYTES 256u
#define CODES_MAX (1u << 16)
#define REUSES_MAX 20u
#define CHECKED_LOOKS 32u   /* a code object is not read again for so long */
#define DISTRUST_FIRST 512u /* looks; twice as many the next time */

struct sp_python_code {
	enum sp_python_place place;
	uint64_t first; /* address of the first instruction */
	uint32_t line;	/* of the function; 0: the code object could not be read */
	char *text;	/* "file\tfunction" */
	uint8_t *table;
	uint32_t table_bytes;
};

static uint64_t word_at(const uint8_t *bytes, uint32_t at)
{
	uint64_t word;

	memcpy(&word, bytes + at, sizeof(word));
	return word;
}

static uint32_t line_at(const uint8_t *head, const struct sp_python_layout *l)
{
	uint32_t line;

	memcpy(&line, head + l->code_line, sizeof(line));
	return line;
}

static int read_texts(struct sp_python_code *ret, const struct sp_sampled_python *python, pid_t pid,
		      const uint8_t *head)
{
	const struct sp_python_layout *l = &python->layout;
	char text[FILE_BYTES + NAME_BYTES];
	int file = sp_python_text(text, FILE_BYTES, l, pid, word_at(head, l->code_file)), name;

	if (file < 0)
		return file;
	file = (int)sp_redact(text, (size_t)file);
	text[file] = '\t';
	name = sp_python_text(text + file + 1, NAME_BYTES, l, pid, word_at(head, l->code_name));
	if (name < 0)
		return name;
	ret->text = strdup(text);
	return ret->text ? 0 : -ENOMEM;
}

/* The number of a new entry, plus 1; or a negative error. */
static int code_make(struct sp_python_names *names, const struct sp_sampled_python *python,
		     pid_t pid, uint64_t address, const uint8_t *head)
{
	const struct sp_python_layout *l = &python->layout;
	struct sp_python_code code = {.place = l->place,
				      .first = address + l->code_first,
				      .line = line_at(head, l)};
	int r;

	if (names->code_count == names->code_room) {
		uint32_t room = names->code_room ? 2 * names->code_room : 256;
		struct sp_python_code *list = realloc(names->code_list, room * sizeof(*list));

		if (!list)
			return -ENOMEM;
		names->code_list = list;
		names->code_room = room;
	}
	r = read_texts(&code, python, pid, head);
	if (r < 0)
		return r;
	/* without its table a frame has the line of its function */
	sp_python_bytes(&code.table, &code.table_bytes, TABLE_BYTES, l, pid,
			word_at(head, l->code_table));
	names->code_list[names->code_count++] = code;
	return (int)names->code_count;
}

/* The entry of a code object. Returns its number, or a negative error. */
static int code_of(struct sp_python_names *names, const struct sp_sampled_python *python, pid_t pid,
		   uint64_t address, const uint8_t *head)
{
	const struct sp_python_layout *l = &python->layout;
	uint64_t key[6] = {python->family,
			   address,
			   word_at(head, l->code_file),
			   word_at(head, l->code_name),
			   word_at(head, l->code_table),
			   line_at(head, l)};
	uint32_t *at;
	int made;

	if (word_at(head, l->object_type) != python->code_type)
		return -EAGAIN;
	if (names->code_count == CODES_MAX)
		return -ENOMEM;
	at = sp_id_map_at(&names->codes, sp_id_hash(0, key, sizeof(key)));
	if (!at)
		return -ENOMEM;
	if (*at)
		return (int)*at - 1;
	made = code_make(names, python, pid, address, head);
	if (made < 0)
		return made;
	*at = (uint32_t)made;
	return made - 1;
}

static uint32_t line_of(const struct sp_python_code *code, int64_t instruction)
{
	uint32_t line;

	if (code->place == SP_PLACE_ADDRESS)
		instruction -= (int64_t)code->first;
	line = sp_line_table_find(code->table, code->table_bytes, code->place, code->line,
				  instruction);
	return line ? line : code->line;
}

static uint32_t define_frame(struct sp_python_names *names, uint32_t line, uint32_t first_line,
			     const char *text)
{
	struct sp_python_frame_metadata metadata = {.line = line, .first_line = first_line};
	uint64_t hash = sp_id_hash(sp_id_hash(0, &metadata, sizeof(metadata)), text, strlen(text));
	uint32_t *at = sp_id_map_at(&names->frames, hash);

	if (!at)
		return 0;
	if (!*at) {
		*at = ++names->frame_count;
		sp_define(names->recorder, SP_DEFINE_PYTHON_FRAME, *at, &metadata, sizeof(metadata),
			  text, strlen(text));
	}
	return *at;
}

static uint32_t frame_define(struct sp_python_names *names, const struct sp_python_code *code,
			     uint32_t line)
{
	return define_frame(names, line, code->line, code->text);
}

uint32_t sp_python_names_library(struct sp_python_names *names, const char *name)
{
	char text[NAME_BYTES + 1];
	int n = snprintf(text, NAME_BYTES, "%s", name);
	size_t bytes = sp_redact(text, n < (int)NAME_BYTES ? (size_t)n : NAME_BYTES - 1);

	text[bytes] = '\t';
	text[bytes + 1] = '\0';
	return define_frame(names, 0, 0, text);
}

static uint32_t frame_of(struct sp_python_names *names, int code, int64_t instruction)
{
	uint64_t key[2] = {(uint64_t)code, (uint64_t)instruction};
	uint32_t *at = sp_id_map_at(&names->places, sp_id_hash(0, key, sizeof(key)));
	const struct sp_python_code *c = &names->code_list[code];

	if (!at)
		return frame_define(names, c, line_of(c, instruction));
	if (!*at)
		*at = frame_define(names, c, line_of(c, instruction));
	return *at;
}

static uint32_t stack_of(struct sp_python_names *names, const uint32_t *frames, uint32_t count)
{
	uint32_t *at = sp_id_map_at(&names->stacks, sp_id_hash(0, frames, count * sizeof(*frames)));

	if (!at)
		return 0;
	if (!*at) {
		*at = ++names->stack_count;
		sp_define(names->recorder, SP_DEFINE_PYTHON_STACK, *at, frames,
			  count * (uint32_t)sizeof(*frames), "", 0);
	}
	return *at;
}

/* The frames outside of the returned one, and that one, are those of the last time. */
static uint32_t first_same(const struct sp_python_walk *walk, const struct sp_named_stack *last)
{
	uint32_t i = walk->count, k = last->count;

	if (walk->was_cut || last->was_cut || last->reuses == REUSES_MAX)
		return walk->count;
	while (i > 0 && k > 0 && walk->frames[i - 1].at == last->frames[k - 1].frame.at &&
	       walk->frames[i - 1].code == last->frames[k - 1].frame.code) {
		i--;
		k--;
	}
	return i;
}

/*
 * A frame that was left and entered again may have another code object at the same address. The
 * frames outside of the last one that went on to another instruction were probably not left; the
 * innermost one never counts as one of them.
 */
static uint32_t first_kept(const struct sp_python_walk *walk, const struct sp_named_stack *last)
{
	uint32_t same = first_same(walk, last), kept = walk->count;

	while (kept > same && kept > 1 &&
	       walk->frames[kept - 1].instruction ==
		       last->frames[kept - 1 + last->count - walk->count].frame.instruction)
		kept--;
	return kept > same && kept > 1 ? kept - 1 : kept;
}

/* All frames are at the instructions of the last time: left and entered again or not, they are the
 * same. */
static bool is_last(const struct sp_python_walk *walk, const struct sp_named_stack *last)
{
	if (walk->count != last->count || walk->was_cut || first_same(walk, last) != 0)
		return false;
	for (uint32_t i = 0; i < walk->count; i++)
		if (walk->frames[i].instruction != last->frames[i].frame.instruction)
			return false;
	return walk->count != 0;
}

static struct sp_checked_code *checked_of(struct sp_python_names *names, pid_t pid, uint64_t at)
{
	uint64_t key[2] = {(uint64_t)pid, at};

	return &names->checked[sp_id_hash(0, key, sizeof(key)) % SP_CHECKED_CODES];
}

/* Returns -1 where the code object has to be read. */
static int checked_code(struct sp_python_names *names, pid_t pid, uint64_t at)
{
	const struct sp_checked_code *checked = checked_of(names, pid, at);

	if (checked->pid != pid || checked->at != at || names->look < names->checked_from ||
	    names->look - checked->look >= CHECKED_LOOKS)
		return -1;
	return (int)checked->code;
}

/* A program that makes code objects where others were has all of them read, for some time. */
static void keep_checked(struct sp_python_names *names, pid_t pid, uint64_t at, uint32_t code)
{
	struct sp_checked_code *checked = checked_of(names, pid, at);

	if (checked->pid == pid && checked->at == at && checked->code != code) {
		names->distrust = names->distrust ? 2 * names->distrust : DISTRUST_FIRST;
		names->checked_from = names->look + names->distrust;
	}
	*checked = (struct sp_checked_code){pid, code, at, names->look};
}

/* Sets codes of the first `count` frames, or -1 where heads has the code object next. */
static int read_heads(struct sp_python_names *names, pid_t pid, const struct sp_python_walk *walk,
		      uint32_t count, int *codes)
{
	int r;

	sp_other_parts_begin(&names->heads, pid);
	for (uint32_t i = 0; i < count; i++) {
		codes[i] = checked_code(names, pid, walk->frames[i].code);
		if (codes[i] < 0)
			sp_other_parts_add(&names->heads, walk->frames[i].code, SP_CODE_HEAD_BYTES);
	}
	if (names->heads.count == 0)
		return 0;
	r = sp_other_parts_read(&names->heads);
	return r < 0 || names->heads.read == names->heads.count ? r : -EFAULT;
}

/* Reads what codes lack. */
static int read_codes(struct sp_python_names *names, const struct sp_sampled_python *python,
		      pid_t pid, const struct sp_python_walk *walk, uint32_t count, int *codes)
{
	int r = read_heads(names, pid, walk, count, codes);

	for (uint32_t i = 0, head = 0; r >= 0 && i < count; i++) {
		uint64_t at = walk->frames[i].code;

		if (codes[i] >= 0)
			continue;
		r = codes[i] = code_of(names, python, pid, at, names->heads.here[head++].iov_base);
		if (r >= 0)
			keep_checked(names, pid, at, (uint32_t)r);
	}
	return r < 0 ? r : 0;
}

static int frames_room(struct sp_named_stack *stack, uint32_t count)
{
	struct sp_named_frame *frames;

	if (count <= stack->room)
		return 0;
	frames = realloc(stack->frames, 2 * count * sizeof(*frames));
	if (!frames)
		return -ENOMEM;
	stack->frames = frames;
	stack->room = 2 * count;
	return 0;
}

/* The outer frames of the last time move to their places in a stack of another depth. */
static void keep_frames(struct sp_named_stack *stack, const struct sp_python_walk *walk,
			uint32_t kept)
{
	memmove(stack->frames + kept, stack->frames + (stack->count - (walk->count - kept)),
		(walk->count - kept) * sizeof(*stack->frames));
}

/* code: -1: that of the last time */
static void name_frame(struct sp_python_names *names, const struct sp_walk_frame *frame, int code,
		       struct sp_named_frame *ret)
{
	bool is_named = code < 0 && ret->frame.instruction == frame->instruction;

	if (code >= 0)
		ret->code = (uint32_t)code;
	if (!is_named)
		ret->id = frame_of(names, (int)ret->code, frame->instruction);
	ret->frame = *frame;
}

static uint32_t stack_of_frames(struct sp_python_names *names, const struct sp_named_stack *stack)
{
	uint32_t ids[SP_WALK_FRAMES_MAX + 1];

	for (uint32_t i = 0; i < stack->count; i++)
		ids[i] = stack->frames[i].id;
	ids[stack->count] = 0; /* the frames outside were left out */
	return stack_of(names, ids, stack->count + stack->was_cut);
}

static int name_frames(struct sp_python_names *names, const struct sp_sampled_python *python,
		       pid_t pid, const struct sp_python_walk *walk, struct sp_named_stack *last)
{
	uint32_t kept = first_kept(walk, last);
	bool reuses = kept < walk->count;
	int codes[SP_WALK_FRAMES_MAX];
	int r = read_codes(names, python, pid, walk, kept, codes);

	if (r < 0)
		return r;
	if (frames_room(last, walk->count) < 0)
		return -ENOMEM;
	keep_frames(last, walk, kept);
	for (uint32_t i = 0; i < walk->count; i++)
		name_frame(names, &walk->frames[i], i < kept ? codes[i] : -1, &last->frames[i]);
	last->count = walk->count;
	last->was_cut = walk->was_cut;
	last->reuses = reuses ? last->reuses + 1 : 0;
	last->stack = stack_of_frames(names, last);
	return 0;
}

int sp_python_names_stack(struct sp_python_names *names, const struct sp_sampled_python *python,
			  pid_t pid, const struct sp_python_walk *walk, struct sp_named_stack *last)
{
	int r;

	if (is_last(walk, last)) {
		last->reuses++;
		return 0;
	}
	last->stack = 0;
	if (walk->count == 0) {
		last->count = 0; /* the same frames may come back */
		return 0;
	}
	r = name_frames(names, python, pid, walk, last);
	if (r == -ENOMEM)
		return 0;
	return r == -EFAULT ? -EAGAIN : r;
}

void sp_named_stack_finish(struct sp_named_stack *stack)
{
	free(stack->frames);
}

void sp_python_names_finish(struct sp_python_names *names)
{
	for (uint32_t i = 0; i < names->code_count; i++) {
		free(names->code_list[i].text);
		free(names->code_list[i].table);
	}
	free(names->code_list);
	sp_id_map_finish(&names->codes);
	sp_id_map_finish(&names->places);
	sp_id_map_finish(&names->frames);
	sp_id_map_finish(&names->stacks);
}

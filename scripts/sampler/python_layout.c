/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/sampler/python_layout.h"

#include <string.h>

#include "scripts/sampler/other_memory.h"

#define OFFSETS 80u
#define OFFSET_MAX 65536u
#define COOKIE "xdebugpy"
#define FREE_THREADED 2u /* the word that is not 0 in a free-threaded build (3.13t, 3.14t) */

/* Numbers of the 64-bit words of _Py_DebugOffsets. The members were moved in 3.14. */
struct debug_words {
	uint8_t interpreters_head, interpreter_next, threads_head;
	uint8_t thread_next, thread_frame, thread_tid, thread_chunk;
	uint8_t frame_previous, frame_code, frame_instruction, frame_owner;
	uint8_t code_file, code_name, code_table, code_line, code_first;
	uint8_t object_type, bytes_length, bytes_first, text_length, text_ascii;
};

static const struct debug_words words_of_3_13 = {
	.interpreters_head = 5,
	.interpreter_next = 8,
	.threads_head = 9,
	.thread_next = 21,
	.thread_frame = 23,
	.thread_tid = 25,
	.thread_chunk = 26,
	.frame_previous = 29,
	.frame_code = 30,
	.frame_instruction = 31,
	.frame_owner = 33,
	.code_file = 35,
	.code_name = 37,
	.code_table = 38,
	.code_line = 39,
	.code_first = 43,
	.object_type = 45,
	.bytes_length = 65,
	.bytes_first = 66,
	.text_length = 69,
	.text_ascii = 70,
};

static const struct debug_words words_of_3_14 = {
	.interpreters_head = 5,
	.interpreter_next = 8,
	.threads_head = 9,
	.thread_next = 24,
	.thread_frame = 26,
	.thread_tid = 28,
	.thread_chunk = 29,
	.frame_previous = 32,
	.frame_code = 33,
	.frame_instruction = 34,
	.frame_owner = 36,
	.code_file = 40,
	.code_name = 42,
	.code_table = 43,
	.code_line = 44,
	.code_first = 48,
	.object_type = 51,
	.bytes_length = 75,
	.bytes_first = 76,
	.text_length = 79,
	.text_ascii = 80,
};

static bool by_description(struct sp_python_layout *ret, pid_t pid, uint64_t runtime,
			   uint32_t minor)
{
	const struct debug_words *w = minor == 13 ? &words_of_3_13 : &words_of_3_14;
	uint64_t word[OFFSETS + 1];

	if (minor > 14 || sp_other_read(pid, runtime, word, sizeof(word)) < 0 ||
	    memcmp(word, COOKIE, sizeof(word[0])) != 0 || (word[1] >> 16) != (0x300 | minor))
		return false;
	/* Each thread may run a copy of the code there (3.14t): the lines would be wrong. */
	if (word[FREE_THREADED])
		return false;
#define AT(field) .field = (uint32_t)word[w->field]
	*ret = (struct sp_python_layout){
		.place = SP_PLACE_ADDRESS,
		.cframe = -1,
		.foreign_owner = 3,
		AT(interpreters_head),
		AT(interpreter_next),
		AT(threads_head),
		AT(thread_next),
		AT(thread_frame),
		AT(thread_tid),
		AT(thread_chunk),
		AT(frame_previous),
		AT(frame_code),
		AT(frame_instruction),
		AT(frame_owner),
		AT(code_file),
		AT(code_name),
		AT(code_table),
		AT(code_line),
		AT(code_first),
		AT(object_type),
		AT(bytes_length),
		AT(bytes_first),
		AT(text_length),
		AT(text_ascii),
	};
#undef AT
	ret->text_wide = ret->text_ascii + 2 * (uint32_t)sizeof(uint64_t);
	for (unsigned i = 0; i < sizeof(*w); i++)
		if (word[((const uint8_t *)w)[i]] > OFFSET_MAX * 16)
			return false;
	return true;
}

static bool by_table(struct sp_python_layout *ret, uint32_t minor)
{
	static const struct {
		uint32_t minor;
		struct sp_python_layout layout;
	} rows[] = {
#define SP_PYTHON_LAYOUT(minor, head, threads, frame, cframe_, tid, chunk, previous, code,         \
			 instruction, owner, file, name, line, table, first)                       \
	{minor,                                                                                    \
	 {                                                                                         \
		 .place = (minor) < 10	 ? SP_PLACE_BYTES                                          \
			  : (minor) < 11 ? SP_PLACE_UNITS                                          \
					 : SP_PLACE_ADDRESS,                                       \
		 .interpreters_head = head,                                                        \
		 .threads_head = threads,                                                          \
		 .thread_next = 8,                                                                 \
		 .thread_frame = frame,                                                            \
		 .thread_tid = tid,                                                                \
		 .thread_chunk = chunk,                                                            \
		 .cframe = cframe_,                                                                \
		 .has_pthread = (minor) < 11,                                                      \
		 .frame_previous = previous,                                                       \
		 .frame_code = code,                                                               \
		 .frame_instruction = instruction,                                                 \
		 .frame_owner = owner,                                                             \
		 .foreign_owner = 3,                                                               \
		 .code_file = file,                                                                \
		 .code_name = name,                                                                \
		 .code_line = line,                                                                \
		 .code_table = table,                                                              \
		 .code_first = first,                                                              \
		 .text_length = 16,                                                                \
		 .text_ascii = (minor) < 12 ? 48 : 40,                                             \
		 .text_wide = (minor) < 12 ? 72 : 56,                                              \
		 .bytes_length = 16,                                                               \
		 .bytes_first = 32,                                                                \
		 .object_type = 8,                                                                 \
	 }},
#include "scripts/sampler/python_layout.def"
#undef SP_PYTHON_LAYOUT
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].minor == minor) {
			*ret = rows[i].layout;
			return true;
		}
	return false;
}

bool sp_python_layout_find(struct sp_python_layout *ret, pid_t pid, uint64_t runtime,
			   uint32_t version)
{
	if (version >> 8 != 3)
		return false;
	return (version & 0xFF) >= 13 ? by_description(ret, pid, runtime, version & 0xFF)
				      : by_table(ret, version & 0xFF);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The places of the fields of CPython that a stack is read from: by _Py_DebugOffsets at the head of
 * _PyRuntime (3.13 and later), before by the table python_layout.def.
 */
#ifndef STAGEPROF_SAMPLER_PYTHON_LAYOUT_H
#define STAGEPROF_SAMPLER_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The unit of a frame's instruction. */
enum sp_python_place {
	SP_PLACE_BYTES,	  /* bytes from the first instruction; the table is co_lnotab: 3.8, 3.9 */
	SP_PLACE_UNITS,	  /* units of two bytes; co_linetable of 3.10 */
	SP_PLACE_ADDRESS, /* an address; co_linetable of 3.11 and later */
};

/* Offsets in bytes. */
struct sp_python_layout {
	enum sp_python_place place;
	uint32_t interpreters_head;
	uint32_t interpreter_next, threads_head;
	uint32_t thread_next, thread_frame, thread_tid, thread_chunk;
	int32_t cframe;	  /* of the frame in what thread_frame points to; -1: that is the frame */
	bool has_pthread; /* thread_tid has the pthread_t */
	uint32_t frame_previous, frame_code, frame_instruction;
	uint32_t frame_owner;	/* 0: none */
	uint32_t foreign_owner; /* frames of this owner and later ones are the interpreter's */
	uint32_t code_file, code_name, code_line, code_table, code_first;
	uint32_t text_length, text_ascii,
		text_wide; /* str: its length, and where characters begin */
	uint32_t bytes_length, bytes_first;
	uint32_t object_type;
};

/* Returns false where the version (3 << 8 | minor) is not known, or does not describe itself, or
 * where the build is free-threaded. */
bool sp_python_layout_find(struct sp_python_layout *ret, pid_t pid, uint64_t runtime,
			   uint32_t version);

#endif

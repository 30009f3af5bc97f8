/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's version in an ELF note, for `stageprof`, which reads the file without loading it.
 */
#include <stdint.h>

static const struct {
	uint32_t name_bytes, text_bytes, type;
	char name[12]; /* whole words of four bytes */
	char text[16];
} version_note __attribute__((section(".note.stageprof"), aligned(4), used)) = {
	.name_bytes = sizeof("stageprof"),
	.text_bytes = sizeof(version_note.text),
	.type = 1,
	.name = "stageprof",
	.text = STAGEPROF_VERSION,
};

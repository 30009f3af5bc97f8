/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Embeds a file in the program, unchanged: `const char name[]`, with a NUL after it.
 */
#ifndef STAGEPROF_ANALYZER_EMBED_FILE_H
#define STAGEPROF_ANALYZER_EMBED_FILE_H

#define SP_EMBED_FILE(name, path)                                                                  \
	__asm__(".pushsection .rodata\n.balign 8\n"                                                \
		".globl " #name "\n.hidden " #name "\n" #name ":\n"                                \
		".incbin \"" path "\"\n"                                                           \
		".byte 0\n"                                                                        \
		".popsection\n")

#endif

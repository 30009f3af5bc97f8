/*
 * A file as it is, in the program: `const char name[]`, and a NUL behind it.
 */
#ifndef STAGEPROF_ANALYZER_ASSET_H
#define STAGEPROF_ANALYZER_ASSET_H

#define SP_ASSET(name, path)                                                                       \
	__asm__(".pushsection .rodata\n.balign 8\n"                                                \
		".globl " #name "\n.hidden " #name "\n" #name ":\n"                                \
		".incbin \"" path "\"\n"                                                           \
		".byte 0\n"                                                                        \
		".popsection\n")

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * characters: the table of cmake/portable/characters.c on stdout, as utf8proc has it.
 */
#include <stdint.h>
#include <stdio.h>
#include <utf8proc.h>

int main(void)
{
	uint32_t before = UINT32_MAX;

	for (int32_t code = 0; code <= 0x10FFFF; code++) {
		uint32_t is =
			(uint32_t)utf8proc_category(code) << 2 | (uint32_t)utf8proc_charwidth(code);

		if (is != before)
			printf("0x%08X,\n", (uint32_t)code << 7 | is);
		before = is;
	}
	return fflush(stdout) == 0 ? 0 : 1;
}

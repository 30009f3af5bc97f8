/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes images by fake_jxl.c, gives one up, and prints its own count. */
#include <stdio.h>

void *JxlDecoderCreate(const void *memory);
int JxlDecoderProcessInput(void *decoder);
void JxlDecoderDestroy(void *decoder);

int main(void)
{
	unsigned calls = 0, aborted = 0;

	for (unsigned i = 0; i < 5; i++) {
		void *decoder = JxlDecoderCreate(NULL);
		int gives_up = i == 3;

		for (int r = 1; r && !(gives_up && r == 0x40);)
			r = JxlDecoderProcessInput(decoder);
		JxlDecoderDestroy(decoder);
		calls++;
		aborted += gives_up;
	}
	printf("{\"jxl_decode\": {\"calls\": %u, \"aborted\": %u}}\n", calls, aborted);
	return 0;
}

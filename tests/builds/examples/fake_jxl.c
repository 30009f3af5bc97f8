/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of libjxl that jxl.c makes: an "image" is a basic info, then a full image, then the
 * end. */
#include <stdint.h>
#include <stdlib.h>

struct decoder {
	int calls;
};

struct info {
	int have_container;
	uint32_t width, height;
};

struct decoder *JxlDecoderCreate(const void *memory);
int JxlDecoderProcessInput(struct decoder *decoder);
int JxlDecoderGetBasicInfo(const struct decoder *decoder, struct info *ret);
void JxlDecoderDestroy(struct decoder *decoder);

struct decoder *JxlDecoderCreate(const void *memory)
{
	(void)memory;
	return calloc(1, sizeof(struct decoder));
}

int JxlDecoderProcessInput(struct decoder *decoder)
{
	static const int answers[] = {0x40, 0x1000, 0};

	return answers[decoder->calls < 2 ? decoder->calls++ : 2];
}

int JxlDecoderGetBasicInfo(const struct decoder *decoder, struct info *ret)
{
	ret->width = 64;
	ret->height = 48;
	return decoder->calls == 0;
}

void JxlDecoderDestroy(struct decoder *decoder)
{
	free(decoder);
}

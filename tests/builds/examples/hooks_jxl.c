/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libjxl: an image is the calls of JxlDecoderProcessInput up to the one that returns
 * JXL_DEC_FULL_IMAGE, and its time is the time inside them. Threads of libjxl's own work outside
 * these calls. Values are those of libjxl 0.7.
 */
#include "preload/hooks/decode.h"
#include "preload/hooks/hook.h"
#include "preload/resolve/resolve.h"

#define JXL(name) SP_ORIGINAL_FOR_CALLER(name, "Jxl", NULL)
#define FULL_IMAGE 0x1000

/* JxlBasicInfo, and room for what later versions add. */
struct sp_jxl_info {
	int have_container;
	uint32_t width, height;
	uint8_t rest[1024];
};

int JxlDecoderGetBasicInfo(const void *decoder, struct sp_jxl_info *ret);

static struct sp_picture *picture_of(const void *decoder)
{
	struct sp_thread *t = sp_enter();
	struct sp_picture *picture = t ? sp_picture_in(t, decoder) : NULL;
	uint64_t now = sp_clock_ticks();

	if (!t || picture)
		return picture;
	picture = sp_picture_slot(t);
	*picture = (struct sp_picture){.object = decoder,
				       .kind = SP_EV_jxl_decode,
				       .start = now,
				       .last = now};
	return picture;
}

static void picture_finish(struct sp_picture *picture, const void *real)
{
	__typeof__(&JxlDecoderGetBasicInfo) info_of =
		SP_ORIGINAL_FOR_CALLER_BESIDE(JxlDecoderGetBasicInfo, real);
	struct sp_jxl_info info = {.width = 0};

	if (info_of(picture->object, &info) == 0) {
		picture->width = info.width;
		picture->height = info.height;
		picture->lines = info.height;
	}
	sp_picture_end(sp_decode_thread(), picture, SP_DECODE_FINISHED);
}

SP_HOOK(int, JxlDecoderProcessInput, void *decoder)
{
	__typeof__(&JxlDecoderProcessInput) real = JXL(JxlDecoderProcessInput);
	struct sp_picture *picture = picture_of(decoder);
	uint64_t start = sp_clock_ticks();
	int ret = real(decoder);

	if (!picture || !sp_picture_advance(picture, decoder, start))
		return ret;
	if (ret == FULL_IMAGE)
		picture_finish(picture, (const void *)real);
	else if (ret == 0) /* JXL_DEC_SUCCESS: nothing is left of the file */
		picture->object = NULL;
	return ret;
}

SP_HOOK(void, JxlDecoderDestroy, void *decoder)
{
	struct sp_picture *picture = decoder ? sp_picture_of(decoder) : NULL;

	if (picture)
		sp_picture_end(sp_decode_thread(), picture, SP_DECODE_ABORTED);
	JXL(JxlDecoderDestroy)(decoder);
}

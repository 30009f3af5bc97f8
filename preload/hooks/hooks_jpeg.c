/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libjpeg: one event for each picture, from the start of jpeg_start_decompress to the picture's
 * end, for any number of calls that deliver lines. The time excludes the reading of the header,
 * because many programs read headers of pictures that they never decode. Errors leave these calls
 * by longjmp (error_exit): no hook relies on code after the call, and such a picture ends with
 * the next jpeg_abort, jpeg_destroy or jpeg_start_decompress.
 */
#include "preload/hooks/abi_jpeg.h"
#include "preload/hooks/decode.h"
#include "preload/hooks/hook.h"
#include "preload/resolve/resolve.h"

#define JPEG(name, cinfo)                                                                          \
	SP_ORIGINAL_FOR_CALLER(name, "jpeg_",                                                      \
			       library_addr_of((const struct sp_jpeg_common *)(cinfo)))

static const void *library_addr_of(const struct sp_jpeg_common *cinfo)
{
	return cinfo->mem ? cinfo->mem->alloc_small : NULL;
}

static struct sp_picture *image_begin(struct sp_thread *t, const struct sp_jpeg_decompress *cinfo,
				      uint64_t now)
{
	struct sp_picture *picture = sp_picture_in(t, cinfo);

	if (picture && picture->suspended) {
		picture->suspended = 0;
		return picture;
	}
	if (picture)
		sp_picture_end(t, picture, SP_DECODE_ABORTED);
	else
		picture = sp_picture_slot(t);
	*picture = (struct sp_picture){.object = cinfo,
				       .kind = SP_EV_jpeg_decode,
				       .start = now,
				       .last = now,
				       .width = cinfo->image_width,
				       .height = cinfo->image_height};
	return picture;
}

SP_HOOK(int, jpeg_start_decompress, struct sp_jpeg_decompress *cinfo)
{
	__typeof__(&jpeg_start_decompress) real = JPEG(jpeg_start_decompress, cinfo);
	struct sp_thread *t = sp_enter();
	struct sp_picture *picture;
	uint64_t start;
	int ret;

	if (!t)
		return real(cinfo);
	sp_decode_coverage("jpeg", (const void *)real);
	start = sp_clock_ticks();
	picture = image_begin(t, cinfo, start);
	ret = real(cinfo);
	if (sp_picture_advance(picture, cinfo, start))
		picture->suspended = !ret;
	return ret;
}

#define HOOK_READ(name, rows_type)                                                                 \
	SP_HOOK(unsigned, name, struct sp_jpeg_decompress *cinfo, rows_type rows, unsigned max)    \
	{                                                                                          \
		__typeof__(&name) real = JPEG(name, cinfo);                                        \
		struct sp_picture *picture = sp_picture_of(cinfo);                                 \
		uint64_t start;                                                                    \
		unsigned ret;                                                                      \
                                                                                                   \
		if (!picture)                                                                      \
			return real(cinfo, rows, max);                                             \
		start = sp_clock_ticks();                                                          \
		ret = real(cinfo, rows, max);                                                      \
		if (sp_picture_advance(picture, cinfo, start))                                     \
			picture->lines += ret;                                                     \
		return ret;                                                                        \
	}

HOOK_READ(jpeg_read_scanlines, unsigned char **)
HOOK_READ(jpeg_read_raw_data, unsigned char ***)

/* Skipped lines are not delivered. libjpeg-turbo calls jpeg_read_scanlines inside, through our
 * hook. */
SP_HOOK(unsigned, jpeg_skip_scanlines, struct sp_jpeg_decompress *cinfo, unsigned lines)
{
	__typeof__(&jpeg_skip_scanlines) real = JPEG(jpeg_skip_scanlines, cinfo);
	struct sp_picture *picture = sp_picture_of(cinfo), before;
	uint64_t start;
	unsigned ret;

	if (!picture)
		return real(cinfo, lines);
	before = *picture;
	start = sp_clock_ticks();
	ret = real(cinfo, lines);
	if (picture->object == cinfo) {
		picture->lines = before.lines;
		picture->inside_ticks = before.inside_ticks;
		sp_picture_advance(picture, cinfo, start);
	}
	return ret;
}

/* Returns false if more input is needed: the host calls it again. On success it has called
 * jpeg_abort, through our hook or not. */
SP_HOOK(int, jpeg_finish_decompress, struct sp_jpeg_decompress *cinfo)
{
	__typeof__(&jpeg_finish_decompress) real = JPEG(jpeg_finish_decompress, cinfo);
	struct sp_picture *picture = sp_picture_of(cinfo);
	uint64_t start;
	int ret;

	if (!picture)
		return real(cinfo);
	picture->finish_start = start = sp_clock_ticks();
	ret = real(cinfo);
	if (!sp_picture_advance(picture, cinfo, start))
		return ret;
	picture->finish_start = 0;
	if (ret && sp_decode_thread())
		sp_picture_end(sp_decode_thread(), picture, SP_DECODE_FINISHED);
	return ret;
}

/* jpeg_abort and jpeg_destroy end a picture, whether it is whole or not. */
static void picture_left(const void *cinfo)
{
	const struct sp_jpeg_decompress *decompress = cinfo;
	struct sp_picture *picture = sp_picture_of(cinfo);
	int whole;

	if (!picture)
		return;
	whole = decompress->output_height &&
		decompress->output_scanline >= decompress->output_height;
	if (picture->finish_start)
		sp_picture_advance(picture, cinfo, picture->finish_start);
	sp_picture_end(sp_decode_thread(), picture, whole ? SP_DECODE_FINISHED : SP_DECODE_ABORTED);
}

SP_HOOK(void, jpeg_abort, struct sp_jpeg_common *cinfo)
{
	picture_left(cinfo);
	JPEG(jpeg_abort, cinfo)(cinfo);
}

SP_HOOK(void, jpeg_abort_decompress, struct sp_jpeg_decompress *cinfo)
{
	picture_left(cinfo);
	JPEG(jpeg_abort_decompress, cinfo)(cinfo);
}

SP_HOOK(void, jpeg_destroy, struct sp_jpeg_common *cinfo)
{
	picture_left(cinfo);
	JPEG(jpeg_destroy, cinfo)(cinfo);
}

SP_HOOK(void, jpeg_destroy_decompress, struct sp_jpeg_decompress *cinfo)
{
	picture_left(cinfo);
	JPEG(jpeg_destroy_decompress, cinfo)(cinfo);
}

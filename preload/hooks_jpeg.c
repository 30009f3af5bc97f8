/*
 * libjpeg: one event an image, from the start of jpeg_start_decompress to its end, however many calls
 * deliver its lines. Reading the header is not in it: many programs read headers of images that they
 * never decode. Errors leave these calls by longjmp (error_exit): nothing is undone after a call, and an
 * image left so ends with the jpeg_abort, jpeg_destroy or jpeg_start_decompress that follows.
 */
#include "preload/abi_jpeg.h"
#include "preload/decode.h"
#include "preload/hook.h"
#include "preload/resolve.h"

#define JPEG(name, cinfo) SP_FOREIGN(name, "jpeg_", maker_of((const struct sp_jpeg_common *)(cinfo)))

static const void *maker_of(const struct sp_jpeg_common *cinfo)
{
	return cinfo->mem ? cinfo->mem->alloc_small : NULL;
}

static struct sp_image *image_begin(struct sp_thread *t, const struct sp_jpeg_decompress *cinfo,
				    uint64_t now)
{
	struct sp_image *image = sp_image_in(t, cinfo);

	if (image && image->suspended) {
		image->suspended = 0;
		return image;
	}
	if (image)
		sp_image_end(t, image, SP_DECODE_ABORTED);
	else
		image = sp_image_place(t);
	*image = (struct sp_image){.object = cinfo,
				   .kind = SP_EV_jpeg_decode,
				   .start = now,
				   .last = now,
				   .width = cinfo->image_width,
				   .height = cinfo->image_height};
	return image;
}

SP_HOOK(int, jpeg_start_decompress, struct sp_jpeg_decompress *cinfo)
{
	__typeof__(&jpeg_start_decompress) real = JPEG(jpeg_start_decompress, cinfo);
	struct sp_thread *t = sp_enter();
	struct sp_image *image;
	uint64_t start;
	int ret;

	if (!t)
		return real(cinfo);
	sp_decode_cover("jpeg", (const void *)real);
	start = sp_clock_ticks();
	image = image_begin(t, cinfo, start);
	ret = real(cinfo);
	if (sp_image_advance(image, cinfo, start))
		image->suspended = !ret;
	return ret;
}

SP_HOOK(unsigned, jpeg_read_scanlines, struct sp_jpeg_decompress *cinfo, unsigned char **rows,
	unsigned max)
{
	__typeof__(&jpeg_read_scanlines) real = JPEG(jpeg_read_scanlines, cinfo);
	struct sp_image *image = sp_image_of(cinfo);
	uint64_t start;
	unsigned ret;

	if (!image)
		return real(cinfo, rows, max);
	start = sp_clock_ticks();
	ret = real(cinfo, rows, max);
	if (sp_image_advance(image, cinfo, start))
		image->lines += ret;
	return ret;
}

SP_HOOK(unsigned, jpeg_read_raw_data, struct sp_jpeg_decompress *cinfo, unsigned char ***planes,
	unsigned max)
{
	__typeof__(&jpeg_read_raw_data) real = JPEG(jpeg_read_raw_data, cinfo);
	struct sp_image *image = sp_image_of(cinfo);
	uint64_t start;
	unsigned ret;

	if (!image)
		return real(cinfo, planes, max);
	start = sp_clock_ticks();
	ret = real(cinfo, planes, max);
	if (sp_image_advance(image, cinfo, start))
		image->lines += ret;
	return ret;
}

/* Skipped lines are not delivered. Inside it libjpeg-turbo calls jpeg_read_scanlines, through us. */
SP_HOOK(unsigned, jpeg_skip_scanlines, struct sp_jpeg_decompress *cinfo, unsigned lines)
{
	__typeof__(&jpeg_skip_scanlines) real = JPEG(jpeg_skip_scanlines, cinfo);
	struct sp_image *image = sp_image_of(cinfo), before;
	uint64_t start;
	unsigned ret;

	if (!image)
		return real(cinfo, lines);
	before = *image;
	start = sp_clock_ticks();
	ret = real(cinfo, lines);
	if (image->object == cinfo) {
		image->lines = before.lines;
		image->inside_ticks = before.inside_ticks;
		sp_image_advance(image, cinfo, start);
	}
	return ret;
}

/* Returns false where more input is wanted: it will be called again. Where it succeeds it has called
 * jpeg_abort, through us or not. */
SP_HOOK(int, jpeg_finish_decompress, struct sp_jpeg_decompress *cinfo)
{
	__typeof__(&jpeg_finish_decompress) real = JPEG(jpeg_finish_decompress, cinfo);
	struct sp_image *image = sp_image_of(cinfo);
	uint64_t start;
	int ret;

	if (!image)
		return real(cinfo);
	image->finish_start = start = sp_clock_ticks();
	ret = real(cinfo);
	if (!sp_image_advance(image, cinfo, start))
		return ret;
	image->finish_start = 0;
	if (ret && sp_decode_thread())
		sp_image_end(sp_decode_thread(), image, SP_DECODE_FINISHED);
	return ret;
}

/* jpeg_abort and jpeg_destroy end an image, whether all of it was delivered or not. */
static void image_left(const void *cinfo)
{
	const struct sp_jpeg_decompress *decompress = cinfo;
	struct sp_image *image = sp_image_of(cinfo);
	int whole;

	if (!image)
		return;
	whole = decompress->output_height && decompress->output_scanline >= decompress->output_height;
	if (image->finish_start)
		sp_image_advance(image, cinfo, image->finish_start);
	sp_image_end(sp_decode_thread(), image, whole ? SP_DECODE_FINISHED : SP_DECODE_ABORTED);
}

SP_HOOK(void, jpeg_abort, struct sp_jpeg_common *cinfo)
{
	image_left(cinfo);
	JPEG(jpeg_abort, cinfo)(cinfo);
}

SP_HOOK(void, jpeg_abort_decompress, struct sp_jpeg_decompress *cinfo)
{
	image_left(cinfo);
	JPEG(jpeg_abort_decompress, cinfo)(cinfo);
}

SP_HOOK(void, jpeg_destroy, struct sp_jpeg_common *cinfo)
{
	image_left(cinfo);
	JPEG(jpeg_destroy, cinfo)(cinfo);
}

SP_HOOK(void, jpeg_destroy_decompress, struct sp_jpeg_decompress *cinfo)
{
	image_left(cinfo);
	JPEG(jpeg_destroy_decompress, cinfo)(cinfo);
}

/*
 * libpng: one event an image, from the first call for its rows to png_read_end or to its
 * destruction. Reading the header is not in it. Errors leave these calls by longjmp, as in
 * hooks_jpeg.c. Rows of an interlaced image are read once a pass and counted as many times as there
 * are rows.
 */
#include "preload/decode.h"
#include "preload/hook.h"
#include "preload/resolve.h"

#define PNG(name) SP_FOREIGN(name, "png_", NULL)

uint32_t png_get_image_width(const void *png, const void *info);
uint32_t png_get_image_height(const void *png, const void *info);

static struct sp_image *image_place(struct sp_thread *t, const void *png)
{
	struct sp_image *image = sp_image_in(t, png);

	if (!image) {
		image = sp_image_place(t);
		*image = (struct sp_image){.object = png, .kind = SP_EV_png_decode};
	}
	return image;
}

/* What a call for rows keeps on its own stack: inside it libpng calls its other functions through
 * us. */
struct rows {
	struct sp_image *image;
	struct sp_decode *decode;
	uint64_t start;
	uintptr_t outer;
};

static struct rows rows_begin(const void *png, const void *frame, const void *real)
{
	struct sp_thread *t = sp_enter();
	struct rows rows = {.image = NULL};

	if (!t || sp_decode_is_inside(t, frame))
		return rows;
	rows.decode = t->decode;
	rows.image = image_place(t, png);
	rows.start = sp_clock_ticks();
	if (!rows.image->start) {
		sp_decode_cover("png", real);
		rows.start = sp_clock_ticks();
		rows.image->start = rows.image->last = rows.start;
	}
	rows.outer = t->decode->inside;
	t->decode->inside = (uintptr_t)frame;
	return rows;
}

static void rows_end(struct rows *rows, const void *png, uint64_t lines)
{
	struct sp_image *image = rows->image;

	if (!image)
		return;
	rows->decode->inside = rows->outer;
	if (image->object != png)
		return;
	sp_image_advance(image, png, rows->start);
	image->lines += lines;
}

static void image_end(const void *png)
{
	struct sp_image *image = sp_image_of(png);
	int whole;

	if (!image)
		return;
	whole = image->finish_start || (image->height && image->lines >= image->height);
	if (image->height && image->lines > image->height)
		image->lines = image->height;
	sp_image_end(sp_decode_thread(), image, whole ? SP_DECODE_FINISHED : SP_DECODE_ABORTED);
}

SP_HOOK(void, png_read_info, void *png, void *info)
{
	__typeof__(&png_read_info) real = PNG(png_read_info);
	struct sp_thread *t = sp_enter();
	struct sp_image *image;

	real(png, info);
	if (!t || t->state != SP_THREAD_LIVE || sp_decode_is_inside(t, __builtin_frame_address(0)))
		return;
	image = image_place(t, png);
	image->width = SP_FOREIGN_BESIDE(png_get_image_width, real)(png, info);
	image->height = SP_FOREIGN_BESIDE(png_get_image_height, real)(png, info);
}

SP_HOOK(void, png_read_image, void *png, unsigned char **rows)
{
	__typeof__(&png_read_image) real = PNG(png_read_image);
	struct rows call = rows_begin(png, __builtin_frame_address(0), (const void *)real);

	real(png, rows);
	rows_end(&call, png, call.image ? call.image->height : 0);
}

SP_HOOK(void, png_read_rows, void *png, unsigned char **rows, unsigned char **shown, uint32_t n)
{
	__typeof__(&png_read_rows) real = PNG(png_read_rows);
	struct rows call = rows_begin(png, __builtin_frame_address(0), (const void *)real);

	real(png, rows, shown, n);
	rows_end(&call, png, n);
}

SP_HOOK(void, png_read_row, void *png, unsigned char *row, unsigned char *shown)
{
	__typeof__(&png_read_row) real = PNG(png_read_row);
	struct rows call = rows_begin(png, __builtin_frame_address(0), (const void *)real);

	real(png, row, shown);
	rows_end(&call, png, 1);
}

SP_HOOK(void, png_read_end, void *png, void *info)
{
	__typeof__(&png_read_end) real = PNG(png_read_end);
	struct sp_image *image = sp_image_of(png);
	struct rows call = {.image = NULL};

	if (image && image->start)
		call = rows_begin(png, __builtin_frame_address(0), (const void *)real);
	real(png, info);
	rows_end(&call, png, 0);
	if (call.image && call.image->object == png) {
		call.image->finish_start = call.start;
		image_end(png);
	}
}

/* The simplified reader and programs that are content with the rows end so. */
SP_HOOK(void, png_destroy_read_struct, void **png, void **info, void **end)
{
	if (png && *png) {
		struct sp_thread *t = sp_decode_thread();

		image_end(*png);
		if (t && !sp_decode_is_inside(t, __builtin_frame_address(0)))
			t->decode->inside = 0;
	}
	PNG(png_destroy_read_struct)(png, info, end);
}

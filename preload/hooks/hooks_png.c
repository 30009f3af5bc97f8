/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libpng: one event for each picture, from the first call for its rows to png_read_end or to its
 * destruction. The time excludes the reading of the header. Errors leave these calls by longjmp,
 * as in hooks_jpeg.c. Rows of an interlaced picture are read once for each pass and counted each
 * time.
 */
#include "preload/hooks/decode.h"
#include "preload/hooks/hook.h"
#include "preload/resolve/resolve.h"

#define PNG(name) SP_ORIGINAL_FOR_CALLER(name, "png_", NULL)

uint32_t png_get_image_width(const void *png, const void *info);
uint32_t png_get_image_height(const void *png, const void *info);

static struct sp_picture *picture_slot(struct sp_thread *t, const void *png)
{
	struct sp_picture *picture = sp_picture_in(t, png);

	if (!picture) {
		picture = sp_picture_slot(t);
		*picture = (struct sp_picture){.object = png, .kind = SP_EV_png_decode};
	}
	return picture;
}

/* State of a call for rows, on its own stack: libpng calls its other functions inside, through our
 * hooks. */
struct rows {
	struct sp_picture *picture;
	struct sp_decode *decode;
	uint64_t start;
	uintptr_t outer;
};

static struct rows rows_begin(const void *png, const void *frame, const void *real)
{
	struct sp_thread *t = sp_enter();
	struct rows rows = {.picture = NULL};

	if (!t || sp_decode_is_inside(t, frame))
		return rows;
	rows.decode = sp_decode_of(t);
	rows.picture = picture_slot(t, png);
	rows.start = sp_clock_ticks();
	if (!rows.picture->start) {
		sp_decode_coverage("png", real);
		rows.start = sp_clock_ticks();
		rows.picture->start = rows.picture->last = rows.start;
	}
	rows.outer = sp_decode_of(t)->inside;
	sp_decode_of(t)->inside = (uintptr_t)frame;
	return rows;
}

static void rows_end(struct rows *rows, const void *png, uint64_t lines)
{
	struct sp_picture *picture = rows->picture;

	if (!picture)
		return;
	rows->decode->inside = rows->outer;
	if (picture->object != png)
		return;
	sp_picture_advance(picture, png, rows->start);
	picture->lines += lines;
}

static void picture_end(const void *png)
{
	struct sp_picture *picture = sp_picture_of(png);
	int whole;

	if (!picture)
		return;
	whole = picture->finish_start || (picture->height && picture->lines >= picture->height);
	if (picture->height && picture->lines > picture->height)
		picture->lines = picture->height;
	sp_picture_end(sp_decode_thread(), picture, whole ? SP_DECODE_FINISHED : SP_DECODE_ABORTED);
}

SP_HOOK(void, png_read_info, void *png, void *info)
{
	__typeof__(&png_read_info) real = PNG(png_read_info);
	struct sp_thread *t = sp_enter();
	struct sp_picture *picture;

	real(png, info);
	if (!t || t->state != SP_THREAD_LIVE || sp_decode_is_inside(t, __builtin_frame_address(0)))
		return;
	picture = picture_slot(t, png);
	picture->width = SP_ORIGINAL_FOR_CALLER_BESIDE(png_get_image_width, real)(png, info);
	picture->height = SP_ORIGINAL_FOR_CALLER_BESIDE(png_get_image_height, real)(png, info);
}

SP_HOOK(void, png_read_image, void *png, unsigned char **rows)
{
	__typeof__(&png_read_image) real = PNG(png_read_image);
	struct rows call = rows_begin(png, __builtin_frame_address(0), (const void *)real);

	real(png, rows);
	rows_end(&call, png, call.picture ? call.picture->height : 0);
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
	struct sp_picture *picture = sp_picture_of(png);
	struct rows call = {.picture = NULL};

	if (picture && picture->start)
		call = rows_begin(png, __builtin_frame_address(0), (const void *)real);
	real(png, info);
	rows_end(&call, png, 0);
	if (call.picture && call.picture->object == png) {
		call.picture->finish_start = call.start;
		picture_end(png);
	}
}

/* The simplified reader, and programs that never call png_read_end, end a picture here. */
SP_HOOK(void, png_destroy_read_struct, void **png, void **info, void **end)
{
	if (png && *png) {
		struct sp_thread *t = sp_decode_thread();

		picture_end(*png);
		if (t && !sp_decode_is_inside(t, __builtin_frame_address(0)))
			sp_decode_of(t)->inside = 0;
	}
	PNG(png_destroy_read_struct)(png, info, end);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jpeg_images IMAGES: decodes pictures of its own making in each of the ways programs use libjpeg.
 * One image is one event: finished, or aborted (jpeg_abort, jpeg_destroy, an error's longjmp).
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "tests/programs/victims/tally.h"

enum { WIDTH = 96, HEIGHT = 80, MIDWAY = 32 };

static struct tally_row *finished, *aborted;
static unsigned char *picture;
static unsigned long picture_bytes, sum;

struct jumping_error {
	struct jpeg_error_mgr base;
	jmp_buf where;
};

static void jump(j_common_ptr cinfo)
{
	longjmp(((struct jumping_error *)cinfo->err)->where, 1);
}

static void stay_silent(j_common_ptr cinfo, int level)
{
	(void)cinfo;
	(void)level;
}

/* A source that runs dry is an error here, where libjpeg's own would feign an end marker. */
static boolean dry(j_decompress_ptr cinfo)
{
	cinfo->err->error_exit((j_common_ptr)cinfo);
	return FALSE;
}

static void compress(void)
{
	struct jpeg_compress_struct cinfo;
	struct jpeg_error_mgr error;
	unsigned char line[WIDTH * 3];
	JSAMPROW row = line;

	cinfo.err = jpeg_std_error(&error);
	jpeg_create_compress(&cinfo);
	jpeg_mem_dest(&cinfo, &picture, &picture_bytes);
	cinfo.image_width = WIDTH;
	cinfo.image_height = HEIGHT;
	cinfo.input_components = 3;
	cinfo.in_color_space = JCS_RGB;
	jpeg_set_defaults(&cinfo);
	jpeg_start_compress(&cinfo, TRUE);
	while (cinfo.next_scanline < HEIGHT) {
		for (unsigned i = 0; i < sizeof(line); i++)
			line[i] = (unsigned char)(i * i + cinfo.next_scanline * 37 * (i % 5));
		jpeg_write_scanlines(&cinfo, &row, 1);
	}
	jpeg_finish_compress(&cinfo);
	jpeg_destroy_compress(&cinfo);
}

static void prepare(struct jpeg_decompress_struct *cinfo, struct jumping_error *error, size_t bytes)
{
	cinfo->err = jpeg_std_error(&error->base);
	error->base.error_exit = jump;
	error->base.emit_message = stay_silent;
	jpeg_create_decompress(cinfo);
	jpeg_mem_src(cinfo, picture, bytes);
	EXPECT(jpeg_read_header(cinfo, TRUE) == JPEG_HEADER_OK);
}

static void read_lines(struct jpeg_decompress_struct *cinfo, unsigned until, unsigned at_once)
{
	unsigned char lines[4][WIDTH * 3];
	JSAMPROW rows[4] = {lines[0], lines[1], lines[2], lines[3]};

	while (cinfo->output_scanline < until) {
		unsigned got = jpeg_read_scanlines(cinfo, rows, at_once);

		for (unsigned i = 0; i < got; i++)
			sum += lines[i][7] + lines[i][cinfo->output_width * 2];
	}
}

static void by_scanlines(unsigned denominator, unsigned at_once)
{
	struct jpeg_decompress_struct cinfo;
	struct jumping_error error;

	prepare(&cinfo, &error, picture_bytes);
	cinfo.scale_num = 1;
	cinfo.scale_denom = denominator;
	EXPECT(setjmp(error.where) == 0);
	jpeg_start_decompress(&cinfo);
	read_lines(&cinfo, cinfo.output_height, at_once);
	jpeg_finish_decompress(&cinfo);
	tally_begin(finished);
	tally_end(finished, cinfo.output_height);
	jpeg_destroy_decompress(&cinfo);
}

static void by_raw_data(void)
{
	struct jpeg_decompress_struct cinfo;
	struct jumping_error error;
	static unsigned char samples[3][16][WIDTH + 64];
	JSAMPROW rows[3][16];
	JSAMPARRAY planes[3] = {rows[0], rows[1], rows[2]};

	for (int plane = 0; plane < 3; plane++)
		for (int i = 0; i < 16; i++)
			rows[plane][i] = samples[plane][i];
	prepare(&cinfo, &error, picture_bytes);
	EXPECT(setjmp(error.where) == 0);
	cinfo.raw_data_out = TRUE;
	cinfo.out_color_space = cinfo.jpeg_color_space;
	jpeg_start_decompress(&cinfo);
	while (cinfo.output_scanline < cinfo.output_height)
		sum += jpeg_read_raw_data(&cinfo, planes, 16) + samples[0][3][5];
	jpeg_finish_decompress(&cinfo);
	tally_begin(finished);
	tally_end(finished, cinfo.output_height);
	jpeg_destroy_decompress(&cinfo);
}

/* One object decodes many pictures, every second one left midway. */
static void one_object(int images)
{
	struct jpeg_decompress_struct cinfo;
	struct jumping_error error;

	prepare(&cinfo, &error, picture_bytes);
	EXPECT(setjmp(error.where) == 0);
	for (int i = 0; i < images; i++) {
		if (i > 0) {
			jpeg_mem_src(&cinfo, picture, picture_bytes);
			jpeg_read_header(&cinfo, TRUE);
		}
		jpeg_start_decompress(&cinfo);
		read_lines(&cinfo, i % 2 ? MIDWAY : HEIGHT, 1);
		if (i % 2)
			jpeg_abort_decompress(&cinfo);
		else
			jpeg_finish_decompress(&cinfo);
		tally_begin(i % 2 ? aborted : finished);
		tally_end(i % 2 ? aborted : finished, i % 2 ? MIDWAY : HEIGHT);
	}
	jpeg_destroy_decompress(&cinfo); /* none under way: no event */
}

static void left_midway(int generic)
{
	struct jpeg_decompress_struct cinfo;
	struct jumping_error error;

	prepare(&cinfo, &error, picture_bytes);
	EXPECT(setjmp(error.where) == 0);
	jpeg_start_decompress(&cinfo);
	read_lines(&cinfo, MIDWAY, 1);
	if (generic)
		jpeg_destroy((j_common_ptr)&cinfo);
	else
		jpeg_destroy_decompress(&cinfo);
	tally_begin(aborted);
	tally_end(aborted, MIDWAY);
}

/* The error leaves libjpeg from inside jpeg_read_scanlines; only then is the object destroyed. */
static void error_mid_scan(void)
{
	struct jpeg_decompress_struct cinfo;
	struct jumping_error error;

	prepare(&cinfo, &error, picture_bytes / 2);
	cinfo.src->fill_input_buffer = dry;
	if (setjmp(error.where) == 0) {
		jpeg_start_decompress(&cinfo);
		read_lines(&cinfo, HEIGHT, 1);
		EXPECT(!"the picture is cut");
	}
	tally_begin(aborted);
	tally_end(aborted, cinfo.output_scanline);
	jpeg_destroy_decompress(&cinfo);
}

static void header_only(void)
{
	struct jpeg_decompress_struct cinfo;
	struct jumping_error error;

	prepare(&cinfo, &error, picture_bytes);
	jpeg_destroy_decompress(&cinfo);
}

int main(int argc, char **argv)
{
	int images = argc > 1 ? atoi(argv[1]) : 10;

	finished = tally_row("jpeg_decode", "finished");
	aborted = tally_row("jpeg_decode", "aborted");
	compress();
	for (int i = 0; i < images; i++) {
		by_scanlines(1, 1);
		by_scanlines(1, 4);
		by_scanlines(4, 1);
		by_raw_data();
		left_midway(i % 2);
		error_mid_scan();
		header_only();
	}
	one_object(images);
	printf("finished %lu aborted %lu sum %lu\n", (unsigned long)finished->calls,
	       (unsigned long)aborted->calls, sum);
	free(picture);
	return 0;
}

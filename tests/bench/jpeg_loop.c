/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jpeg_loop IMAGES [PAIRS]: decodes a 640 x 480 image of its own making IMAGES times, one line a
 * call, as Pillow does. Prints {"wall_ns", "cpu_ns", "calls"}; calls are lines. With PAIRS, so many
 * times, IMAGES hooked in turn with IMAGES that are not, and what alternate.h says.
 */
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#include "tests/bench/alternate.h"
#include "tests/bench/loop.h"

#define WIDTH 640u
#define HEIGHT 480u

static void row_fill(unsigned char *row, unsigned y)
{
	static uint32_t noise = 1;

	for (unsigned x = 0; x < WIDTH * 3; x++) {
		noise = noise * 1664525u + 1013904223u;
		row[x] = (unsigned char)((x / 8 + y / 4 + (noise >> 28)) & 0xFF);
	}
}

static unsigned long image_make(unsigned char **ret_bytes)
{
	struct jpeg_compress_struct c;
	struct jpeg_error_mgr errors;
	unsigned char row[WIDTH * 3];
	JSAMPROW rows[1] = {row};
	unsigned long size = 0;

	*ret_bytes = NULL;
	c.err = jpeg_std_error(&errors);
	jpeg_create_compress(&c);
	jpeg_mem_dest(&c, ret_bytes, &size);
	c.image_width = WIDTH;
	c.image_height = HEIGHT;
	c.input_components = 3;
	c.in_color_space = JCS_RGB;
	jpeg_set_defaults(&c);
	jpeg_set_quality(&c, 85, TRUE);
	jpeg_start_compress(&c, TRUE);
	for (unsigned y = 0; y < HEIGHT; y++) {
		row_fill(row, y);
		jpeg_write_scanlines(&c, rows, 1);
	}
	jpeg_finish_compress(&c);
	jpeg_destroy_compress(&c);
	return size;
}

/* The hooked calls of decoding, as the linker binds them and as libjpeg's own. */
struct decoder {
	__typeof__(&jpeg_start_decompress) start;
	__typeof__(&jpeg_read_scanlines) read;
	__typeof__(&jpeg_finish_decompress) finish;
	__typeof__(&jpeg_destroy_decompress) destroy;
};

static struct decoder decoders[2];
static unsigned char *image;
static unsigned long image_bytes;

/* libjpeg takes other ways to store where a row is not aligned; on the stack that hangs on the
 * length of the environment. */
static _Alignas(64) unsigned char decoded[WIDTH * 3];

static void decoders_find(void)
{
	decoders[1] = (struct decoder){jpeg_start_decompress, jpeg_read_scanlines,
				       jpeg_finish_decompress, jpeg_destroy_decompress};
	decoders[0].start = bench_own("jpeg_std_error", "jpeg_start_decompress");
	decoders[0].read = bench_own("jpeg_std_error", "jpeg_read_scanlines");
	decoders[0].finish = bench_own("jpeg_std_error", "jpeg_finish_decompress");
	decoders[0].destroy = bench_own("jpeg_std_error", "jpeg_destroy_decompress");
}

static void image_decode(const struct decoder *decoder)
{
	struct jpeg_decompress_struct d;
	struct jpeg_error_mgr errors;
	JSAMPROW rows[1] = {decoded};

	d.err = jpeg_std_error(&errors);
	jpeg_create_decompress(&d);
	jpeg_mem_src(&d, image, image_bytes);
	jpeg_read_header(&d, TRUE);
	decoder->start(&d);
	bench_require(d.output_height == HEIGHT, "the image's height");
	while (d.output_scanline < d.output_height)
		decoder->read(&d, rows, 1);
	decoder->finish(&d);
	decoder->destroy(&d);
}

static void *no_state(void)
{
	return image;
}

static void decode_chunk(void *unused, int hooked)
{
	(void)unused;
	image_decode(&decoders[hooked]);
}

static void decode_all(uint64_t images)
{
	uint64_t wall = bench_ns(CLOCK_MONOTONIC), cpu = bench_ns(CLOCK_PROCESS_CPUTIME_ID);

	for (uint64_t i = 0; i < images; i++)
		image_decode(&decoders[1]);
	printf("{\"wall_ns\": %lu, \"cpu_ns\": %lu, \"calls\": %lu}\n",
	       bench_ns(CLOCK_MONOTONIC) - wall, bench_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu,
	       images * HEIGHT);
}

int main(int argc, char **argv)
{
	struct bench_alternate a = {.state = no_state,
				    .chunk = decode_chunk,
				    .chunk_calls = HEIGHT,
				    .threads = 1};
	uint64_t images;

	if (argc != 2 && argc != 3)
		return 2;
	images = strtoull(argv[1], NULL, 10);
	image_bytes = image_make(&image);
	decoders_find();
	a.chunks = (unsigned)images;
	a.pairs = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
	if (argc == 2)
		decode_all(images);
	else
		bench_alternate(&a);
	free(image);
	return 0;
}

/*
 * jpeg_loop IMAGES: decodes a 640 x 480 image of its own making IMAGES times, one line a call, as Pillow
 * does. Prints {"wall_ns", "cpu_ns", "calls"}; calls are lines.
 */
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

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

static uint64_t image_decode(const unsigned char *bytes, unsigned long size)
{
	struct jpeg_decompress_struct d;
	struct jpeg_error_mgr errors;
	unsigned char row[WIDTH * 3];
	JSAMPROW rows[1] = {row};
	uint64_t calls = 0;

	d.err = jpeg_std_error(&errors);
	jpeg_create_decompress(&d);
	jpeg_mem_src(&d, bytes, size);
	jpeg_read_header(&d, TRUE);
	jpeg_start_decompress(&d);
	for (; d.output_scanline < d.output_height; calls++)
		jpeg_read_scanlines(&d, rows, 1);
	jpeg_finish_decompress(&d);
	jpeg_destroy_decompress(&d);
	return calls;
}

int main(int argc, char **argv)
{
	uint64_t images, wall, cpu, calls = 0;
	unsigned char *bytes;
	unsigned long size;

	if (argc != 2)
		return 2;
	images = strtoull(argv[1], NULL, 10);
	size = image_make(&bytes);
	wall = bench_ns(CLOCK_MONOTONIC);
	cpu = bench_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (uint64_t i = 0; i < images; i++)
		calls += image_decode(bytes, size);
	printf("{\"wall_ns\": %lu, \"cpu_ns\": %lu, \"calls\": %lu}\n",
	       bench_ns(CLOCK_MONOTONIC) - wall, bench_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu, calls);
	free(bytes);
	return 0;
}

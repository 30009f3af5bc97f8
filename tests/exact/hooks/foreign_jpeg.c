/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libjpeg that decodes nothing and says which one it is: jpeg_read_scanlines returns MARKER. As
 * the real one it leaves a function of its own in the object; jpeg_CreateDecompress with version 0
 * does not.
 */
#include <string.h>

#include "preload/hooks/abi_jpeg.h"

void jpeg_CreateDecompress(struct sp_jpeg_decompress *cinfo, int version, size_t bytes);
int jpeg_start_decompress(struct sp_jpeg_decompress *cinfo);
unsigned jpeg_read_scanlines(struct sp_jpeg_decompress *cinfo, unsigned char **rows, unsigned max);
void jpeg_destroy_decompress(struct sp_jpeg_decompress *cinfo);

static void alloc_small(void)
{
}

void jpeg_CreateDecompress(struct sp_jpeg_decompress *cinfo, int version, size_t bytes)
{
	static struct sp_jpeg_memory memory = {(const void *)alloc_small};

	memset(cinfo, 0, bytes);
	cinfo->common.mem = version ? &memory : NULL;
}

int jpeg_start_decompress(struct sp_jpeg_decompress *cinfo)
{
	cinfo->image_width = cinfo->image_height = 8;
	cinfo->output_width = cinfo->output_height = 8;
	return 1;
}

unsigned jpeg_read_scanlines(struct sp_jpeg_decompress *cinfo, unsigned char **rows, unsigned max)
{
	(void)rows;
	(void)max;
	cinfo->output_scanline = 8;
	return MARKER;
}

void jpeg_destroy_decompress(struct sp_jpeg_decompress *cinfo)
{
	(void)cinfo;
}

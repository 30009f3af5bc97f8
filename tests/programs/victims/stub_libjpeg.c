/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libjpeg that decodes nothing: 8 lines filled with MARKER. Built under several names, as each
 * Python wheel brings a libjpeg of its own.
 */
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

GLOBAL(void) jpeg_CreateDecompress(j_decompress_ptr cinfo, int version, size_t structsize)
{
	(void)version;
	memset(cinfo, 0, structsize);
	cinfo->is_decompressor = TRUE;
}

GLOBAL(boolean) jpeg_start_decompress(j_decompress_ptr cinfo)
{
	cinfo->output_width = cinfo->image_width = 16;
	cinfo->output_height = cinfo->image_height = 8;
	cinfo->output_scanline = 0;
	return TRUE;
}

GLOBAL(JDIMENSION) jpeg_read_scanlines(j_decompress_ptr cinfo, JSAMPARRAY rows, JDIMENSION max)
{
	(void)max;
	memset(rows[0], MARKER, 16);
	cinfo->output_scanline++;
	return 1;
}

GLOBAL(boolean) jpeg_finish_decompress(j_decompress_ptr cinfo)
{
	cinfo->output_scanline = 0;
	return TRUE;
}

GLOBAL(void) jpeg_destroy_decompress(j_decompress_ptr cinfo)
{
	cinfo->is_decompressor = FALSE;
}

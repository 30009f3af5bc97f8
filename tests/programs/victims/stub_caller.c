/* SPDX-License-Identifier: Apache-2.0 */
/* Linked to one stub libjpeg each, opened RTLD_LOCAL by two_libjpegs. */
#include <stdio.h>

#include <jpeglib.h>

int decode_one(void);

/* Returns the marker that the whole picture was made of, or '?'. */
__attribute__((visibility("default"))) int decode_one(void)
{
	struct jpeg_decompress_struct cinfo;
	unsigned char line[16];
	JSAMPROW row = line;
	int marker = 0;

	jpeg_create_decompress(&cinfo);
	jpeg_start_decompress(&cinfo);
	while (cinfo.output_scanline < cinfo.output_height) {
		jpeg_read_scanlines(&cinfo, &row, 1);
		marker = marker == 0 || marker == line[3] ? line[3] : '?';
	}
	jpeg_finish_decompress(&cinfo);
	jpeg_destroy_decompress(&cinfo);
	return marker;
}

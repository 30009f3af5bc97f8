/* SPDX-License-Identifier: Apache-2.0 */
/* A caller that is linked to one foreign_jpeg. All its calls except that of `whole` are jumps where
 * it is optimised. */
#include "preload/hooks/abi_jpeg.h"

void jpeg_CreateDecompress(struct sp_jpeg_decompress *cinfo, int version, size_t bytes);
int jpeg_start_decompress(struct sp_jpeg_decompress *cinfo);
unsigned jpeg_read_scanlines(struct sp_jpeg_decompress *cinfo, unsigned char **rows, unsigned max);
void jpeg_destroy_decompress(struct sp_jpeg_decompress *cinfo);

void make(struct sp_jpeg_decompress *cinfo, int version);
unsigned jump(struct sp_jpeg_decompress *cinfo);
unsigned whole(int version);

void make(struct sp_jpeg_decompress *cinfo, int version)
{
	jpeg_CreateDecompress(cinfo, version, sizeof(*cinfo));
	jpeg_start_decompress(cinfo);
}

unsigned jump(struct sp_jpeg_decompress *cinfo)
{
	return jpeg_read_scanlines(cinfo, NULL, 1);
}

unsigned whole(int version)
{
	struct sp_jpeg_decompress cinfo;
	unsigned marker;

	make(&cinfo, version);
	marker = jpeg_read_scanlines(&cinfo, NULL, 1);
	jpeg_destroy_decompress(&cinfo);
	return marker;
}

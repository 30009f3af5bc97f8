/* SPDX-License-Identifier: Apache-2.0 */
/* One name at a version of its own: foreign_1.map, foreign_2.map. */
#include "preload/hooks/abi_jpeg.h"

int jpeg_finish_decompress(struct sp_jpeg_decompress *cinfo);

int jpeg_finish_decompress(struct sp_jpeg_decompress *cinfo)
{
	(void)cinfo;
	return MARKER;
}

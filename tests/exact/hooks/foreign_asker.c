/* SPDX-License-Identifier: Apache-2.0 */
/* Requires jpeg_finish_decompress@FOREIGN_1 and no other function of the family. */
#include "preload/hooks/abi_jpeg.h"

int jpeg_finish_decompress(struct sp_jpeg_decompress *cinfo);
int ask(void);

int ask(void)
{
	struct sp_jpeg_decompress cinfo = {.common = {.mem = NULL}};

	return jpeg_finish_decompress(&cinfo) + 0;
}

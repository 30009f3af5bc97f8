/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of libjpeg's ABI that the hooks use; the build needs no header of libjpeg. Offsets for
 * LP64, from jpeglib.h of libjpeg-turbo 2.1 with JPEG_LIB_VERSION 62, 70 and 80;
 * tests/exact/hooks/abi_jpeg.c compares them with the installed jpeglib.h. boolean is int,
 * JDIMENSION unsigned.
 */
#ifndef STAGEPROF_PRELOAD_ABI_JPEG_H
#define STAGEPROF_PRELOAD_ABI_JPEG_H

#include <stddef.h>
#include <stdint.h>

/* struct jpeg_memory_mgr begins with a pointer to a function inside the library that made it. */
struct sp_jpeg_memory {
	const void *alloc_small;
};

/* struct jpeg_common_struct: the first fields of compressors and decompressors. */
struct sp_jpeg_common {
	void *err;
	const struct sp_jpeg_memory *mem; /* NULL before it is made and after it is destroyed */
	void *progress;
	void *client_data;
	int is_decompressor;
	int global_state;
};

struct sp_jpeg_decompress {
	struct sp_jpeg_common common;
	void *src;
	uint32_t image_width;
	uint32_t image_height;
	uint8_t parameters[80];
	uint32_t output_width; /* after scaling */
	uint32_t output_height;
	uint8_t output[24];
	uint32_t output_scanline; /* the next line to deliver */
};

_Static_assert(offsetof(struct sp_jpeg_decompress, image_width) == 48, "libjpeg's ABI");
_Static_assert(offsetof(struct sp_jpeg_decompress, output_width) == 136, "libjpeg's ABI");
_Static_assert(offsetof(struct sp_jpeg_decompress, output_scanline) == 168, "libjpeg's ABI");

#endif

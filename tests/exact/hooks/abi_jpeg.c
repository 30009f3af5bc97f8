/* SPDX-License-Identifier: Apache-2.0 */
/* preload/hooks/abi_jpeg.h against the jpeglib.h that is installed. */
#include <stddef.h>
#include <stdio.h>

#include <jpeglib.h>

#include "preload/hooks/abi_jpeg.h"

#define SAME(ours, theirs)                                                                         \
	_Static_assert(offsetof(struct sp_jpeg_decompress, ours) ==                                \
			       offsetof(struct jpeg_decompress_struct, theirs),                    \
		       "libjpeg's ABI is not what preload/hooks/abi_jpeg.h says")

SAME(common.mem, mem);
SAME(common.is_decompressor, is_decompressor);
SAME(image_width, image_width);
SAME(image_height, image_height);
SAME(output_width, output_width);
SAME(output_height, output_height);
SAME(output_scanline, output_scanline);
_Static_assert(offsetof(struct jpeg_memory_mgr, alloc_small) == 0, "the maker's function is first");
_Static_assert(sizeof(boolean) == sizeof(int) && sizeof(JDIMENSION) == sizeof(unsigned), "the "
											 "hooks' "
											 "prototype"
											 "s are "
											 "libjpeg'"
											 "s");

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libturbojpeg: each call that decompresses is a picture. The library exports no jpeg_ function
 * and calls its own copies, so hooks_jpeg.c does not see these calls. The size is the size in the
 * picture's header.
 */
#include "preload/hooks/decode.h"
#include "preload/hooks/hook.h"
#include "preload/resolve/resolve.h"

#define TURBO(name) SP_ORIGINAL_FOR_CALLER(name, "tj", NULL)

struct size {
	uint32_t width, height;
};

/* SOF0 to SOF15 except DHT, JPG and DAC (ITU-T T.81, table B.1). */
static int is_frame(uint8_t marker)
{
	return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 &&
	       marker != 0xCC;
}

static struct size size_in(const uint8_t *jpeg, uint64_t bytes)
{
	struct size none = {0, 0};

	for (uint64_t at = 2; at + 9 <= bytes && jpeg[at] == 0xFF;) {
		if (jpeg[at + 1] == 0xFF) {
			at++;
			continue;
		}
		if (is_frame(jpeg[at + 1]))
			return (struct size){(uint32_t)jpeg[at + 7] << 8 | jpeg[at + 8],
					     (uint32_t)jpeg[at + 5] << 8 | jpeg[at + 6]};
		at += 2 + ((uint64_t)jpeg[at + 2] << 8 | jpeg[at + 3]);
	}
	return none;
}

static int picture_end(const struct sp_decode_call *call, const uint8_t *jpeg, uint64_t bytes,
		       int ret, const void *real)
{
	struct size size;

	if (!call->thread)
		return ret;
	size = ret == 0 ? size_in(jpeg, bytes) : (struct size){0, 0};
	sp_decode_leave(call, SP_EV_turbojpeg_decode, size.width, size.height, ret == 0);
	sp_decode_coverage("jpeg", real);
	return ret;
}

SP_HOOK(int, tjDecompress, void *handle, uint8_t *jpeg, unsigned long bytes, uint8_t *out,
	int width, int pitch, int height, int pixel_bytes, int flags)
{
	__typeof__(&tjDecompress) real = TURBO(tjDecompress);
	struct sp_decode_call call = sp_decode_enter(__builtin_frame_address(0));
	int ret = real(handle, jpeg, bytes, out, width, pitch, height, pixel_bytes, flags);

	return picture_end(&call, jpeg, bytes, ret, (const void *)real);
}

SP_HOOK(int, tjDecompress2, void *handle, const uint8_t *jpeg, unsigned long bytes, uint8_t *out,
	int width, int pitch, int height, int format, int flags)
{
	__typeof__(&tjDecompress2) real = TURBO(tjDecompress2);
	struct sp_decode_call call = sp_decode_enter(__builtin_frame_address(0));
	int ret = real(handle, jpeg, bytes, out, width, pitch, height, format, flags);

	return picture_end(&call, jpeg, bytes, ret, (const void *)real);
}

SP_HOOK(int, tjDecompressToYUV2, void *handle, const uint8_t *jpeg, unsigned long bytes,
	uint8_t *out, int width, int align, int height, int flags)
{
	__typeof__(&tjDecompressToYUV2) real = TURBO(tjDecompressToYUV2);
	struct sp_decode_call call = sp_decode_enter(__builtin_frame_address(0));
	int ret = real(handle, jpeg, bytes, out, width, align, height, flags);

	return picture_end(&call, jpeg, bytes, ret, (const void *)real);
}

SP_HOOK(int, tjDecompressToYUVPlanes, void *handle, const uint8_t *jpeg, unsigned long bytes,
	uint8_t **planes, int width, int *strides, int height, int flags)
{
	__typeof__(&tjDecompressToYUVPlanes) real = TURBO(tjDecompressToYUVPlanes);
	struct sp_decode_call call = sp_decode_enter(__builtin_frame_address(0));
	int ret = real(handle, jpeg, bytes, planes, width, strides, height, flags);

	return picture_end(&call, jpeg, bytes, ret, (const void *)real);
}

/* Version 3. The older names call it inside. */
SP_HOOK(int, tj3Decompress8, void *handle, const uint8_t *jpeg, size_t bytes, uint8_t *out,
	int pitch, int format)
{
	__typeof__(&tj3Decompress8) real = TURBO(tj3Decompress8);
	struct sp_decode_call call = sp_decode_enter(__builtin_frame_address(0));
	int ret = real(handle, jpeg, bytes, out, pitch, format);

	return picture_end(&call, jpeg, bytes, ret, (const void *)real);
}

SP_HOOK(int, tj3DecompressToYUV8, void *handle, const uint8_t *jpeg, size_t bytes, uint8_t *out,
	int align)
{
	__typeof__(&tj3DecompressToYUV8) real = TURBO(tj3DecompressToYUV8);
	struct sp_decode_call call = sp_decode_enter(__builtin_frame_address(0));
	int ret = real(handle, jpeg, bytes, out, align);

	return picture_end(&call, jpeg, bytes, ret, (const void *)real);
}

SP_HOOK(int, tj3DecompressToYUVPlanes8, void *handle, const uint8_t *jpeg, size_t bytes,
	uint8_t **planes, int *strides)
{
	__typeof__(&tj3DecompressToYUVPlanes8) real = TURBO(tj3DecompressToYUVPlanes8);
	struct sp_decode_call call = sp_decode_enter(__builtin_frame_address(0));
	int ret = real(handle, jpeg, bytes, planes, strides);

	return picture_end(&call, jpeg, bytes, ret, (const void *)real);
}

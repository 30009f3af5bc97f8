/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libwebp: each call that decodes is a picture. Animations use WebPDecode, one call for each
 * frame. The incremental decoder (WebPINewDecoder) is not hooked.
 */
#include "preload/hooks/decode.h"
#include "preload/hooks/hook.h"
#include "preload/resolve/resolve.h"

#define WEBP(name) SP_ORIGINAL_FOR_CALLER(name, "WebP", NULL)

int WebPGetInfo(const uint8_t *data, size_t bytes, int *ret_width, int *ret_height);

static void picture_end(const struct sp_decode_call *call, const uint8_t *data, size_t bytes,
			const void *real, int whole)
{
	int width = 0, height = 0;

	if (!call->thread)
		return;
	SP_ORIGINAL_FOR_CALLER_BESIDE(WebPGetInfo, real)(data, bytes, &width, &height);
	sp_decode_leave(call, SP_EV_webp_decode, (uint32_t)width, (uint32_t)height, whole);
}

/* 0 is VP8_STATUS_OK. */
SP_HOOK(int, WebPDecode, const uint8_t *data, size_t bytes, void *config)
{
	__typeof__(&WebPDecode) real = WEBP(WebPDecode);
	struct sp_decode_call call = sp_decode_enter(__builtin_frame_address(0));
	int ret = real(data, bytes, config);

	picture_end(&call, data, bytes, (const void *)real, ret == 0);
	return ret;
}

#define ALLOCATING(name)                                                                           \
	SP_HOOK(uint8_t *, name, const uint8_t *data, size_t bytes, int *width, int *height)       \
	{                                                                                          \
		__typeof__(&name) real = WEBP(name);                                               \
		struct sp_decode_call call = sp_decode_enter(__builtin_frame_address(0));          \
		uint8_t *ret = real(data, bytes, width, height);                                   \
                                                                                                   \
		picture_end(&call, data, bytes, (const void *)real, ret != NULL);                  \
		return ret;                                                                        \
	}

#define INTO(name)                                                                                 \
	SP_HOOK(uint8_t *, name, const uint8_t *data, size_t bytes, uint8_t *buf, size_t room,     \
		int stride)                                                                        \
	{                                                                                          \
		__typeof__(&name) real = WEBP(name);                                               \
		struct sp_decode_call call = sp_decode_enter(__builtin_frame_address(0));          \
		uint8_t *ret = real(data, bytes, buf, room, stride);                               \
                                                                                                   \
		picture_end(&call, data, bytes, (const void *)real, ret != NULL);                  \
		return ret;                                                                        \
	}

ALLOCATING(WebPDecodeRGBA)
ALLOCATING(WebPDecodeARGB)
ALLOCATING(WebPDecodeBGRA)
ALLOCATING(WebPDecodeRGB)
ALLOCATING(WebPDecodeBGR)
INTO(WebPDecodeRGBAInto)
INTO(WebPDecodeARGBInto)
INTO(WebPDecodeBGRAInto)
INTO(WebPDecodeRGBInto)
INTO(WebPDecodeBGRInto)

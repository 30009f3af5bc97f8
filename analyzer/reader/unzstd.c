/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/reader/unzstd.h"

#include <errno.h>

#define ZSTD_STATIC_LINKING_ONLY /* for the type's name in the parameter below; a library without  \
				    it refuses it */
#include <zstd.h>

#define DIGEST_LEVEL 3

struct sp_unzstd *sp_unzstd_create(void)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();

	if (context)
		ZSTD_DCtx_setParameter(context, ZSTD_d_forceIgnoreChecksum, ZSTD_d_ignoreChecksum);
	return (struct sp_unzstd *)context;
}

void sp_unzstd_destroy(struct sp_unzstd *u)
{
	ZSTD_freeDCtx((ZSTD_DCtx *)u);
}

int sp_unzstd_frame(struct sp_unzstd *u, void *dst, size_t dst_bytes, const void *src,
		    size_t src_bytes)
{
	size_t got = ZSTD_decompressDCtx((ZSTD_DCtx *)u, dst, dst_bytes, src, src_bytes);

	return ZSTD_isError(got) || got != dst_bytes ? -EBADMSG : 0;
}

size_t sp_zstd_frame(void *dst, size_t dst_bytes, const void *src, size_t src_bytes)
{
	size_t n = ZSTD_compress(dst, dst_bytes, src, src_bytes, DIGEST_LEVEL);

	return ZSTD_isError(n) ? 0 : n;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decompression, and compression of digests: the one place of the analyzer that knows zstd.
 */
#ifndef STAGEPROF_ANALYZER_UNZSTD_H
#define STAGEPROF_ANALYZER_UNZSTD_H

#include <stddef.h>

struct sp_unzstd;

/* NULL: no memory. Each thread needs its own. */
struct sp_unzstd *sp_unzstd_create(void);
void sp_unzstd_destroy(struct sp_unzstd *u);

/*
 * Decompresses the frames at src into exactly dst_bytes at dst. Returns 0, or -EBADMSG where src is
 * no sequence of frames or holds another number of bytes. The checksums of zstd are not checked,
 * because the caller has checked a hash of the frames. The function never writes past dst_bytes and
 * allocates nothing, so a decompression bomb costs no more than dst_bytes of work.
 */
int sp_unzstd_frame(struct sp_unzstd *u, void *dst, size_t dst_bytes, const void *src,
		    size_t src_bytes);

/* Compresses into a zstd frame of at most dst_bytes. Returns its bytes; 0: it would not fit, or
 * there is no memory. The same version of zstd makes the same bytes. */
size_t sp_zstd_frame(void *dst, size_t dst_bytes, const void *src, size_t src_bytes);

#endif

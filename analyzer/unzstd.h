/*
 * Decompression: the one place of the analyzer that knows zstd.
 */
#ifndef STAGEPROF_ANALYZER_UNZSTD_H
#define STAGEPROF_ANALYZER_UNZSTD_H

#include <stddef.h>

struct sp_unzstd;

/* NULL where memory is out. One a thread. */
struct sp_unzstd *sp_unzstd_create(void);
void sp_unzstd_destroy(struct sp_unzstd *u);

/*
 * Decompresses the frames at src into exactly dst_bytes at dst. Returns 0, or -EBADMSG where they
 * are no frames or hold another number of bytes. Their own checksums are passed over: the caller has checked a hash
 * of the frames themselves. Never writes past dst_bytes, whatever the
 * frame claims, and allocates nothing: a bomb costs no more than dst_bytes of work.
 */
int sp_unzstd_frame(struct sp_unzstd *u, void *dst, size_t dst_bytes, const void *src,
		    size_t src_bytes);

#endif
